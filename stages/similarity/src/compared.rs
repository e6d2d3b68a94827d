//! This module takes up the features of the nodes, public or estimated, to compare the nodes by.

use veilgraph_contract::Invalid;
use veilgraph_graph::{EstimatedFeatures, FeatureMatrix, Features};
use veilgraph_nn::InputFeatures;

use crate::class_network::LENGTH;
use crate::cosine::{Directions, all_entries, column_means, is_dense, listed_entries};
use crate::cosine_join::n_common;
use crate::effort::{MOST_MINUTES, refuse_long};

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

    /// Returns the features with the length from which networks learn in few epochs ([`LENGTH`]).
    ///
    /// Of sparse public features, such as words, those of every node get this length. Elsewhere the length of a node's
    /// features may say something about the node, and all are multiplied by one factor, which gives this length to their
    /// deviations from the mean of all nodes.
    ///
    /// # Errors
    /// Fails when a feature is not finite afterwards.
    pub(crate) fn with_length(self) -> Result<Self, Invalid> {
        match self {
            Self::Public(Features(matrix)) => {
                let scaled = if is_dense(&matrix) {
                    let shape = [matrix.n_rows(), matrix.n_columns()];
                    let factor = factor(mean_squared_deviation(shape, listed_entries(&matrix)));
                    matrix.with_scaled_rows(|_| factor)?
                } else {
                    let square = |&value: &f32| f64::from(value).powi(2);
                    matrix.with_scaled_rows(|values| factor(values.iter().map(square).sum()))?
                };
                Ok(Self::Public(Features(scaled)))
            }
            Self::Estimated(EstimatedFeatures { values, .. }) => {
                let shape = [values.n_nodes(), values.n_features()];
                let squared_deviation = match &values {
                    FeatureMatrix::Dense(matrix) => mean_squared_deviation(shape, all_entries(matrix)),
                    // The value that all entries have in common deviates from nothing.
                    FeatureMatrix::Sparse { entries, .. } => mean_squared_deviation(shape, listed_entries(entries)),
                };
                let scaled = values.rescaled(0.0, factor(squared_deviation))?;
                Ok(Self::Estimated(EstimatedFeatures::unpropagated(scaled)))
            }
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
    /// Fails when an entry is not finite, and when there are so many nodes with dense features, some of them negative, that to
    /// compare all of them would take hours.
    pub(crate) fn directions(&self) -> Result<Directions, Invalid> {
        let directions = match self {
            Self::Public(features) => Directions::new(features),
            Self::Estimated(features) => Directions::of_estimates(&features.values)?,
        };
        if !directions.are_positive() {
            refuse_long(directions.by_node().n_rows(), 2.0 * n_common(directions.by_feature()), MOST_MINUTES)?;
        }
        Ok(directions)
    }
}

/// Returns the mean over rows of the squared distance from the mean row, for a matrix of this shape, `[rows, columns]`.
fn mean_squared_deviation(shape: [usize; 2], entries: impl Iterator<Item = (u32, f32)> + Clone) -> f64 {
    let of_mean: f64 = column_means(shape, entries.clone()).iter().map(|mean| mean.powi(2)).sum();
    let squares: f64 = entries.map(|(_, value)| f64::from(value).powi(2)).sum();
    // Of rows that are all the same, rounding may leave a little.
    let deviation = squares / shape[0] as f64 - of_mean;
    if deviation > 1e-9 * of_mean { deviation } else { 0.0 }
}

/// Returns what rows of this mean squared length are multiplied by, so that its root is [`LENGTH`]; 1 where there is no length to
/// change.
fn factor(squared_length: f64) -> f32 {
    let factor = (LENGTH / squared_length.sqrt()) as f32;
    if factor.is_finite() { factor } else { 1.0 }
}

#[cfg(test)]
mod tests;
