//! The answer in sentences.

use veilgraph_evaluate::metric::{self, Metric};
use veilgraph_evaluate::{Cell, Choice, RelationCost};
use veilgraph_runner::belief::odds_at_most;

use super::lead::{DOUBT, headline};
use super::method::AtBudget;
use super::table::short;
use super::{Asked, Method};
use crate::comparison::Compared;
use crate::protected::{LINKS, Protected, Standing, draws_no_noise_on_links};
use crate::summary::Row;

/// What a reference is called: its alternative or mechanism, what else was swept, and its network.
pub(super) fn called(row: &Row) -> String {
    let cell = &row.cell;
    let mut name = if cell.alternative.is_empty() { cell.mechanism.clone() } else { cell.alternative.clone() };
    let telling = |choice: &&Choice| !choice.has_column() && choice.name != "epsilon" && choice.stage() != "ingest";
    for choice in cell.choices.iter().filter(telling) {
        let named = if choice.value.parse::<f64>().is_ok() { format!("{} ", choice.name) } else { String::new() };
        name = format!("{name}, {named}{}", choice.value);
    }
    if draws_no_noise_on_links(cell) {
        name += " without noise";
    }
    let says_all = cell.model.is_empty() || cell.model == "beliefs" || name == cell.model;
    if says_all { name } else { format!("{name} ({})", cell.model) }
}

pub(super) fn percent(row: &Row) -> String {
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
    pub(super) fn subject(&self) -> (&'static str, &'static str) {
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

    /// Whether the budget buys accuracy, and how much where it starts to.
    pub(super) fn in_words(&self, method: &Method) -> String {
        let (adds, without) = self.subject();
        let unit = self.unit(method);
        let last = method.budgets.last().map_or(f64::NAN, |at| at.budget);
        let (headline, at) = headline(method, adds, without, unit);
        let Some(at) = at.or(method.budgets.last()) else { return headline };
        let own = percent(at.row);
        let beside = match self.reference(at.row, Standing::Floor) {
            Some(floor) => format!("{own} against {} with {}", percent(floor), called(floor)),
            None => own,
        };
        let most = match method.budgets.last() {
            Some(most) if most.budget != at.budget => format!(", and {} at {} nats", percent(most.row), short(last)),
            _ => String::new(),
        };
        let below = below_a_constant(method);
        format!("With “{}”, {headline}: {beside} at {} nats{most}.{below}", method.name, short(at.budget))
    }

    /// What to add where no floor ran.
    pub(super) fn no_floor(&self, method: &Method) -> Option<String> {
        if method.budgets.iter().any(|at| at.compared.is_some()) {
            return None;
        }
        let (_, without) = self.subject();
        let remedy = match self.protected {
            Protected::Links => "add references = [\"features-only\", \"no-links\", \"non-private\"] to the config",
            Protected::Features => "add a [[compare]] table with privatize.features.mechanism = \"feature-free\"",
            // Nothing is learned without labels but the most frequent class, which stands in the next sentence.
            Protected::Labels => return None,
            Protected::Model => "add \"dp-mlp\" to [train] task",
        };
        Some(format!(
            "No network that {without} ran beside it, so this page cannot say what the budget buys; {remedy}."
        ))
    }

    /// What a ceiling is called.
    pub(super) fn ceiling_name(&self, row: &Row) -> &'static str {
        let is_bare = row.cell.costs.iter().all(|cost| cost.epsilon.is_infinite());
        match self.protected {
            _ if is_bare => "without any privacy",
            Protected::Links => "true links, all else protected",
            Protected::Features => "true features, all else protected",
            Protected::Labels => "true labels, all else protected",
            Protected::Model => "without noise",
        }
    }

    /// Floor, ceiling and a constant answer.
    pub(super) fn between(&self, method: &Method) -> String {
        let (_, without) = self.subject();
        let Some(first) = method.budgets.first() else { return String::new() };
        let mut parts = Vec::new();
        if let Some(share) = first.row.summary(metric::MAJORITY_ACCURACY.name) {
            let share = metric::MAJORITY_ACCURACY.written(share.mean);
            parts.push(format!("the class that most test nodes have is right for {share} % of them"));
        }
        let floors: Vec<&Row> =
            method.budgets.iter().filter_map(|at| self.reference(at.row, Standing::Floor)).collect();
        if let (Some(low), Some(high)) = (floors.first(), floors.last()) {
            let share = if percent(low) == percent(high) {
                percent(low)
            } else {
                format!("{} to {}", percent(low), percent(high))
            };
            parts.push(format!("the best that {without} ({}) for {share}", called(high)));
        }
        if let Some(ceiling) = self.reference(first.row, Standing::Ceiling) {
            parts.push(format!("{}, {} gives {}", self.ceiling_name(ceiling), called(ceiling), percent(ceiling)));
        }
        if parts.is_empty() {
            return "Neither a floor nor a ceiling ran beside it.".to_owned();
        }
        format!("Floor and ceiling: {}.", parts.join("; "))
    }

    /// What the budgets mean for those whose data they are about.
    pub(super) fn what_it_costs(&self, method: &Method) -> Option<String> {
        let (low, high) = (method.budgets.first()?, method.budgets.last()?);
        let ends = |of: &dyn Fn(&AtBudget) -> String| {
            if of(low) == of(high) { of(low) } else { format!("{} to {}", of(low), of(high)) }
        };
        if self.protected == Protected::Links {
            let costs = high.row.cell.costs.iter().filter(|cost| !LINKS.contains(&cost.relation));
            let others: Vec<String> = costs
                .map(|cost| format!("{}{}", cost_in_words(&short(cost.epsilon), cost), doubt(cost.sound)))
                .collect();
            let beside = if others.is_empty() {
                String::new()
            } else {
                format!(" Beside links it costs {}.", others.join("; "))
            };
            let holds = method.budgets.iter().all(|at| self.cost_holds(at, self.unit(method)));
            return Some(format!(
                "What it costs: {} nats per list bit are {} nats per link{}. At the largest budget, the reports {} the odds of a link \
                 by up to {}. A node with d links has d times that at stake, because no budget for links protects a node as a \
                 whole.{beside}",
                ends(&|at| short(at.budget)),
                ends(&|at| short(at.row.cell.epsilon_edge)),
                doubt(holds),
                if holds { "can multiply" } else { "could multiply, if this cost held," },
                odds_at_most(high.row.cell.epsilon_edge),
            ));
        }
        let mut words: Vec<String> = Vec::new();
        for cost in &high.row.cell.costs {
            let at = |at: &AtBudget| {
                let own = at.row.cell.costs.iter().find(|own| own.relation == cost.relation);
                own.map_or("nothing".to_owned(), |own| short(own.epsilon))
            };
            let of_all = method.budgets.iter().flat_map(|at| &at.row.cell.costs);
            let holds = of_all.filter(|own| own.relation == cost.relation).all(|own| own.sound);
            words.push(format!("{}{}", cost_in_words(&ends(&at), cost), doubt(holds)));
        }
        Some(format!("What it costs: {}.", words.join("; ")))
    }

    /// What the server knows of the links, from the graph that it builds; and what the strongest attack found.
    pub(super) fn what_is_learned(&self, method: &Method) -> Vec<String> {
        let mut sentences = Vec::new();
        let mut graphs = Vec::new();
        let mut attacks = Vec::new();
        for at in method.budgets.iter().filter(|_| self.protected == Protected::Links) {
            let nats = short(at.budget);
            if let Some(graph) = self.most_telling_graph(at.row) {
                graphs.push(format!("at {nats} nats {}", graph.in_words()));
            }
            if let Some((attack, share)) = self.strongest_attack(at.row) {
                attacks.push(format!("{:.0} % at {nats} (“{attack}”)", 100.0 * share));
            }
        }
        if !graphs.is_empty() {
            let words =
                "What the server learns, at least, by the graph of highest F1 that it builds from these reports:";
            sentences.push(format!("{words} {}.", graphs.join("; ")));
        }
        if !attacks.is_empty() {
            sentences.push(format!(
                "What an attacker learns: while one in a hundred other pairs is taken for a link as well, the strongest attack \
                 that ran finds this share of the links, by nats per list bit: {}.",
                attacks.join(", ")
            ));
        }
        sentences
    }

    /// The attack on links that finds most where the row's reports were released, and the share that it finds.
    pub(super) fn strongest_attack(&self, row: &Row) -> Option<(&str, f64)> {
        let mut strongest: Option<(&str, f64)> = None;
        for other in &self.rows {
            let cell = &other.cell;
            let is_here = rests_on_the_same_reports(cell, &row.cell);
            let attack = cell.choice("audit.attack").filter(|attack| !["attributes", "membership"].contains(attack));
            let found = other.summary(metric::ATTACK_TPR_AT_1E_2.name).map(|summary| summary.mean);
            if let (true, Some(attack), Some(share)) = (is_here, attack, found)
                && strongest.is_none_or(|known| share > known.1)
            {
                strongest = Some((attack, share));
            }
        }
        strongest
    }
}

