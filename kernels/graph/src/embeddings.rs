//! This module holds vectors that stand for the nodes of a graph.

use veilgraph_contract::{Artifact, Column, ColumnType, Facts, Invalid, Public, Zone, take};

use crate::NODES_PER_BLOCK;
use crate::dense::DenseMatrix;

/// Holds one vector for each node. Two nodes are linked with probability `1 / (1 + e^{-z_i · z_j})`.
///
/// # Shapes
/// The matrix is `[n_nodes, width]`.
#[derive(Clone, Debug, PartialEq)]
pub struct Embeddings(pub DenseMatrix);

impl Embeddings {
    /// Returns the inner product of the vectors of two nodes, which orders pairs as the probability of a link does.
    #[must_use]
    pub fn score(&self, i: u32, j: u32) -> f64 {
        let [left, right] = [i, j].map(|node| self.0.row(node as usize));
        left.iter().zip(right).map(|(&a, &b)| f64::from(a) * f64::from(b)).sum()
    }
}

// They are a function of the server's artifacts alone.
impl Public for Embeddings {}

impl Artifact for Embeddings {
    const NAME: &'static str = "embeddings";
    const ZONE: Zone = Zone::Server;
    const COLUMNS: &'static [(&'static str, ColumnType)] =
        &[("node", ColumnType::U32), ("values", ColumnType::ListF32)];

    fn facts(&self) -> Facts {
        Facts::default().with("n_nodes", self.0.n_rows()).with("width", self.0.n_columns())
    }

    fn blocks(&self) -> Box<dyn Iterator<Item = Vec<Column>> + '_> {
        let n_nodes = self.0.n_rows();
        Box::new((0..n_nodes).step_by(NODES_PER_BLOCK).map(move |first| {
            let nodes = first..(first + NODES_PER_BLOCK).min(n_nodes);
            let values = nodes.clone().map(|node| self.0.row(node).to_vec()).collect();
            vec![Column::U32(nodes.map(|node| node as u32).collect()), Column::ListF32(values)]
        }))
    }

    fn from_blocks(facts: &Facts, blocks: &mut dyn Iterator<Item = Vec<Column>>) -> Result<Self, Invalid> {
        let (n_nodes, width): (usize, usize) = (facts.get("n_nodes")?, facts.get("width")?);
        let (mut values, mut next) = (Vec::new(), 0);
        for block in blocks {
            let mut columns = block.into_iter();
            let (nodes, rows): (Vec<u32>, Vec<Vec<f32>>) = (take(&mut columns)?, take(&mut columns)?);
            for (node, row) in nodes.into_iter().zip(rows) {
                if node as usize != next || row.len() != width {
                    return Err(Invalid(format!("node {node} with {} of {width} values is not the next", row.len())));
                }
                next += 1;
                values.extend(row);
            }
        }
        if next != n_nodes {
            return Err(Invalid(format!("there are vectors of {next} nodes, and {n_nodes} nodes")));
        }
        DenseMatrix::new(n_nodes, width, values).map(Self)
    }

    fn footprint(facts: &Facts, _: u64) -> Result<u64, Invalid> {
        let (n_nodes, width): (u64, u64) = (facts.get("n_nodes")?, facts.get("width")?);
        Ok(n_nodes.saturating_mul(width).saturating_mul(4))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn embeddings_survive_their_table() {
        let values = (0..15).map(|k| k as f32 - 7.0).collect();
        let embeddings = Embeddings(DenseMatrix::new(5, 3, values).expect("finite"));
        let again = Embeddings::from_blocks(&embeddings.facts(), &mut embeddings.blocks()).expect("round trip");
        assert_eq!(again, embeddings);
        assert_eq!(embeddings.score(0, 1), 28.0 + 18.0 + 10.0);
        let facts = Facts::default().with("n_nodes", 6).with("width", 3);
        Embeddings::from_blocks(&facts, &mut embeddings.blocks()).expect_err("a node is missing");
    }
}
