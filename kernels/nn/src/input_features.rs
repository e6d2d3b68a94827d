//! Features as a dataset is given them: public ones, or ones that a server worked out.

use veilgraph_graph::{EstimatedFeatures, Features};

/// What a network reads about every node.
#[derive(Clone, Copy, Debug)]
pub enum InputFeatures<'a> {
    /// Public features, used as they are.
    Public(&'a Features),
    /// Features that a server worked out, propagated over the graph of the dataset.
    Estimated(&'a EstimatedFeatures),
}

impl InputFeatures<'_> {
    /// Number of nodes.
    pub(crate) fn n_nodes(self) -> usize {
        match self {
            Self::Public(features) => features.0.n_rows(),
            Self::Estimated(features) => features.values.n_nodes(),
        }
    }

    /// Number of features of a node.
    pub(crate) fn n_features(self) -> usize {
        match self {
            Self::Public(features) => features.0.n_columns(),
            Self::Estimated(features) => features.values.n_features(),
        }
    }
}

impl<'a> From<&'a Features> for InputFeatures<'a> {
    fn from(features: &'a Features) -> Self {
        Self::Public(features)
    }
}

impl<'a> From<&'a EstimatedFeatures> for InputFeatures<'a> {
    fn from(features: &'a EstimatedFeatures) -> Self {
        Self::Estimated(features)
    }
}

#[cfg(test)]
mod tests;
