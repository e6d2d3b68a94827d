//! What the curator holds.

use veilgraph_contract::Invalid;
use veilgraph_graph::{AdjacencyList, Labels, Nodes, SparseMatrix, Split};

/// What the curator holds.
pub struct Data {
    /// What each node is used for.
    pub nodes: Nodes,
    /// Links of all nodes.
    pub links: AdjacencyList,
    /// Features of all nodes, each row of the same norm.
    pub features: SparseMatrix,
    /// Number of classes.
    pub n_classes: usize,
    /// Training nodes with their classes.
    pub training: Vec<(u32, u16)>,
    /// Validation nodes with their classes.
    pub validation: Vec<(u32, u16)>,
}

impl Data {
    /// Puts the artifacts together.
    ///
    /// # Errors
    /// When they are about different graphs, or no training node has a label.
    pub fn new(nodes: Nodes, links: AdjacencyList, features: &SparseMatrix, labels: &Labels) -> Result<Self, Invalid> {
        let n = nodes.splits.len();
        if links.n_nodes() != n || features.n_rows() != n {
            return Err(Invalid(format!(
                "{n} nodes are listed, {} have links and {} have features; ingest the graph again",
                links.n_nodes(),
                features.n_rows()
            )));
        }
        let [training, validation] =
            [Split::Train, Split::Validation].map(|split| labels.of_nodes(&nodes.members(split)));
        if training.is_empty() {
            return Err(Invalid("no training node has a label; choose another split".into()));
        }
        Ok(Self { n_classes: labels.n_classes(), nodes, links, features: scaled(features)?, training, validation })
    }

    /// Number of nodes.
    #[must_use]
    pub fn n_nodes(&self) -> usize {
        self.nodes.splits.len()
    }

    /// Whether a node is a training node.
    #[must_use]
    pub fn is_training(&self, node: u32) -> bool {
        self.nodes.splits[node as usize] == Split::Train
    }

    /// Links whose ends are both training nodes, or both not. No link crosses: a model that was trained on the ones is
    /// applied to the others (the inductive setting).
    #[must_use]
    pub fn neighbours_on_one_side(&self, node: u32) -> Vec<u32> {
        let side = self.is_training(node);
        let all = self.links.neighbours(node as usize).iter().copied();
        all.filter(|&other| self.is_training(other) == side).collect()
    }
}

/// Norm to which every row of features is scaled.
const FEATURE_NORM: f64 = 4.0;

/// Squared norm of every row of features that is not zero: what initial weights are scaled by.
pub(crate) const SQUARED_FEATURE_NORM: f32 = (FEATURE_NORM * FEATURE_NORM) as f32;

/// The rows, each scaled to the same norm by itself. A number that is the same for all, such as their mean norm, would be
/// released with the initial weights.
fn scaled(features: &SparseMatrix) -> Result<SparseMatrix, Invalid> {
    let row = |node: usize| -> Vec<(u32, f32)> {
        let (columns, values) = features.row(node);
        let norm = values.iter().map(|value| f64::from(*value) * f64::from(*value)).sum::<f64>().sqrt();
        let scale = if norm > 0.0 { FEATURE_NORM / norm } else { 0.0 };
        columns.iter().zip(values).map(|(&column, &value)| (column, (f64::from(value) * scale) as f32)).collect()
    };
    SparseMatrix::from_rows(features.n_columns(), (0..features.n_rows()).map(row).collect::<Vec<_>>())
}
