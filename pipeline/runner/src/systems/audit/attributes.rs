//! Attribute inference: what reports and networks tell about private features and labels.

use veilgraph_audit::{
    AnsweredLabels, AnsweredTestLabels, AttributesParams, FrequentFeatures, ReportedFeatures, ReportedLabels,
};
use veilgraph_contract::NoParams;
use veilgraph_evaluate::EvaluateAttributes;
use veilgraph_graph::WeightedGraph;
use veilgraph_posterior::{LinkEvidence, LinkModel};
use veilgraph_privacy::{NoisyFeatures, NoisyLabels};

use super::{Attack, On, TABLE, fields_of, never};
use crate::config::ConfigError;
use crate::function::function;
use crate::plan::{Branch, Plan, Run};

pub(super) const ATTACK: Attack = Attack {
    name: "attributes",
    on: On::Networks,
    is_about_links: never,
    fields: fields_of::<AttributesParams>,
    run,
    functions: &[
        function::<ReportedFeatures>(),
        function::<FrequentFeatures>(),
        function::<ReportedLabels>(),
        function::<AnsweredLabels>(),
        function::<AnsweredTestLabels>(),
        function::<EvaluateAttributes>(),
    ],
};

fn run(plan: &mut Plan, networks: &[Branch], _: &[f64]) -> Result<(), ConfigError> {
    if !networks.iter().any(protects_attributes) {
        return Err(refused(plan, ATTACK.name));
    }
    let run = Run { table: TABLE, ..Run::default() };
    let cells = plan.cells_of::<ReportedFeatures>(TABLE, &["beliefs"])?;
    let mut guessed = Vec::new();
    for network in networks {
        let reported = without_graph(network);
        if network.has::<NoisyFeatures>() {
            for cell in &cells {
                let reported = reported.with(&cell.choices);
                let own = named(plan, &reported, "features");
                guessed.push(plan.run::<ReportedFeatures>(&[&own], &cell.params, run)?);
                let floor = named(plan, &reported, "features-by-frequency");
                guessed.push(plan.run::<FrequentFeatures>(&[&floor], &cell.params, run)?);
            }
        }
        if network.has::<NoisyLabels>() {
            let reported = named(plan, &reported, "labels");
            guessed.push(plan.run::<ReportedLabels>(&[&reported], &NoParams {}, run)?);
            let answered = named(plan, network, "labels-by-network");
            guessed.push(plan.run::<AnsweredLabels>(&[&answered], &NoParams {}, run)?);
            let floor = named(plan, network, "test-labels-by-network");
            guessed.push(plan.run::<AnsweredTestLabels>(&[&floor], &NoParams {}, run)?);
        }
    }
    plan.score::<EvaluateAttributes>(&guessed)
}

/// The way with the name of what is guessed.
fn named(plan: &Plan, branch: &Branch, attribute: &str) -> Branch {
    branch.with(&[plan.config.choice(TABLE, "attribute", attribute.into())])
}

/// Whether nodes report features or labels on this way.
pub(super) fn protects_attributes(branch: &Branch) -> bool {
    branch.has::<NoisyFeatures>() || branch.has::<NoisyLabels>()
}

/// What is said where neither features nor labels are private.
pub(super) fn refused(plan: &Plan, attack: &str) -> ConfigError {
    let problem = format!(
        "the attack `{attack}` is about private features or labels, and all are public here; set [privatize.features] or \
         [privatize.labels], or leave the attack out"
    );
    plan.config.error(&format!("{TABLE}.attacks"), &problem)
}

/// The way to reports about features and labels, so that ways that differ in links, graph and network alone are one.
pub(super) fn without_graph(network: &Branch) -> Branch {
    let mut reported = network.clone();
    reported.mark_absent::<WeightedGraph>();
    reported.mark_absent::<LinkModel>();
    reported.mark_absent::<LinkEvidence>();
    reported.variant.clear();
    reported.model.clear();
    reported.mechanism.clear();
    reported.degree_fraction = 0.0;
    reported
}
