//! The most frequent class for every node: the floor of what labels alone give.

use veilgraph_contract::Subject;
use veilgraph_train::PredictMajority;

use super::predict_without_training;
use crate::config::ConfigError;
use crate::plan::{Branch, Plan};

/// Predicts the most frequent class of the training nodes, whatever the graph.
pub(super) fn predict(plan: &mut Plan, graphs: &[Branch]) -> Result<Vec<Branch>, ConfigError> {
    predict_without_training::<PredictMajority>(plan, graphs, "majority", |_, branch| Ok(of_labels_alone(branch)))
}

/// The same way with what it reads: ways that differ in features or links lead to one prediction, which is scored once.
fn of_labels_alone(branch: &Branch) -> Branch {
    let mut branch = branch.clone();
    branch.releases.retain(|release| release.subject == Subject::Labels);
    branch.choices.retain(|choice| {
        let is_read = |table: &&str| choice.field.starts_with(*table);
        ["ingest.", "privatize.labels.", "train."].iter().any(is_read)
    });
    "no-links".clone_into(&mut branch.mechanism);
    "given".clone_into(&mut branch.variant);
    branch.degree_fraction = 0.0;
    branch
}
