//! The table `[ingest.synthetic]`.

use serde::{Deserialize, Serialize};

/// A degree-corrected block model with power-law or log-normal degrees, homophilous classes and words as features.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SyntheticParams {
    /// The number of nodes.
    pub nodes: usize,
    /// The number of classes.
    pub classes: usize,
    /// The mean number of links of a node.
    pub mean_degree: f64,
    /// The exponent of the power law of degrees, above 2.
    pub exponent: f64,
    /// The standard deviation of the degrees over their mean. With it, degrees are log-normal and `exponent` is not read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub degree_spread: Option<f64>,
    /// The share of links inside a class.
    pub homophily: f64,
    /// The number of different words; 0 gives no features.
    pub features: usize,
    /// The mean number of words of a node.
    pub words: f64,
    /// The share of a node's words that come from the topic of its class.
    pub topic_share: f64,
    /// The share of nodes that stand between two classes: half of their words and links follow a second one, so that no
    /// network can tell their class.
    pub ambiguous_share: f64,
    /// The seed of the graph.
    pub seed: u64,
}

impl Default for SyntheticParams {
    /// The size and shape of Cora.
    fn default() -> Self {
        Self {
            nodes: 2708,
            classes: 7,
            mean_degree: 3.9,
            exponent: 2.6,
            degree_spread: None,
            homophily: 0.81,
            features: 1433,
            words: 18.0,
            topic_share: 0.52,
            ambiguous_share: 0.0,
            seed: 0,
        }
    }
}
