//! What the best network of a grid answers about every node.

use veilgraph_contract::Invalid;
use veilgraph_graph::{ModelPredictions, Predictions};
use veilgraph_nn::ModelWeights;

/// Class probabilities of every node, from the model with the lowest validation loss.
pub(crate) struct Answers<'a> {
    n_classes: usize,
    model: &'a ModelPredictions,
}

impl<'a> Answers<'a> {
    /// The answers of the best model; the weights say which one that is.
    ///
    /// # Errors
    /// When no model was trained, or the best one has no predictions.
    pub(crate) fn of(predictions: &'a Predictions, weights: &ModelWeights) -> Result<Self, Invalid> {
        let best = weights.best()?.model;
        let found = predictions.models.iter().find(|model| model.model == best);
        let model = found.ok_or_else(|| Invalid(format!("model {best} has no predictions")))?;
        Ok(Self { n_classes: predictions.n_classes.max(1), model })
    }

    pub(crate) fn n_classes(&self) -> usize {
        self.n_classes
    }

    pub(crate) fn n_nodes(&self) -> usize {
        self.model.probabilities.len() / self.n_classes
    }

    /// The probabilities of one node; `[n_classes]`.
    pub(crate) fn of_node(&self, node: u32) -> &'a [f32] {
        &self.model.probabilities[node as usize * self.n_classes..][..self.n_classes]
    }

    /// The same in double precision.
    pub(crate) fn row(&self, node: u32) -> Vec<f64> {
        self.of_node(node).iter().map(|&probability| f64::from(probability)).collect()
    }
}
