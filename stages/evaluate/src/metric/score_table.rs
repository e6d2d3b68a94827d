//! The tables that scores are printed in.

use super::{METRICS, Metric};

/// A table of scores.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScoreTable {
    /// Link probabilities against the true links.
    Links,
    /// The links of a graph against the true links.
    Graph,
    /// Features that a server worked out against the true ones.
    Features,
    /// Classes of test nodes.
    Classes,
    /// Links that were held out, told from other pairs by the vectors of their nodes.
    LinkPrediction,
    /// Links that an attacker tells from other pairs.
    Attacks,
    /// Pairs that an attacker claims to be links, who believes in some number of them.
    Claims,
    /// Lower bounds of epsilon.
    Canaries,
}

impl ScoreTable {
    /// All tables, in the order in which they are printed.
    pub const ALL: [Self; 8] = [
        Self::Links,
        Self::Graph,
        Self::Features,
        Self::Classes,
        Self::LinkPrediction,
        Self::Attacks,
        Self::Claims,
        Self::Canaries,
    ];

    /// Title.
    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            Self::Links => "Links",
            Self::Graph => "Graph",
            Self::Features => "Features",
            Self::Classes => "Classification of test nodes",
            Self::LinkPrediction => "Prediction of held-out links",
            Self::Attacks => "Attacks",
            Self::Claims => "What an attacker claims to be links",
            Self::Canaries => "Lower bounds of what a fact costs, from canaries (one run)",
        }
    }

    /// The metrics that it prints, in their order.
    pub fn printed(self) -> impl Iterator<Item = &'static Metric> {
        METRICS.into_iter().filter(move |metric| metric.table == self && metric.is_printed)
    }
}
