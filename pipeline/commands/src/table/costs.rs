//! What the methods of a table cost beside the budget of links, which stands above its columns or in its caption.

use std::collections::{BTreeMap, BTreeSet};

use veilgraph_contract::Relation;
use veilgraph_runner::plan::rounded;

use super::pivot::PivotTable;
use crate::protected::{LINKS, Standing};

/// A cost, by the bits of its numbers, so that equal ones are one.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Stated {
    epsilon: u64,
    dp_delta: u64,
    claimed: Option<u64>,
}

/// The costs of private methods under all relations but those of links, in words; none where there are no others.
pub(super) fn further_costs(table: &PivotTable) -> Option<String> {
    let mut stated: BTreeMap<Relation, BTreeSet<Stated>> = BTreeMap::new();
    let private = table.lines.iter().filter(|line| line.standing == Standing::Private);
    for cost in private.flat_map(|line| line.cells.iter().flatten()).flat_map(|cell| &cell.costs) {
        // Numbers of at least 0 ascend as their bits do.
        stated.entry(cost.relation).or_default().insert(Stated {
            epsilon: cost.epsilon.to_bits(),
            dp_delta: cost.dp_delta.to_bits(),
            claimed: cost.claimed_epsilon.map(f64::to_bits),
        });
    }
    stated.retain(|relation, _| !LINKS.contains(relation));
    let words = |(relation, costs): (&Relation, &BTreeSet<Stated>)| {
        let epsilon = range(costs, |cost| Some(cost.epsilon))?;
        let delta = range(costs, |cost| Some(cost.dp_delta)).filter(|delta| delta != "0");
        let delta = delta.map_or_else(String::new, |delta| format!(" (at dp_delta {delta})"));
        let claimed = range(costs, |cost| cost.claimed);
        let claimed = claimed.map_or_else(String::new, |claimed| format!(" (the source states {claimed})"));
        Some(format!("{epsilon} nats per {}{delta}{claimed}", relation.words()))
    };
    let words: Vec<String> = stated.iter().filter_map(words).collect();
    (!words.is_empty()).then(|| format!("Private methods cost {}.", words.join(", ")))
}

/// The least and the largest of some numbers, or the one that there is.
fn range(costs: &BTreeSet<Stated>, of: impl Fn(&Stated) -> Option<u64>) -> Option<String> {
    let numbers: BTreeSet<u64> = costs.iter().filter_map(of).collect();
    let written = |bits: &u64| match f64::from_bits(*bits) {
        small if small > 0.0 && small < 1e-3 => format!("{small:e}"),
        number => rounded(number).to_string(),
    };
    let (least, most) = (numbers.first()?, numbers.last()?);
    Some(if least == most { written(least) } else { format!("{} to {}", written(least), written(most)) })
}
