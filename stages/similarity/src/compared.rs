//! This module takes up the features of the nodes, public or estimated, to compare the nodes by.

use veilgraph_contract::Invalid;
use veilgraph_graph::{EstimatedFeatures, Features};
use veilgraph_nn::InputFeatures;

use crate::cosine::Directions;

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
    /// Fails when an entry is not finite.
    pub(crate) fn directions(&self) -> Result<Directions, Invalid> {
        match self {
            Self::Public(features) => Ok(Directions::new(features)),
            Self::Estimated(features) => Directions::of_estimates(&features.values),
        }
    }
}
