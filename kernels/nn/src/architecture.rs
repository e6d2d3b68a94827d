//! Kinds of networks, and their parameters: GCN, GraphSAGE, GAT and MLP.

use rand::RngExt;
use rand::rngs::ChaCha8Rng;
use serde::{Deserialize, Serialize};

use crate::activation::Unit;
use crate::layer::{Beside, Layer};

/// Kind of network.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Architecture {
    /// Graph convolution (Kipf, Welling 2017).
    Gcn,
    /// Mean aggregation beside the node's own features (Hamilton, Ying, Leskovec 2017).
    GraphSage,
    /// Attention with one or several heads (Veličković et al. 2018).
    Gat,
    /// A perceptron on the features, which reads no links.
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

/// Choices inside the layers. Those that came later are written only where they differ from their default, so that a
/// saved network that has none of them keeps its bytes.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct NetworkOptions {
    /// Number of layers.
    pub layers: usize,
    /// Width of the hidden layers.
    pub hidden: usize,
    /// Norm of GraphSAGE.
    pub sage_norm: SageNorm,
    /// Whether GAT multiplies messages by the weight again.
    pub gat_double_weight: bool,
    /// Function of the hidden units.
    #[serde(default, skip_serializing_if = "is_default")]
    pub activation: Unit,
    /// Heads of attention in every hidden layer of GAT, each of width `hidden`, side by side. The last layer has one.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub heads: usize,
}

impl Default for NetworkOptions {
    /// Two layers with 16 hidden units.
    fn default() -> Self {
        Self {
            layers: 2,
            hidden: 16,
            sage_norm: SageNorm::Clamp1,
            gat_double_weight: true,
            activation: Unit::Relu,
            heads: 1,
        }
    }
}

fn one() -> usize {
    1
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_one(heads: &usize) -> bool {
    *heads == 1
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// A named parameter of one network.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Parameter {
    /// Layer and role: `layer1.weight`.
    pub name: String,
    /// Rows and columns; biases and attention vectors have one row or column.
    pub shape: [usize; 2],
    /// Row-major values.
    pub values: Vec<f32>,
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

    /// Shapes `[rows, columns]` of the parameters of every layer, the first layer first.
    pub(crate) fn layers(self, options: NetworkOptions, n_features: usize, n_classes: usize) -> Vec<Layer<[usize; 2]>> {
        let heads = self.heads(options);
        let mut sizes = vec![options.hidden.saturating_mul(heads); options.layers + 1];
        sizes[0] = n_features;
        sizes[options.layers] = n_classes;
        let heads = |number: usize| if number + 1 < options.layers { heads } else { 1 };
        sizes.windows(2).enumerate().map(|(number, sizes)| self.layer(sizes[0], sizes[1], heads(number))).collect()
    }

    /// Heads of the hidden layers.
    pub(crate) fn heads(self, options: NetworkOptions) -> usize {
        if self == Self::Gat { options.heads } else { 1 }
    }

    /// Shapes of the parameters of one layer, whose outputs are those of all heads.
    fn layer(self, inputs: usize, outputs: usize, heads: usize) -> Layer<[usize; 2]> {
        let beside = match self {
            Self::Gcn | Self::Mlp => Beside::Nothing,
            Self::GraphSage => Beside::OwnWeight([inputs, outputs]),
            Self::Gat => {
                let vectors = [outputs / heads, heads];
                Beside::Attention { source: vectors, target: vectors }
            }
        };
        Layer { weight: [inputs, outputs], bias: [1, outputs], beside }
    }

    /// Initial values of parameters with these shapes, row-major, uniform between the two bounds of each parameter.
    pub(crate) fn initial_values(self, layers: &[Layer<[usize; 2]>], rng: &mut ChaCha8Rng) -> Vec<Layer<Vec<f32>>> {
        let mut uniform = |&[rows, columns]: &[usize; 2], bound: f32| -> Vec<f32> {
            (0..rows * columns).map(|_| bound * (2.0 * rng.random::<f32>() - 1.0)).collect()
        };
        let initial = |shapes: &Layer<[usize; 2]>| {
            let bounds = self.initial_bounds(shapes);
            shapes.as_ref().zip(bounds).map(|(shape, bound)| uniform(shape, bound))
        };
        layers.iter().map(initial).collect()
    }

    /// Largest absolute initial value of every parameter of a layer, as in PyTorch Geometric.
    ///
    /// # Source
    /// GCN, GAT: Glorot, Bengio (2010), equation 16, `√(6 / (rows + columns))`, with a bias of zero. GraphSAGE, MLP:
    /// the default of PyTorch's linear layers, `1 / √inputs`.
    fn initial_bounds(self, shapes: &Layer<[usize; 2]>) -> Layer<f32> {
        match self {
            Self::Gcn | Self::Gat => {
                let glorot = shapes.as_ref().map(|[rows, columns]| (6.0 / (rows + columns) as f32).sqrt());
                Layer { bias: 0.0, ..glorot }
            }
            Self::GraphSage | Self::Mlp => {
                let [inputs, _] = shapes.weight;
                shapes.as_ref().map(|_| 1.0 / (inputs as f32).sqrt())
            }
        }
    }
}

/// Name (`layer1.weight`) and part of every parameter of a network, layer by layer.
pub(crate) fn named<T>(layers: impl IntoIterator<Item = Layer<T>>) -> Vec<(String, T)> {
    let numbered = (1..).zip(layers);
    numbered
        .flat_map(|(number, layer)| {
            let parts = layer.named().into_iter();
            parts.map(move |(role, part)| (format!("layer{number}.{role}"), part))
        })
        .collect()
}
