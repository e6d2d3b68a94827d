//! This module holds the public features of the nodes.

use veilgraph_contract::{Artifact, Column, ColumnType, Facts, Invalid, Public, Zone, take};

use crate::NODES_PER_BLOCK;
use crate::sparse::SparseMatrix;

/// Holds what the server knows about the nodes: one row of features for each.
///
/// # Shapes
/// The matrix is `[n_nodes, n_features]`.
#[derive(Clone, Debug, PartialEq)]
pub struct Features(pub SparseMatrix);

// In link-local privacy features are public: only the links are hidden.
impl Public for Features {}

impl Artifact for Features {
    const NAME: &'static str = "features";
    const ZONE: Zone = Zone::Public;
    const COLUMNS: &'static [(&'static str, ColumnType)] =
        &[("node", ColumnType::U32), ("feature", ColumnType::U32), ("value", ColumnType::F32)];

    fn facts(&self) -> Facts {
        Facts::default().with("n_nodes", self.0.n_rows()).with("n_features", self.0.n_columns())
    }

    fn blocks(&self) -> Box<dyn Iterator<Item = Vec<Column>> + '_> {
        let matrix = &self.0;
        Box::new((0..matrix.n_rows()).step_by(NODES_PER_BLOCK).map(|first| {
            let last = (first + NODES_PER_BLOCK).min(matrix.n_rows());
            let nodes = (first..last).flat_map(|node| vec![node as u32; matrix.row(node).0.len()]).collect();
            let (columns, values) = matrix.rows(first..last);
            vec![Column::U32(nodes), Column::U32(columns.to_vec()), Column::F32(values.to_vec())]
        }))
    }

    fn from_blocks(facts: &Facts, blocks: &mut dyn Iterator<Item = Vec<Column>>) -> Result<Self, Invalid> {
        let mut rows = vec![Vec::new(); facts.get("n_nodes")?];
        for block in blocks {
            let mut block = block.into_iter();
            let nodes: Vec<u32> = take(&mut block)?;
            let columns: Vec<u32> = take(&mut block)?;
            let values: Vec<f32> = take(&mut block)?;
            for ((node, column), value) in nodes.into_iter().zip(columns).zip(values) {
                let row = rows.get_mut(node as usize).ok_or_else(|| Invalid(format!("node {node} does not exist")))?;
                row.push((column, value));
            }
        }
        SparseMatrix::from_rows(facts.get("n_features")?, rows).map(Self)
    }

    /// Counts the rows, and the entries once they are stored.
    fn footprint(facts: &Facts, stored: u64) -> Result<u64, Invalid> {
        let rows = facts.get::<u64>("n_nodes")?.saturating_mul(size_of::<Vec<(u32, f32)>>() as u64);
        Ok(rows.saturating_add(stored))
    }
}

#[cfg(test)]
mod tests;
