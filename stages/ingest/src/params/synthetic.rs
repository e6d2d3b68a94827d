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

/// Largest spread of degrees that is drawn.
const MOST_SPREAD: f64 = 10.0;
/// Classes are numbered in 16 bits.
const MOST_CLASSES: usize = 65_535;
/// Nodes and words are numbered in 32 bits.
const MOST: usize = u32::MAX as usize;

/// A field of the table outside its range.
#[derive(Debug)]
pub struct WrongField {
    /// Its name.
    pub field: &'static str,
    /// Its value and its range.
    pub problem: String,
}

impl SyntheticParams {
    /// Whether a graph can be drawn.
    ///
    /// # Errors
    /// Names the field, its value and its range.
    pub fn check(&self) -> Result<(), WrongField> {
        let wrong = |field, problem| Err(WrongField { field, problem });
        if self.nodes < 3 || self.nodes > MOST {
            return wrong("nodes", format!("{} is not between 3 and {MOST}", self.nodes));
        }
        if self.classes < 2 || self.classes > self.nodes.min(MOST_CLASSES) {
            return wrong(
                "classes",
                format!("{} is not between 2 and the number of nodes, or {MOST_CLASSES} at most", self.classes),
            );
        }
        if !(self.mean_degree > 0.0 && self.mean_degree <= (self.nodes - 1) as f64 / 4.0) {
            return wrong(
                "mean_degree",
                format!("{} is not positive and at most a quarter of the nodes", self.mean_degree),
            );
        }
        if !(self.exponent > 2.0 && self.exponent.is_finite()) {
            return wrong("exponent", format!("{} is not above 2", self.exponent));
        }
        if let Some(spread) = self.degree_spread
            && !(spread > 0.0 && spread <= MOST_SPREAD)
        {
            return wrong("degree_spread", format!("{spread} is not positive and at most {MOST_SPREAD}"));
        }
        let shares = [
            ("homophily", self.homophily),
            ("topic_share", self.topic_share),
            ("ambiguous_share", self.ambiguous_share),
        ];
        for (field, share) in shares {
            if !(0.0..=1.0).contains(&share) {
                return wrong(field, format!("{share} does not lie in [0, 1]"));
            }
        }
        if self.features > MOST {
            return wrong("features", format!("{} is more than {MOST}", self.features));
        }
        if self.features > 0 && !(self.words > 0.0 && self.words <= self.features as f64 / 2.0) {
            return wrong("words", format!("{} is not positive and at most half the features", self.words));
        }
        Ok(())
    }
}
