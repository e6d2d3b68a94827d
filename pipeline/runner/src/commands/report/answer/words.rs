//! The answer in sentences.

use veilgraph_contract::Relation;
use veilgraph_evaluate::Cell;
use veilgraph_evaluate::metric::{self, Metric};

use super::method::AtBudget;
use super::table::short;
use super::{Asked, Method};
use crate::commands::comparison::{Compared, Verdict};
use crate::commands::protected::{Protected, Standing};
use crate::commands::summary::Row;

/// What a reference is called: its alternative or mechanism, what else was swept, and its network.
pub(super) fn called(row: &Row) -> String {
    let cell = &row.cell;
    let mut name = if cell.alternative.is_empty() { cell.mechanism.clone() } else { cell.alternative.clone() };
    for choice in cell.choices.iter().filter(|choice| !choice.has_column() && choice.name != "epsilon") {
        name = format!("{name}, {}", choice.value);
    }
    let says_all = cell.model.is_empty() || cell.model == "beliefs" || name == cell.model;
    if says_all { name } else { format!("{name} ({})", cell.model) }
}

fn percent(row: &Row) -> String {
    row.summary(metric::ACCURACY.name)
        .map_or(String::new(), |summary| format!("{} %", metric::ACCURACY.written(summary.mean)))
}

/// A difference in points of accuracy.
pub(super) fn points(compared: &Compared) -> String {
    let difference = compared.difference;
    let factor = metric::ACCURACY.unit.factor();
    let interval =
        if difference.trials > 1 { format!(" ± {:.1}", factor * difference.half_width) } else { String::new() };
    format!("{:+.1}{interval}", factor * difference.mean).replace('-', "−")
}

impl Asked<'_> {
    /// What a budget is spent on, as the subject of a sentence; and without it.
    fn subject(&self) -> (&'static str, &'static str) {
        match self.protected {
            Protected::Links => ("reports about links add", "needs no link"),
            Protected::Features => ("reports about features add", "needs no feature"),
            Protected::Labels => ("reports about labels add", "needs no label"),
            Protected::Model => ("links add", "reads no link"),
        }
    }

    /// What one unit of the budget protects.
    pub(super) fn unit(&self, method: &Method) -> &'static str {
        method.budgets.first().map_or("", |at| self.protected.unit(&at.row.cell))
    }

    /// Whether the budget buys accuracy, budget by budget.
    pub(super) fn in_words(&self, method: &Method) -> String {
        let (adds, without) = self.subject();
        let unit = self.unit(method);
        if method.budgets.iter().all(|at| at.compared.is_none()) {
            let at: Vec<String> =
                method.budgets.iter().map(|at| format!("{} at {}", percent(at.row), short(at.budget))).collect();
            let remedy = match self.protected {
                Protected::Links => {
                    "; add references = [\"features-only\", \"no-links\", \"non-private\"] to the config"
                }
                _ => "",
            };
            return format!(
                "With “{}”, the accuracy is {} nats per {unit}. Nothing that {without} ran beside it, so this page cannot say \
                 what the budget buys{remedy}.",
                method.name,
                at.join(", ")
            );
        }
        let verdicts = [
            (Verdict::Better, "more"),
            (Verdict::NotSeparable, "which these trials do not tell from nothing"),
            (Verdict::Worse, "less"),
            (Verdict::OneTrial, "in one trial, which proves nothing"),
        ];
        let mut parts = Vec::new();
        for (verdict, words) in verdicts {
            let found: Vec<String> = with_verdict(method, verdict)
                .map(|(at, compared)| format!("{} at {}", points(&compared), short(at.budget)))
                .collect();
            if !found.is_empty() {
                parts.push(format!("{} ({words})", found.join(", ")));
            }
        }
        format!(
            "With “{}”, {}. Points of accuracy beside the best that {without}, by nats per {unit}: {}.",
            method.name,
            headline(method, adds, without, unit),
            parts.join("; ")
        )
    }

    /// Floor, ceiling and a constant answer.
    pub(super) fn between(&self, row: &Row, floor: Option<&Row>, ceiling: Option<&Row>) -> String {
        let (_, without) = self.subject();
        let mut parts = Vec::new();
        if let Some(share) = row.summary(metric::MAJORITY_ACCURACY.name) {
            let share = metric::MAJORITY_ACCURACY.written(share.mean);
            parts.push(format!("the most frequent class is right for {share} % of the test nodes"));
        }
        parts.extend(floor.map(|row| format!("the best that {without} is {} with {}", called(row), percent(row))));
        parts.extend(ceiling.map(|row| format!("without any privacy, {} gives {}", called(row), percent(row))));
        if parts.is_empty() {
            return "Neither a floor nor a ceiling ran beside it.".to_owned();
        }
        format!("Floor and ceiling: {}.", parts.join("; "))
    }

    /// What the budgets mean for those whose data they are about.
    pub(super) fn what_it_costs(&self, method: &Method) -> Option<String> {
        let (low, high) = (method.budgets.first()?, method.budgets.last()?);
        let ends = |of: &dyn Fn(&AtBudget) -> String| {
            if method.budgets.len() == 1 { of(low) } else { format!("{} to {}", of(low), of(high)) }
        };
        match self.protected {
            Protected::Links => {
                let own = [Relation::ListBit, Relation::Edge];
                let costs = high.row.cell.costs.iter().filter(|cost| !own.contains(&cost.relation));
                let others: Vec<String> =
                    costs.map(|cost| format!("{} nats per {}", short(cost.epsilon), cost.relation.words())).collect();
                let beside = if others.is_empty() {
                    String::new()
                } else {
                    format!(" Beside links it costs {}.", others.join(", "))
                };
                Some(format!(
                    "What it costs: {} nats per list bit are {} nats per link, so that the reports can multiply the odds of \
                     a link by up to {}. A node with d links has d times that at stake, because no budget for links protects \
                     a node as a whole.{beside}",
                    ends(&|at| short(at.budget)),
                    ends(&|at| short(at.row.cell.epsilon_edge)),
                    ends(&|at| odds(at.row.cell.epsilon_edge)),
                ))
            }
            _ => {
                let mut words: Vec<String> = Vec::new();
                for cost in &high.row.cell.costs {
                    let at = |at: &AtBudget| {
                        let own = at.row.cell.costs.iter().find(|own| own.relation == cost.relation);
                        own.map_or("nothing".to_owned(), |own| short(own.epsilon))
                    };
                    words.push(format!("{} nats per {}", ends(&at), cost.relation.words()));
                }
                Some(format!("What it costs: {}.", words.join(", ")))
            }
        }
    }

    /// What the server knows of the links, from the graph that it builds; and what the strongest attack found.
    pub(super) fn what_is_learned(&self, method: &Method) -> Vec<String> {
        let mut sentences = Vec::new();
        let mut graphs = Vec::new();
        for at in method.budgets.iter().filter(|_| self.protected == Protected::Links) {
            if let Some((recall, precision)) = self.known_links(at.row) {
                let nats = short(at.budget);
                graphs
                    .push(format!("at {nats} nats {recall} of the true links, and {precision} of its links are true"));
            }
        }
        if !graphs.is_empty() {
            sentences.push(format!("What the server learns: the graph that it builds has {}.", graphs.join("; ")));
        }
        let attacked = self.rows.iter().filter(|row| {
            row.cell.choice("audit.attack").is_some() && self.protected.standing(&row.cell) == Standing::Private
        });
        let mut strongest: Option<(&Row, f64)> = None;
        for row in attacked {
            let found = row.summary(metric::ATTACK_TPR_AT_1E_2.name).map(|summary| summary.mean);
            if let Some(share) = found.filter(|share| strongest.is_none_or(|known| *share > known.1)) {
                strongest = Some((row, share));
            }
        }
        if let Some((row, share)) = strongest {
            let budget =
                self.protected.budget(&row.cell).map_or(String::new(), |nats| format!(" at {} nats", short(nats)));
            sentences.push(format!(
                "What an attacker learns: the strongest attack that ran, “{}” on {}{budget}, finds {:.0} % of the true ones \
                 while it takes one in a hundred others for true.",
                row.cell.choice("audit.attack").unwrap_or_default(),
                called(row),
                100.0 * share,
            ));
        }
        sentences
    }

    /// Share of the true links that a row's graph holds, and share of its links that are true.
    pub(super) fn known_links(&self, row: &Row) -> Option<(String, String)> {
        let is_same = |other: &&&Row| {
            let told = |cell: &Cell| cell.told_apart_by(|choice| choice.stage() != "train");
            let names =
                |cell: &Cell| (cell.mechanism.clone(), cell.variant.clone(), cell.epsilon.to_bits(), told(cell));
            let has_fraction = other.cell.degree_fraction == row.cell.degree_fraction;
            other.scores.contains_key(metric::GRAPH_RECALL.name)
                && has_fraction
                && names(&other.cell) == names(&row.cell)
        };
        let graph = self.rows.iter().find(is_same)?;
        let share =
            |metric: &Metric| graph.summary(metric.name).map(|summary| format!("{:.0} %", 100.0 * summary.mean));
        share(&metric::GRAPH_RECALL).zip(share(&metric::GRAPH_PRECISION))
    }
}

