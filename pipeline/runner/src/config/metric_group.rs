//! Groups of scores.

use serde::Deserialize;

/// Which scores `[evaluate] metrics` asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MetricGroup {
    /// Accuracy of networks.
    Accuracy,
    /// Error of link probabilities.
    LinkError,
    /// Density of graphs.
    Density,
    /// Error of features.
    FeatureError,
}
