//! The most frequent class for every node: the floor of what labels alone give.

use veilgraph_train::PredictMajority;

use super::predict_without_training;
use crate::config::ConfigError;
use crate::plan::{Branch, Plan};

/// Predicts the most frequent class of the training nodes, whatever the graph.
pub(super) fn predict(plan: &mut Plan, graphs: &[Branch]) -> Result<Vec<Branch>, ConfigError> {
    predict_without_training::<PredictMajority>(plan, graphs, "majority", |_, branch| Ok(branch.clone()))
}
