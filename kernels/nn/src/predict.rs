//! A trained network on any graph.

use std::sync::Arc;

use burn::backend::{Autodiff, Flex};
use burn::tensor::{Tensor, TensorData};
use veilgraph_contract::Invalid;
use veilgraph_graph::{ModelPredictions, WeightedGraph};
use veilgraph_posterior::{LinkEvidence, LinkModel};

use crate::architecture::{Parameter, named};
use crate::dataset::input;
use crate::failure::Failure;
use crate::input_features::InputFeatures;
use crate::layer::arrange;
use crate::network::Network;
use crate::saved_model::{GridDescription, SavedModel};
use crate::score::softmax;
use veilgraph_operator::GraphOperator;

/// Why a network cannot be applied.
#[derive(Debug, thiserror::Error)]
pub enum PredictError {
    /// The graph lacks what its weights are made of.
    #[error(transparent)]
    Graph(#[from] Invalid),
    /// The network and the graph do not belong together.
    #[error(transparent)]
    Model(#[from] Failure),
}

/// What a trained network says about the nodes of a graph; a soft one is given with its posterior.
///
/// # Errors
/// When the graph has other features than the one the network was trained on, or lacks its posterior.
pub fn predict<'a>(
    saved: &SavedModel,
    features: impl Into<InputFeatures<'a>>,
    graph: &WeightedGraph,
    model: Option<LinkModel>,
    evidence: Option<LinkEvidence>,
) -> Result<ModelPredictions, PredictError> {
    let graph = Arc::new(GraphOperator::of(graph, model, evidence)?);
    Ok(ModelPredictions { model: saved.model, probabilities: saved.probabilities(features, &graph)? })
}

impl SavedModel {
    /// Class probabilities of every node, on the CPU.
    ///
    /// The graph is shared, so that a model can be asked again and again about the same graph with other features.
    ///
    /// # Shapes
    /// `features`: `[n, n_features]`. Returns row-major `[n, n_classes]`.
    ///
    /// # Errors
    /// When the parameters were trained on another number of features, or are not those of such a network.
    pub fn probabilities<'a>(
        &self,
        features: impl Into<InputFeatures<'a>>,
        graph: &Arc<GraphOperator>,
    ) -> Result<Vec<f32>, Failure> {
        let features = features.into();
        let GridDescription { architecture, options, n_classes, .. } = self.grid;
        self.check_features(features.n_features())?;
        let shapes = architecture.layers(options, features.n_features(), n_classes);
        self.check(&named(shapes.iter().cloned()))?;
        let input = input(features, graph, architecture, options)?;
        let device = Default::default();
        let network = Network::<Flex>::new(&input, &device);
        let tensors = self.parameters.iter().map(|Parameter { shape: [rows, columns], values, .. }| {
            Tensor::<Autodiff<Flex>, 3>::from_data(TensorData::new(values.clone(), [1, *rows, *columns]), &device)
        });
        let layers = arrange(&shapes, tensors);
        let logits = network.logits(network.first_layer(&layers), &layers, None, 0, &None);
        let logits = logits.into_data().into_vec().unwrap_or_else(|error| unreachable!("tensors hold f32: {error:?}"));
        Ok(softmax(&logits, n_classes))
    }

    /// Refuses a graph with another number of features than the network was trained on.
    ///
    /// # Errors
    /// When the numbers differ.
    pub fn check_features(&self, n_features: usize) -> Result<(), Failure> {
        match self.parameters.first() {
            Some(first) if first.shape[0] != n_features => {
                Err(Failure::Features { trained: first.shape[0], here: n_features })
            }
            _ => Ok(()),
        }
    }

    /// Whether the parameters have the names and shapes `expected`, and are numbers.
    fn check(&self, expected: &[(String, [usize; 2])]) -> Result<(), Failure> {
        let found = self.parameters.iter().map(|parameter| (&parameter.name, &parameter.shape));
        if !found.eq(expected.iter().map(|(name, shape)| (name, shape))) {
            return Err(Failure::Parameters(self.parameters.len(), expected.len()));
        }
        match self.parameters.iter().find(|parameter| !parameter.values.iter().all(|value| value.is_finite())) {
            Some(parameter) => Err(Failure::NoNumber(parameter.name.clone())),
            None => Ok(()),
        }
    }
}
