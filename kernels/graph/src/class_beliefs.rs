//! This module holds what the server believes about the classes of the nodes.

use veilgraph_contract::{Artifact, Column, ColumnType, Facts, Invalid, Public, Zone, take};

use crate::NODES_PER_BLOCK;

/// Gives every class of every node a probability.
///
/// At a training node, the probabilities are those that the rest of the data gives it: its own label has no direct part in
/// them, so that they are about as sure at training nodes as at test nodes.
#[derive(Clone, Debug, PartialEq)]
pub struct ClassBeliefs {
    n_classes: usize,
    /// Row-major `[n_nodes, n_classes]`.
    probabilities: Vec<f32>,
}

impl ClassBeliefs {
    /// Builds the beliefs from the probabilities of all classes of node 0, then of node 1, and so on.
    ///
    /// # Shapes
    /// `probabilities`: `[n_nodes, n_classes]`, row-major.
    ///
    /// # Errors
    /// Fails when a row is incomplete, or holds a number that is negative or not finite, or does not sum to about 1; the
    /// message names the node.
    pub fn new(n_classes: usize, probabilities: Vec<f32>) -> Result<Self, Invalid> {
        const ROUNDING: f32 = 1e-3;
        if n_classes == 0 || !probabilities.len().is_multiple_of(n_classes) {
            return Err(Invalid(format!("{} probabilities for {n_classes} classes", probabilities.len())));
        }
        let is_row = |row: &[f32]| {
            row.iter().all(|p| p.is_finite() && *p >= 0.0) && (row.iter().sum::<f32>() - 1.0).abs() < ROUNDING
        };
        match probabilities.chunks_exact(n_classes).position(|row| !is_row(row)) {
            Some(node) => Err(Invalid(format!("node {node}: the probabilities of its classes do not sum to 1"))),
            None => Ok(Self { n_classes, probabilities }),
        }
    }

    /// Returns the number of nodes.
    #[must_use]
    pub fn n_nodes(&self) -> usize {
        self.probabilities.len() / self.n_classes
    }

    /// Returns the number of classes.
    #[must_use]
    pub fn n_classes(&self) -> usize {
        self.n_classes
    }

    /// Returns the probability of every class of `node`.
    #[must_use]
    pub fn row(&self, node: usize) -> &[f32] {
        &self.probabilities[node * self.n_classes..(node + 1) * self.n_classes]
    }

    /// Returns all probabilities.
    ///
    /// # Shapes
    /// Returns `[n_nodes, n_classes]`, row-major.
    #[must_use]
    pub fn probabilities(&self) -> &[f32] {
        &self.probabilities
    }
}

// Beliefs are a function of what the server holds: features, labels and reports.
impl Public for ClassBeliefs {}

impl Artifact for ClassBeliefs {
    const NAME: &'static str = "class_beliefs";
    const ZONE: Zone = Zone::Server;
    const COLUMNS: &'static [(&'static str, ColumnType)] =
        &[("node", ColumnType::U32), ("probabilities", ColumnType::ListF32)];

    fn facts(&self) -> Facts {
        Facts::default().with("n_nodes", self.n_nodes()).with("n_classes", self.n_classes)
    }

    fn blocks(&self) -> Box<dyn Iterator<Item = Vec<Column>> + '_> {
        Box::new((0..self.n_nodes()).step_by(NODES_PER_BLOCK).map(|first| {
            let nodes = first..(first + NODES_PER_BLOCK).min(self.n_nodes());
            let rows = nodes.clone().map(|node| self.row(node).to_vec()).collect();
            vec![Column::U32(nodes.map(|node| node as u32).collect()), Column::ListF32(rows)]
        }))
    }

    fn from_blocks(facts: &Facts, blocks: &mut dyn Iterator<Item = Vec<Column>>) -> Result<Self, Invalid> {
        let n_classes: usize = facts.get("n_classes")?;
        let mut probabilities = Vec::new();
        for block in blocks {
            let mut columns = block.into_iter().skip(1);
            for row in take::<Vec<f32>>(&mut columns)? {
                if row.len() != n_classes {
                    return Err(Invalid(format!("{} probabilities for {n_classes} classes", row.len())));
                }
                probabilities.extend(row);
            }
        }
        Self::new(n_classes, probabilities)
    }
}
