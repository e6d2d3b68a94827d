//! Two-layer networks: GCN, GraphSAGE, GAT and MLP.

use std::sync::Arc;

use burn::module::{Module, Param};
use burn::tensor::activation::relu;
use burn::tensor::backend::Backend;
use burn::tensor::{Tensor, TensorData, TensorPrimitive};
use rand::RngExt;
use rand::rngs::ChaCha8Rng;
use serde::{Deserialize, Serialize};

use crate::attention::AttentionGraph;
use crate::backend::GraphBackend;
use crate::operator::{GraphOperator, LinearMap, Propagation};

/// Kind of network.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Architecture {
    /// Graph convolution (Kipf, Welling 2017).
    Gcn,
    /// Mean aggregation beside the node's own features (Hamilton, Ying, Leskovec 2017).
    GraphSage,
    /// One head of attention (Veličković et al. 2018).
    Gat,
    /// No links at all.
    Mlp,
}

/// What the mean of a weighted neighbourhood is divided by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SageNorm {
    /// The sum of weights, at least 1: what the published code computes.
    #[default]
    Clamp1,
    /// The sum of weights: what the paper prints (equation 22).
    Paper,
}

/// Choices inside the layers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NetworkOptions {
    /// Width of the hidden layer.
    pub hidden: usize,
    /// Norm of GraphSAGE.
    pub sage_norm: SageNorm,
    /// Whether GAT multiplies messages by the weight again.
    pub gat_double_weight: bool,
}

/// How a network sees the graph.
#[derive(Clone)]
pub(crate) enum Aggregation {
    Propagate(Arc<dyn LinearMap>),
    Attend(Arc<AttentionGraph>),
    Nothing,
}

/// The learnable parameters; every one is a matrix (biases and attention vectors have one row or column).
#[derive(Module, Debug)]
pub(crate) struct Network<B: Backend> {
    parameters: Vec<Param<Tensor<B, 2>>>,
}

impl Architecture {
    /// Name as in a config.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Gcn => "gcn",
            Self::GraphSage => "graphsage",
            Self::Gat => "gat",
            Self::Mlp => "mlp",
        }
    }

    pub(crate) fn aggregation(self, graph: &Arc<GraphOperator>, options: NetworkOptions) -> Aggregation {
        match self {
            Self::Gcn => Aggregation::Propagate(Arc::new(Propagation::symmetric(graph.clone()))),
            Self::GraphSage => {
                let least = if options.sage_norm == SageNorm::Clamp1 { 1.0 } else { 0.0 };
                Aggregation::Propagate(Arc::new(Propagation::mean(graph.clone(), least)))
            }
            Self::Gat => {
                let GraphOperator::Sparse(weights) = graph.as_ref() else {
                    unreachable!("the training loop lists all pairs before it attends over them")
                };
                Aggregation::Attend(Arc::new(AttentionGraph::new(weights, options.gat_double_weight)))
            }
            Self::Mlp => Aggregation::Nothing,
        }
    }

    /// Names and shapes of the parameters of one layer.
    fn layer_parameters(self, inputs: usize, outputs: usize) -> Vec<(&'static str, [usize; 2])> {
        match self {
            Self::Gcn | Self::Mlp => vec![("weight", [inputs, outputs]), ("bias", [1, outputs])],
            Self::GraphSage => {
                vec![
                    ("weight_neighbours", [inputs, outputs]),
                    ("bias", [1, outputs]),
                    ("weight_self", [inputs, outputs]),
                ]
            }
            Self::Gat => vec![
                ("weight", [inputs, outputs]),
                ("bias", [1, outputs]),
                ("attention_source", [outputs, 1]),
                ("attention_target", [outputs, 1]),
            ],
        }
    }

    /// Names and shapes of all parameters, layer by layer.
    pub(crate) fn parameters(self, sizes: [usize; 3]) -> Vec<(String, [usize; 2])> {
        sizes
            .windows(2)
            .enumerate()
            .flat_map(|(layer, sizes)| {
                let parameters = self.layer_parameters(sizes[0], sizes[1]);
                parameters.into_iter().map(move |(name, shape)| (format!("layer{}.{name}", layer + 1), shape))
            })
            .collect()
    }

    /// Initial values as PyTorch Geometric draws them: Glorot with zero bias (GCN, GAT), or uniform
    /// within `1/√fan_in` (GraphSAGE, MLP).
    fn initial(self, name: &str, [rows, columns]: [usize; 2], fan_in: usize, rng: &mut ChaCha8Rng) -> Vec<f32> {
        let bound = match self {
            Self::Gcn | Self::Gat if name.ends_with("bias") => 0.0,
            Self::Gcn | Self::Gat => (6.0 / (rows + columns) as f32).sqrt(),
            Self::GraphSage | Self::Mlp => 1.0 / (fan_in as f32).sqrt(),
        };
        (0..rows * columns).map(|_| bound * (2.0 * rng.random::<f32>() - 1.0)).collect()
    }
}

