//! The graph of a dataset as it is given: with fixed weights, or with links whose weights are learned.

use crate::learned::ReportedLinks;
use veilgraph_operator::GraphOperator;

/// A graph to train on.
pub enum TrainingGraph {
    /// The weights are given and stay.
    Fixed(GraphOperator),
    /// The weights start at the reported links and are learned by each model for itself.
    Learned(ReportedLinks),
}

impl From<GraphOperator> for TrainingGraph {
    fn from(graph: GraphOperator) -> Self {
        Self::Fixed(graph)
    }
}

impl From<ReportedLinks> for TrainingGraph {
    fn from(links: ReportedLinks) -> Self {
        Self::Learned(links)
    }
}