/// A cost in nats, and what it protects.
fn cost_in_words(nats: &str, cost: &RelationCost) -> String {
    format!("{nats} nats per {}", cost.relation.words())
}

/// What is to be said of a cost that is not known to hold.
fn doubt(holds: bool) -> &'static str {
    if holds { "" } else { DOUBT }
}

/// Whether what a score is about was made from the same reports, as far as it depends on them.
pub(super) fn rests_on_the_same_reports(score: &Cell, row: &Cell) -> bool {
    let stages = ["privatize", "similarity", "estimate"];
    let mut made_by = score.choices.iter().filter(|choice| stages.contains(&choice.stage()));
    score.mechanism == row.mechanism
        && score.alternative == row.alternative
        && score.epsilon == row.epsilon
        && score.degree_fraction == row.degree_fraction
        && made_by.all(|choice| row.choice(&choice.field) == Some(choice.value.as_str()))
}

/// Says so where a constant answer does better.
fn below_a_constant(method: &Method) -> String {
    let mut budgets = Vec::new();
    for at in &method.budgets {
        let mean = |metric: &Metric| at.row.summary(metric.name).map(|summary| summary.mean);
        if let (Some(own), Some(constant)) = (mean(&metric::ACCURACY), mean(&metric::MAJORITY_ACCURACY))
            && own < constant
        {
            budgets.push(short(at.budget));
        }
    }
    if budgets.is_empty() {
        return String::new();
    }
    format!(" At {} nats it is below a constant answer.", budgets.join(", "))
}
