//! What a network says and what is believed about classes, together.

use veilgraph_contract::{Draws, Invalid, NoParams, Progress, Server, Stage, StageRng};
use veilgraph_graph::{ClassBeliefs, Curves, Labels, ModelPredictions, Nodes, Predictions};

use crate::given::Validation;

/// Adds the logarithms of the beliefs to those of each network's answers, with the weight that makes the labels of
/// validation nodes likeliest. A weight of 0 leaves the network as it is, and a weight of 1 the beliefs.
pub struct Blend;

/// Weights of the beliefs that are tried.
const WEIGHTS: [f64; 5] = [0.0, 0.25, 0.5, 0.75, 1.0];

impl Stage for Blend {
    const STAGE: &'static str = "train";
    const TASK: &'static str = "blend";
    const DRAWS: Draws = Draws::Never;
    type Side = Server;
    type Params = NoParams;
    type Inputs = (Nodes, Labels, Predictions, ClassBeliefs);
    /// The curves have one epoch for each model: its blend.
    type Outputs = (Predictions, Curves);
    type Error = Invalid;

    fn run(
        (nodes, labels, predictions, beliefs): Self::Inputs,
        _: &NoParams,
        _: &StageRng,
        _: &Progress,
    ) -> Result<Self::Outputs, Invalid> {
        let (n_nodes, n_classes) = (nodes.splits.len(), predictions.n_classes);
        if beliefs.n_nodes() != n_nodes || beliefs.n_classes() != n_classes {
            return Err(Invalid("the beliefs about classes are those of another graph".to_owned()));
        }
        let validation = Validation::of(&nodes, &labels);
        let (mut models, mut curves) = (Vec::new(), Curves::default());
        for ModelPredictions { model, probabilities } in predictions.models {
            let blends = WEIGHTS.map(|weight| mixed(&probabilities, beliefs.probabilities(), n_classes, weight));
            let losses = blends.each_ref().map(|blend| validation.loss(blend));
            let best = (0..WEIGHTS.len()).min_by(|&a, &b| losses[a].total_cmp(&losses[b])).unwrap_or(0);
            tracing::debug!(model, weight = WEIGHTS[best], loss = losses[best], "blended with beliefs");
            validation.record(model, &blends[best], &mut curves);
            models.push(ModelPredictions { model, probabilities: blends[best].clone() });
        }
        Ok((Predictions { models, ..predictions }, curves))
    }
}

/// The normalized geometric mean of two predictions.
///
/// # Shapes
/// `network` and `beliefs`: `[n_nodes, n_classes]`, row-major; the result too.
fn mixed(network: &[f32], beliefs: &[f32], n_classes: usize, weight: f64) -> Vec<f32> {
    const LEAST: f32 = 1e-12;
    let log = |probability: f32| libm::log(f64::from(probability.max(LEAST)));
    let mut mixed = Vec::with_capacity(network.len());
    for (network, beliefs) in network.chunks_exact(n_classes).zip(beliefs.chunks_exact(n_classes)) {
        let logs = network.iter().zip(beliefs).map(|(&net, &belief)| (1.0 - weight) * log(net) + weight * log(belief));
        let odds: Vec<f64> = logs.map(libm::exp).collect();
        let total: f64 = odds.iter().sum();
        mixed.extend(odds.iter().map(|odds| (odds / total) as f32));
    }
    mixed
}

#[cfg(test)]
mod tests;
