//! Kinds of networks, and their parameters: GCN, GraphSAGE, GAT and MLP.

use rand::RngExt;
use rand::rngs::ChaCha8Rng;
use serde::{Deserialize, Serialize};

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
}

/// A named parameter of one network.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Parameter {
    /// Layer and role.
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
    #[must_use]
    pub fn parameters(self, options: NetworkOptions, n_features: usize, n_classes: usize) -> Vec<(String, [usize; 2])> {
        let mut sizes = vec![options.hidden; options.layers + 1];
        sizes[0] = n_features;
        sizes[options.layers] = n_classes;
        let layers = (1..).zip(sizes.windows(2));
        layers
            .flat_map(|(layer, sizes)| {
                let parameters = self.layer_parameters(sizes[0], sizes[1]);
                parameters.into_iter().map(move |(name, shape)| (format!("layer{layer}.{name}"), shape))
            })
            .collect()
    }

    /// Initial values of parameters with these names and shapes.
    pub(crate) fn initial_values(self, shapes: &[(String, [usize; 2])], rng: &mut ChaCha8Rng) -> Vec<Vec<f32>> {
        let mut fan_in = 0;
        let values = shapes.iter().map(|(name, shape)| {
            if name.contains("weight") {
                fan_in = shape[0];
            }
            self.initial(name, *shape, fan_in, rng)
        });
        values.collect()
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
