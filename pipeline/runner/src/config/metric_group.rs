//! Groups of scores.

use serde::Deserialize;

use super::Config;

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

impl Config {
    /// The groups of scores that the config names.
    pub(crate) fn named_metrics(&self) -> &[MetricGroup] {
        let named = self.source.resolved.get("evaluate").and_then(|evaluate| evaluate.get("metrics"));
        if named.is_some() { &self.metrics } else { &[] }
    }
}
