//! The server's own belief about each pair, with which attacks on what follows from the reports are compared.

use veilgraph_audit::{Reports, ReportsParams};
use veilgraph_contract::Artifact;
use veilgraph_graph::WeightedGraph;
use veilgraph_posterior::{LinkEvidence, LinkModel};
use veilgraph_privacy::NoisyLinks;

use super::{Attack, On, always, attack_links, fields_of};
use crate::config::ConfigError;
use crate::function::function;
use crate::plan::{Branch, Plan};

pub(super) const ATTACK: Attack = Attack {
    name: "reports",
    on: On::Graphs,
    is_about_links: always,
    fields: fields_of::<ReportsParams>,
    run,
    functions: &[function::<Reports>()],
};

fn run(plan: &mut Plan, graphs: &[Branch], beliefs: &[f64]) -> Result<(), ConfigError> {
    let graphs: Vec<Branch> = graphs.iter().cloned().map(with_beliefs).collect();
    attack_links::<Reports>(plan, &graphs, |params| params.pool, beliefs)
}

/// The way to the link probabilities where there are any, so that all graphs that were built from them are one.
pub(super) fn with_beliefs(mut graph: Branch) -> Branch {
    if let Some(beliefs) = graph.beliefs.clone() {
        graph.take(LinkModel::NAME, &beliefs);
        graph.take(LinkEvidence::NAME, &beliefs);
        graph.mark_absent::<WeightedGraph>();
        graph.mark_absent::<NoisyLinks>();
        graph.variant.clear();
    }
    graph
}
