//! The first sentence of an answer: what a budget buys, what it costs, and what an attacker learns by it.

use veilgraph_contract::Relation;
use veilgraph_evaluate::{RelationCost, metric};
use veilgraph_runner::belief::odds_at_most;

use super::method::AtBudget;
use super::table::short;
use super::words::{percent, points};
use super::{Asked, Method};
use crate::comparison::Verdict;
use crate::protected::{LINKS, Protected};

/// What is said of a cost that is not known to hold.
pub(super) const DOUBT: &str = ", which does not hold as executed, or was never checked";

impl Asked<'_> {
    /// The sentence about the smallest budget from which on the method is better than every floor, or else about the largest.
    pub(super) fn lead(&self, method: &Method) -> Option<String> {
        let (adds, without) = self.subject();
        let unit = self.unit(method);
        let at = headline(method, adds, without, unit).1.or(method.budgets.last())?;
        at.row.summary(metric::ACCURACY.name)?;
        Some(format!(
            "At {} nats per {unit}, “{}” is right for {} of the test nodes, {}; {}; and {}.",
            short(at.budget),
            method.name,
            percent(at.row),
            gain(at, without),
            self.price(at, unit),
            self.what_an_attacker_learns(at, unit),
        ))
    }

    /// Whether what is protected costs what is said, as the program was executed.
    pub(super) fn cost_holds(&self, at: &AtBudget, unit: &str) -> bool {
        let is_about = |cost: &&RelationCost| match self.protected {
            Protected::Links => LINKS.contains(&cost.relation),
            _ => cost.relation.words() == unit,
        };
        at.row.cell.costs.iter().filter(is_about).all(|cost| cost.sound)
    }

    /// What the budget costs one node or one link.
    fn price(&self, at: &AtBudget, unit: &str) -> String {
        let nats = if self.protected == Protected::Links { at.row.cell.epsilon_edge } else { at.budget };
        let of_links = Relation::Edge.words();
        match (self.protected, self.cost_holds(at, unit)) {
            (Protected::Links, true) => format!(
                "this costs {} nats per {of_links}, by which the reports can multiply the odds of a link by up to {}",
                short(nats),
                odds_at_most(nats)
            ),
            (Protected::Links, false) => format!(
                "the cost is said to be {} nats per {of_links}{DOUBT}; if it held, the reports could multiply the odds of a link by up \
                 to {}",
                short(nats),
                odds_at_most(nats)
            ),
            (_, true) => format!("this costs {} nats per {unit}", short(nats)),
            (_, false) => format!(
                "the cost is said to be {} nats per {unit}{DOUBT}; what follows is true only if it held",
                short(nats)
            ),
        }
    }

    /// What somebody finds who sees what the server sees: as it was measured, or else as the budget bounds it.
    fn what_an_attacker_learns(&self, at: &AtBudget, unit: &str) -> String {
        if self.protected != Protected::Links {
            let under = |relation: Relation| relation.words() == unit;
            let cost = at.row.cell.costs.iter().find(|cost| under(cost.relation));
            let failure = cost.map(|cost| cost.dp_delta).filter(|delta| *delta > 0.0);
            let failure = failure.map_or(String::new(), |delta| format!(", but for a probability of {delta:e}"));
            // Under these relations, versions of a node are compared with a blank, and two versions with each other cost twice.
            let is_blanked = cost.is_some_and(|cost| matches!(cost.relation, Relation::Node | Relation::OwnData));
            let versions = if is_blanked {
                format!("between one {unit} and a blank in its place")
            } else {
                format!("between any two versions of one {unit}")
            };
            return format!(
                "an attacker's odds {versions} can grow by a factor of up to {}{failure}",
                odds_at_most(at.budget)
            );
        }
        if let Some((_, share)) = self.strongest_attack(at.row) {
            return format!(
                "the strongest attack that ran finds {:.0} % of the links while it takes one in a hundred other pairs for a link",
                100.0 * share
            );
        }
        match self.most_telling_graph(at.row) {
            Some(graph) => {
                format!(
                    "an attacker learns at least what the server knows by its graph of highest F1: {}",
                    graph.in_words()
                )
            }
            None => "what an attacker finds was not measured".to_owned(),
        }
    }
}

/// The difference to the best floor, and what the trials say of it.
fn gain(at: &AtBudget, without: &str) -> String {
    let Some(compared) = &at.compared else { return "and no floor ran to compare it with".to_owned() };
    let says = match compared.verdict {
        Verdict::Better => "which is a gain that the trials show",
        Verdict::Worse => "which is a loss that the trials show",
        Verdict::NotSeparable => {
            "which the trials do not tell from no difference once all comparisons of the page are counted"
        }
        Verdict::OneTrial => "which one trial does not prove",
    };
    format!("{} points beside the best that {without}, {says}", points(compared))
}

/// From where on the budget buys something, and the budget that shows it.
pub(super) fn headline<'a>(
    method: &'a Method,
    adds: &str,
    without: &str,
    unit: &str,
) -> (String, Option<&'a AtBudget<'a>>) {
    let is_better = |at: &AtBudget| at.compared.is_some_and(|compared| compared.verdict == Verdict::Better);
    let last_not = method.budgets.iter().rposition(|at| !is_better(at));
    let start = last_not.map_or(0, |place| place + 1);
    let better: Vec<&AtBudget> = method.budgets.iter().filter(|at| is_better(at)).collect();
    let compared = method.budgets.iter().filter_map(|at| at.compared);
    if method.budgets.iter().all(|at| at.compared.is_none()) {
        return ("the accuracy has nothing to be compared with".to_owned(), None);
    }
    if compared.clone().all(|compared| compared.verdict == Verdict::OneTrial) {
        return ("one trial proves nothing".to_owned(), None);
    }
    match (method.budgets.get(start), better.first()) {
        (Some(at), _) if method.budgets.len() == 1 => (format!("{adds} accuracy"), Some(at)),
        (Some(at), _) => (format!("{adds} accuracy from {} nats per {unit} on", short(at.budget)), Some(at)),
        (None, Some(first)) => {
            let at: Vec<String> = better.iter().map(|at| short(at.budget)).collect();
            (
                format!("{adds} accuracy at {} nats per {unit}, and not at all larger budgets", at.join(", ")),
                Some(first),
            )
        }
        (None, None) => (format!("no budget here is shown to give more than what {without}"), None),
    }
}