/// The budgets of a method with this verdict.
fn with_verdict<'a>(method: &'a Method, verdict: Verdict) -> impl Iterator<Item = (&'a AtBudget<'a>, Compared)> {
    let has_verdict = move |compared: &Compared| compared.verdict == verdict;
    method.budgets.iter().filter_map(move |at| Some((at, at.compared.filter(has_verdict)?)))
}

/// From where on the budget buys something.
fn headline(method: &Method, adds: &str, without: &str, unit: &str) -> String {
    let is_better = |at: &AtBudget| at.compared.is_some_and(|compared| compared.verdict == Verdict::Better);
    let last_not = method.budgets.iter().rposition(|at| !is_better(at));
    let start = last_not.map_or(0, |place| place + 1);
    let better: Vec<String> = with_verdict(method, Verdict::Better).map(|(at, _)| short(at.budget)).collect();
    match method.budgets.get(start) {
        Some(_) if method.budgets.len() == 1 => format!("{adds} accuracy at {} nats per {unit}", better.join(", ")),
        Some(_) if start == 0 => format!("{adds} accuracy at every budget, from {} nats per {unit} on", better[0]),
        Some(at) => format!("{adds} accuracy from {} nats per {unit} on", short(at.budget)),
        None if !better.is_empty() => {
            format!("{adds} accuracy at {} nats per {unit}, and not at larger budgets", better.join(", "))
        }
        None => format!("no budget here is shown to give more than what {without}"),
    }
}

/// A factor on odds that can be read.
fn odds(nats: f64) -> String {
    match nats.exp() {
        factor if factor < 1e4 => format!("{factor:.0}"),
        _ => "more than 10,000".to_owned(),
    }
}
