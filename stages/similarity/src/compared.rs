//! This module takes up the features of the nodes, public or estimated, to compare the nodes by.

use veilgraph_contract::Invalid;
use veilgraph_graph::{EstimatedFeatures, Features};
use veilgraph_nn::InputFeatures;

use crate::cosine::Directions;
use crate::cosine_join::n_common;

/// Holds the features that the server has of the nodes.
pub(crate) enum HeldFeatures {
    Public(Features),
    /// They were estimated from reports of the nodes and are not propagated.
    Estimated(EstimatedFeatures),
}

impl HeldFeatures {
    /// Takes the public features, or else the estimated ones.
    ///
    /// # Errors
    /// Fails when there are neither.
    pub(crate) fn new(public: Option<Features>, estimated: Option<EstimatedFeatures>) -> Result<Self, Invalid> {
        match (public, estimated) {
            (Some(public), _) => Ok(Self::Public(public)),
            // Without links there is nothing to propagate over.
            (None, Some(estimated)) => Ok(Self::Estimated(EstimatedFeatures::unpropagated(estimated.values))),
            (None, None) => Err(Invalid("there are no features to compare nodes by".to_owned())),
        }
    }

    /// Returns the number of nodes.
    pub(crate) fn n_nodes(&self) -> usize {
        match self {
            Self::Public(features) => features.0.n_rows(),
            Self::Estimated(features) => features.values.n_nodes(),
        }
    }

    /// Returns the features of these nodes, in this order.
    pub(crate) fn of_nodes(&self, nodes: &[u32]) -> Self {
        match self {
            Self::Public(features) => Self::Public(Features(features.0.of_rows(nodes))),
            Self::Estimated(features) => {
                Self::Estimated(EstimatedFeatures::unpropagated(features.values.of_nodes(nodes)))
            }
        }
    }

    /// Returns the features as a network reads them.
    pub(crate) fn input(&self) -> InputFeatures<'_> {
        match self {
            Self::Public(features) => features.into(),
            Self::Estimated(features) => features.into(),
        }
    }

    /// Returns the features as vectors of length 1.
    ///
    /// # Errors
    /// Fails when an entry is not finite, and when there are so many nodes with dense features that to compare all of them
    /// would take hours.
    pub(crate) fn directions(&self) -> Result<Directions, Invalid> {
        /// So many products take about an hour on two cores.
        const MOST_PRODUCTS: f64 = 1e13;
        let directions = match self {
            Self::Public(features) => Directions::new(features),
            Self::Estimated(features) => Directions::of_estimates(&features.values)?,
        };
        let n_products = n_common(directions.by_feature());
        if !directions.are_positive() && n_products > MOST_PRODUCTS {
            return Err(Invalid(format!(
                "the features of {} nodes are dense, so that every pair has some in common: to compare all pairs takes \
                 {n_products:.0e} products, more than an hour; give sparse features, fewer of them, or none of what compares \
                 nodes (`[estimate] prior = \"beta-model\"`)",
                directions.by_node().n_rows()
            )));
        }
        Ok(directions)
    }
}