impl<B: GraphBackend> Network<B> {
    pub(crate) fn new(architecture: Architecture, sizes: [usize; 3], rng: &mut ChaCha8Rng, device: &B::Device) -> Self {
        let mut fan_in = 0;
        let parameters = architecture.parameters(sizes).into_iter().map(|(name, shape)| {
            if name.contains("weight") {
                fan_in = shape[0];
            }
            let values = architecture.initial(&name, shape, fan_in, rng);
            Param::from_tensor(Tensor::from_data(TensorData::new(values, shape), device))
        });
        Self { parameters: parameters.collect() }
    }

    /// Values of the parameters, in order.
    pub(crate) fn values(&self) -> Vec<Vec<f32>> {
        let host = |tensor: Tensor<B, 2>| tensor.into_data().into_vec();
        let values = self.parameters.iter().map(|parameter| host(parameter.val()));
        values.map(|values| values.unwrap_or_else(|error| unreachable!("parameters are f32: {error:?}"))).collect()
    }

    /// Logits `[n, classes]`; `dropout` is a mask for the hidden layer, already scaled.
    pub(crate) fn forward(
        &self,
        architecture: Architecture,
        features: &Arc<dyn LinearMap>,
        aggregation: &Aggregation,
        dropout: Option<Tensor<B, 2>>,
    ) -> Tensor<B, 2> {
        let mut parameters = self.parameters.iter().map(Param::val);
        let mut next = || parameters.next().unwrap_or_else(|| unreachable!("a layer has the parameters it declares"));
        let from_features = |weight| apply(features, weight);
        let first = layer(architecture, &from_features, aggregation, &mut next);
        let mut hidden = relu(first);
        if let Some(mask) = dropout {
            hidden = hidden * mask;
        }
        let from_hidden = |weight| hidden.clone().matmul(weight);
        layer(architecture, &from_hidden, aggregation, &mut next)
    }
}

/// One layer; `times` multiplies the layer's input with a weight matrix.
fn layer<B: GraphBackend>(
    architecture: Architecture,
    times: &dyn Fn(Tensor<B, 2>) -> Tensor<B, 2>,
    aggregation: &Aggregation,
    next: &mut dyn FnMut() -> Tensor<B, 2>,
) -> Tensor<B, 2> {
    let (weight, bias) = (next(), next());
    let transformed = times(weight);
    match aggregation {
        Aggregation::Nothing => transformed + bias,
        Aggregation::Propagate(map) => {
            let gathered = apply(map, transformed) + bias;
            if architecture == Architecture::GraphSage { gathered + times(next()) } else { gathered }
        }
        Aggregation::Attend(graph) => {
            let (sources, targets) = (transformed.clone().matmul(next()), transformed.clone().matmul(next()));
            let inputs = [transformed, sources, targets].map(|tensor| tensor.into_primitive().tensor());
            Tensor::from_primitive(TensorPrimitive::Float(B::attend(graph, inputs))) + bias
        }
    }
}

fn apply<B: GraphBackend>(map: &Arc<dyn LinearMap>, x: Tensor<B, 2>) -> Tensor<B, 2> {
    Tensor::from_primitive(TensorPrimitive::Float(B::apply(map, x.into_primitive().tensor())))
}

#[cfg(test)]
mod tests;
