//! The features that a network reads, of some nodes alone.

use veilgraph_contract::Invalid;
use veilgraph_graph::{EstimatedFeatures, Features, Propagation};
use veilgraph_nn::InputFeatures;

/// Features of one kind or the other.
pub(super) enum Rows {
    Public(Features),
    Estimated(EstimatedFeatures),
}

impl Rows {
    /// The features of whichever kind is given.
    ///
    /// # Errors
    /// When none or both are.
    pub(super) fn new(features: Option<Features>, estimated: Option<EstimatedFeatures>) -> Result<Self, Invalid> {
        match (features, estimated) {
            (Some(features), None) => Ok(Self::Public(features)),
            (None, Some(estimated)) => Ok(Self::Estimated(estimated)),
            _ => Err(Invalid("give public or estimated features, and not both".to_owned())),
        }
    }

    /// Refuses features of other nodes than there are.
    pub(super) fn check(&self, n_nodes: usize) -> Result<(), Invalid> {
        let found = match self {
            Self::Public(features) => features.0.n_rows(),
            Self::Estimated(estimated) => estimated.values.n_nodes(),
        };
        if found == n_nodes {
            Ok(())
        } else {
            Err(Invalid(format!("there are features of {found} nodes, and the true graph has {n_nodes}")))
        }
    }

    /// Whether a node's features are averaged with those of others before a network reads them.
    pub(super) fn are_propagated(&self) -> bool {
        matches!(self, Self::Estimated(estimated) if estimated.propagation != Propagation::default())
    }

    /// As a network reads them.
    pub(super) fn input(&self) -> InputFeatures<'_> {
        match self {
            Self::Public(features) => features.into(),
            Self::Estimated(estimated) => estimated.into(),
        }
    }

    /// The rows of these nodes, in their order; a node may come several times.
    pub(super) fn of(&self, nodes: &[u32]) -> Self {
        match self {
            Self::Public(features) => Self::Public(Features(features.0.of_rows(nodes))),
            Self::Estimated(EstimatedFeatures { values, propagation }) => {
                Self::Estimated(EstimatedFeatures { values: values.of_nodes(nodes), propagation: *propagation })
            }
        }
    }

    /// All features of one node.
    pub(super) fn row(&self, node: u32) -> Vec<f64> {
        match self {
            Self::Public(features) => {
                let mut row = vec![0.0; features.0.n_columns()];
                let (columns, values) = features.0.row(node as usize);
                columns.iter().zip(values).for_each(|(&column, &value)| row[column as usize] = f64::from(value));
                row
            }
            Self::Estimated(estimated) => estimated.values.row(node as usize).into_iter().map(f64::from).collect(),
        }
    }
}
