//! Costs as people read them.

use std::collections::BTreeMap;

use veilgraph_contract::{Cost, Relation};

use crate::plan::rounded;

/// The delta of a cost, as text; nothing for a pure one.
#[must_use]
pub fn at_delta(cost: &Cost) -> String {
    if cost.dp_delta() > 0.0 { format!(" (at dp_delta {:e})", cost.dp_delta()) } else { String::new() }
}

/// Costs under each relation, as text.
#[must_use]
pub fn in_words(totals: &BTreeMap<Relation, Cost>) -> String {
    let text: Vec<String> = totals
        .iter()
        .map(|(relation, cost)| format!("{} per {}{}", rounded(cost.epsilon()), relation.words(), at_delta(cost)))
        .collect();
    text.join(", ").replacen(" per", " nats per", 1)
}
