//! The answer in sentences.

use veilgraph_contract::Relation;
use veilgraph_evaluate::Cell;
use veilgraph_evaluate::metric::{self, Metric};

use super::Method;
use crate::commands::comparison::{Compared, Verdict};
use crate::commands::summary::Row;

/// What a reference is called.
pub(super) fn called(row: &Row) -> String {
    let Cell { alternative, mechanism, model, .. } = &row.cell;
    let name = if alternative.is_empty() { mechanism } else { alternative };
    if name == "beliefs" || model.is_empty() || name == model { name.clone() } else { format!("{name} ({model})") }
}

fn percent(row: &Row) -> String {
    row.summary(metric::ACCURACY.name)
        .map_or(String::new(), |summary| format!("{} %", metric::ACCURACY.written(summary.mean)))
}

/// Whether links are worth their budget, budget by budget.
pub(super) fn in_words(method: &Method, floor: Option<&Row>) -> String {
    let Some(floor) = floor else {
        let at: Vec<String> =
            method.budgets.iter().map(|at| format!("{} at {}", percent(at.row), at.row.cell.epsilon)).collect();
        return format!(
            "With “{}”, the accuracy is {} nats per list bit. No floor ran beside it, so nobody can say what the links are worth: \
             add references = [\"features-only\", \"no-links\", \"non-private\"] to the config.",
            method.name,
            at.join(", ")
        );
    };
    let at = |verdict: Verdict| -> Vec<String> {
        let found = method
            .budgets
            .iter()
            .filter_map(|at| Some((at, at.compared.filter(|compared| compared.verdict == verdict)?)));
        found.map(|(at, compared)| format!("{} at {}", points(&compared), at.row.cell.epsilon)).collect()
    };
    let kinds = [
        (Verdict::Better, "more than without them"),
        (Verdict::NotSeparable, "which the trials do not tell from nothing"),
        (Verdict::Worse, "less than without them"),
        (Verdict::OneTrial, "in one trial, which proves nothing"),
    ];
    let parts: Vec<String> = kinds
        .into_iter()
        .map(|(verdict, words)| (at(verdict), words))
        .filter(|(found, _)| !found.is_empty())
        .map(|(found, words)| format!("{} nats per list bit ({words})", found.join(", ")))
        .collect();
    let start =
        method.budgets.iter().find(|at| at.compared.is_some_and(|compared| compared.verdict == Verdict::Better));
    let verdict = match start {
        Some(at) => format!("links add accuracy from {} nats per list bit on", at.row.cell.epsilon),
        None => "no budget here buys more accuracy than what needs no link gives".to_owned(),
    };
    format!("With “{}”, {verdict}. Points of accuracy beside {}: {}.", method.name, called(floor), parts.join("; "))
}

/// A difference in points of accuracy.
pub(super) fn points(compared: &Compared) -> String {
    let difference = compared.difference;
    let factor = metric::ACCURACY.unit.factor();
    let interval =
        if difference.trials > 1 { format!(" ± {:.1}", factor * difference.half_width) } else { String::new() };
    format!("{:+.1}{interval}", factor * difference.mean).replace('-', "−")
}

pub(super) fn between(row: &Row, floor: Option<&Row>, ceiling: Option<&Row>) -> String {
    let majority = row.summary(metric::MAJORITY_ACCURACY.name);
    let constant = majority
        .map(|share| format!("a constant answer is right for {} %", metric::MAJORITY_ACCURACY.written(share.mean)));
    let floor = floor.map(|row| format!("the best that needs no link is {} with {}", called(row), percent(row)));
    let ceiling = ceiling.map(|row| format!("true links without any privacy give {}", percent(row)));
    let parts: Vec<String> = constant.into_iter().chain(floor).chain(ceiling).collect();
    match parts.as_slice() {
        [] => "Neither a floor nor a ceiling ran beside it.".to_owned(),
        parts => format!("Floor and ceiling: {}.", parts.join("; ")),
    }
}

/// What the budgets mean for those who report.
pub(super) fn what_it_costs(method: &Method) -> Option<String> {
    let (low, high) = (method.budgets.first()?, method.budgets.last()?);
    let odds = |row: &Row| match row.cell.epsilon_edge.exp() {
        factor if factor < 1e4 => format!("{factor:.0}"),
        _ => "more than 10,000".to_owned(),
    };
    let link = |row: &Row| row.cell.epsilon_edge;
    let others = high.row.cell.costs.iter().filter(|cost| !matches!(cost.relation, Relation::ListBit | Relation::Edge));
    let others: Vec<String> =
        others.map(|cost| format!("{} nats per {}", cost.epsilon, cost.relation.words())).collect();
    let others =
        if others.is_empty() { String::new() } else { format!(" Beside links it costs {}.", others.join(", ")) };
    Some(format!(
        "What it costs: a link costs {} nats at {} nats per list bit, and {} at {}, so that the reports can multiply the odds of a \
         link by up to {} and {}. A node with d links has d times that at stake, because no budget here protects a node as a \
         whole.{others}",
        link(low.row),
        low.row.cell.epsilon,
        link(high.row),
        high.row.cell.epsilon,
        odds(low.row),
        odds(high.row),
    ))
}

/// What the server knows of the links, from the graph that it builds and from audits.
pub(super) fn what_is_learned(rows: &[&Row], method: &Method) -> Vec<String> {
    let mut sentences = Vec::new();
    let graphs: Vec<String> = method
        .budgets
        .iter()
        .filter_map(|at| {
            let (recall, precision) = known_links(rows, at.row)?;
            Some(format!(
                "{recall} of the true links at {} nats, where {precision} of its links are true",
                at.row.cell.epsilon
            ))
        })
        .collect();
    if !graphs.is_empty() {
        sentences.push(format!("What the server learns: the graph that it builds holds {}.", graphs.join("; ")));
    }
    let attacked = rows.iter().filter(|row| {
        row.cell.choice("audit.attack").is_some() && row.cell.epsilon > 0.0 && row.cell.epsilon.is_finite()
    });
    let mut worst: Option<(&Row, f64)> = None;
    for row in attacked {
        if let Some(found) = row.summary(metric::ATTACK_TPR_AT_1E_2.name)
            && worst.is_none_or(|known| found.mean > known.1)
        {
            worst = Some((row, found.mean));
        }
    }
    if let Some((row, share)) = worst {
        sentences.push(format!(
            "What an attacker learns: at most {:.0} % of what is attacked, while one in a hundred other pairs is taken for it as well \
             (“{}” at {} nats per list bit).",
            100.0 * share,
            row.cell.choice("audit.attack").unwrap_or_default(),
            row.cell.epsilon
        ));
    }
    sentences
}

/// Share of the true links that a row's graph holds, and share of its links that are true.
pub(super) fn known_links(rows: &[&Row], row: &Row) -> Option<(String, String)> {
    let is_same = |other: &&&Row| {
        let told = |cell: &Cell| cell.told_apart_by(|choice| choice.stage() != "train");
        let names = |cell: &Cell| (cell.mechanism.clone(), cell.variant.clone(), cell.epsilon.to_bits(), told(cell));
        other.scores.contains_key(metric::GRAPH_RECALL.name) && names(&other.cell) == names(&row.cell)
    };
    let graph = rows.iter().find(is_same)?;
    let share = |metric: &Metric| graph.summary(metric.name).map(|summary| format!("{:.0} %", 100.0 * summary.mean));
    share(&metric::GRAPH_RECALL).zip(share(&metric::GRAPH_PRECISION))
}
