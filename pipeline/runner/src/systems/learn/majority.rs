//! The most frequent class for every node: the floor of what labels alone give.

use veilgraph_contract::{Artifact, NoParams};
use veilgraph_evaluate::EvaluateClasses;
use veilgraph_graph::Labels;
use veilgraph_train::PredictMajority;

use super::{TABLE, by_cell};
use crate::config::{ConfigError, MetricGroup};
use crate::plan::{Branch, Plan, Run};

/// Predicts the most frequent class of the training nodes, whatever the graph.
pub(super) fn predict(plan: &mut Plan, graphs: &[Branch]) -> Result<Vec<Branch>, ConfigError> {
    let is_wanted = plan.wants(MetricGroup::Accuracy) || plan.options.until == Some("train");
    let n_scored = plan.config.trials;
    for trials in by_cell(graphs) {
        if !is_wanted || !trials[0].has(Labels::NAME, Labels::ZONE) {
            continue;
        }
        let mut predicted = Vec::new();
        for branch in trials.iter().filter(|branch| branch.is_scored(n_scored)) {
            let mut branch = branch.clone();
            "majority".clone_into(&mut branch.model);
            let run = Run { table: TABLE, ..Run::default() };
            predicted.push(plan.run::<PredictMajority>(&[&branch], &NoParams {}, run)?);
        }
        plan.score_together::<EvaluateClasses>(&predicted)?;
    }
    Ok(Vec::new())
}
