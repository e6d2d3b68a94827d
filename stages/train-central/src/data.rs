//! What the curator holds.

use veilgraph_contract::Invalid;
use veilgraph_graph::{AdjacencyList, Labels, Nodes, SparseMatrix, Split};

/// What the curator holds.
pub struct Data {
    /// What each node is used for.
    pub nodes: Nodes,
    /// Links of all nodes.
    pub links: AdjacencyList,
    /// Features of all nodes.
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
    pub fn new(nodes: Nodes, links: AdjacencyList, features: SparseMatrix, labels: &Labels) -> Result<Self, Invalid> {
        let n = nodes.splits.len();
        if links.n_nodes() != n || features.n_rows() != n {
            return Err(Invalid(format!(
                "{n} nodes are listed, {} have links and {} have features; ingest the graph again",
                links.n_nodes(),
                features.n_rows()
            )));
        }
        let of = |split: Split| -> Vec<(u32, u16)> {
            let members = nodes.members(split).into_iter();
            members.filter_map(|node| labels.class(node).map(|class| (node, class))).collect()
        };
        let (training, validation) = (of(Split::Train), of(Split::Validation));
        if training.is_empty() {
            return Err(Invalid("no training node has a label; choose another split".into()));
        }
        Ok(Self { n_classes: labels.n_classes(), nodes, links, features, training, validation })
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

    /// Mean squared norm of a row of features: what initial weights are scaled by.
    #[must_use]
    pub fn mean_square(&self) -> f32 {
        let squares =
            (0..self.n_nodes()).flat_map(|node| self.features.row(node).1).map(|value| f64::from(value * value));
        (squares.sum::<f64>() / self.n_nodes().max(1) as f64) as f32
    }
}
