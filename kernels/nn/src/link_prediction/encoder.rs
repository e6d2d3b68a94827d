//! The encoder: from features and graph to the mean and spread of every node's vector.

use std::sync::Arc;

use burn::backend::Flex;
use rand::RngExt;
use rand::rngs::ChaCha8Rng;
use veilgraph_operator::GraphOperator;

use super::LinkTraining;
use crate::activation::Unit;
use crate::architecture::{Architecture, NetworkOptions};
use crate::dataset::input;
use crate::device_map::DeviceMap;
use crate::differentiable::{Tracked, activate, batch_norm, multiply};
use crate::failure::Failure;
use crate::host_memory::HostFootprint;
use crate::input_features::InputFeatures;
use crate::network::Aggregation;
use crate::ops::{Activation, DeviceOps};

/// Features and graph as the encoder applies them, and its sizes.
pub(super) struct Encoder {
    /// Features, multiplied by the graph already where this is cheaper.
    features: DeviceMap<Flex>,
    is_gathered: bool,
    /// `D^{-1/2} (W + I) D^{-1/2}`.
    graph: DeviceMap<Flex>,
    n_nodes: usize,
    n_features: usize,
    hidden: usize,
    embedding: usize,
}

impl Encoder {
    /// Prepares features and graph.
    ///
    /// # Errors
    /// When both differ in size, or a feature overflows.
    pub(super) fn new(
        features: InputFeatures,
        graph: &Arc<GraphOperator>,
        training: &LinkTraining,
    ) -> Result<Self, Failure> {
        let (n_nodes, n_features) = (features.n_nodes(), features.n_features());
        let input = input(features, graph, Architecture::Gcn, NetworkOptions::default())?;
        let Aggregation::Propagate(map) = &input.aggregation else { unreachable!("a GCN propagates") };
        let device = Default::default();
        Ok(Self {
            features: DeviceMap::new(input.gathered.as_ref().unwrap_or(&input.features), &device),
            is_gathered: input.gathered.is_some(),
            graph: DeviceMap::new(map, &device),
            n_nodes,
            n_features,
            hidden: training.hidden,
            embedding: training.embedding,
        })
    }

    /// Number of nodes.
    pub(super) fn n_nodes(&self) -> usize {
        self.n_nodes
    }

    /// Initial values and shapes of the parameters: first weight, gain and shift of its normalization, second weight
    /// and bias. The normalization takes the mean off, so that the first layer has no bias.
    ///
    /// The second weight holds those of means and of spreads side by side. Weights are uniform within the bound of
    /// Glorot, Bengio (2010), equation 16, each for its own layer.
    pub(super) fn initial_values(&self, rng: &mut ChaCha8Rng) -> Vec<(Vec<f32>, [usize; 2])> {
        let mut weight = |[rows, columns]: [usize; 2], outputs: usize| {
            let bound = (6.0 / (rows + outputs) as f32).sqrt();
            let values = (0..rows * columns).map(|_| bound * (2.0 * rng.random::<f32>() - 1.0)).collect();
            (values, [rows, columns])
        };
        let [first, scale, shift, second, bias] = self.shapes();
        let constant = |value: f32, [rows, columns]: [usize; 2]| (vec![value; rows * columns], [rows, columns]);
        vec![
            weight(first, self.hidden),
            constant(1.0, scale),
            constant(0.0, shift),
            weight(second, self.embedding),
            constant(0.0, bias),
        ]
    }

    /// Rows and columns of the parameters, in the order of [`Self::initial_values`].
    fn shapes(&self) -> [[usize; 2]; 5] {
        let (hidden, both) = (self.hidden, self.embedding.saturating_mul(2));
        [[self.n_features, hidden], [1, hidden], [1, hidden], [hidden, both], [1, both]]
    }

    /// What the model takes on the host while it trains, at least: a backward pass holds the output of the first layer as it is,
    /// activated and as a gradient.
    pub(super) fn host_footprint(&self) -> HostFootprint {
        let sizes = self.shapes().map(|[rows, columns]| rows.saturating_mul(columns));
        HostFootprint {
            parameters: sizes.into_iter().fold(0, usize::saturating_add),
            values: self.n_nodes.saturating_mul(self.hidden.saturating_mul(3)),
            probabilities: 0,
            keeps_parameters: true,
        }
    }

    /// Mean and logarithm of the standard deviation of every node's vector, side by side; `step` chooses the mask of
    /// dropout.
    ///
    /// Normalization always takes the mean and variance over all nodes. In a whole-graph pass these are a function of
    /// the parameters, so that evaluation needs no running averages.
    ///
    /// # Shapes
    /// Returns `[1, n, 2 embedding]`.
    pub(super) fn encode(
        &self,
        parameters: &[Tracked<Flex>],
        dropouts: Option<&<Flex as DeviceOps>::Dropouts>,
        step: u32,
    ) -> Tracked<Flex> {
        let [first, gain, shift, second, bias] = parameters else { unreachable!("an encoder has five parameters") };
        let mut hidden = multiply(&self.features, first.clone(), &None);
        if !self.is_gathered {
            hidden = multiply(&self.graph, hidden, &None);
        }
        let hidden = batch_norm([hidden, gain.clone(), shift.clone()]);
        let activation = Activation { unit: Unit::Relu, dropouts: dropouts.cloned(), step, layer: 0 };
        let hidden = activate(hidden, &activation);
        multiply(&self.graph, hidden.matmul(second.clone()), &None) + bias.clone()
    }
}
