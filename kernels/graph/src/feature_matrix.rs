//! This module holds features of which every entry may be set, as a dense matrix or around one common value.

use veilgraph_contract::{Column, ColumnType, Facts, Invalid, take};

use crate::NODES_PER_BLOCK;
use crate::dense::DenseMatrix;
use crate::sparse::SparseMatrix;

/// Holds one row of features for each node. No entry is taken for zero because it is not listed: reports about private
/// features have noise in every entry, or say nothing about most of them.
#[derive(Clone, Debug, PartialEq)]
pub enum FeatureMatrix {
    /// Every entry is stored.
    Dense(DenseMatrix),
    /// Every entry is `fill` plus what is listed for it.
    Sparse {
        /// The value of an entry that is not listed.
        fill: f32,
        /// What is added to it.
        entries: SparseMatrix,
    },
}

/// The columns of an artifact that holds such a matrix. A node whose list `features` is empty has a value for every
/// feature, in order.
pub const FEATURE_COLUMNS: &[(&str, ColumnType)] =
    &[("node", ColumnType::U32), ("features", ColumnType::ListU32), ("values", ColumnType::ListF32)];

impl FeatureMatrix {
    /// Returns the number of nodes.
    #[must_use]
    pub fn n_nodes(&self) -> usize {
        match self {
            Self::Dense(matrix) => matrix.n_rows(),
            Self::Sparse { entries, .. } => entries.n_rows(),
        }
    }

    /// Returns the number of features.
    #[must_use]
    pub fn n_features(&self) -> usize {
        match self {
            Self::Dense(matrix) => matrix.n_columns(),
            Self::Sparse { entries, .. } => entries.n_columns(),
        }
    }

    /// Returns the matrix whose entries are `offset + scale · entry`.
    ///
    /// # Errors
    /// Fails when an entry is not finite afterwards.
    pub fn rescaled(self, offset: f32, scale: f32) -> Result<Self, Invalid> {
        match self {
            Self::Dense(matrix) => {
                let (rows, columns) = (matrix.n_rows(), matrix.n_columns());
                let values = matrix.values().iter().map(|value| offset + scale * value).collect();
                DenseMatrix::new(rows, columns, values).map(Self::Dense)
            }
            Self::Sparse { fill, entries } => {
                let rows = (0..entries.n_rows()).map(|row| {
                    let (columns, values) = entries.row(row);
                    columns.iter().copied().zip(values.iter().map(|value| scale * value)).collect()
                });
                let fill = offset + scale * fill;
                if !fill.is_finite() {
                    return Err(Invalid(format!("the common value {fill} of the features is not finite")));
                }
                Ok(Self::Sparse { fill, entries: SparseMatrix::from_rows(entries.n_columns(), rows)? })
            }
        }
    }

    /// Returns the features of these nodes, in this order; a node may come several times.
    ///
    /// # Panics
    /// Panics when there is no such node.
    #[must_use]
    pub fn of_nodes(&self, nodes: &[u32]) -> Self {
        match self {
            Self::Dense(matrix) => Self::Dense(matrix.of_rows(nodes)),
            Self::Sparse { fill, entries } => Self::Sparse { fill: *fill, entries: entries.of_rows(nodes) },
        }
    }

    /// Returns the values of one node, all of them.
    #[must_use]
    pub fn row(&self, node: usize) -> Vec<f32> {
        match self {
            Self::Dense(matrix) => matrix.row(node).to_vec(),
            Self::Sparse { fill, entries } => {
                let mut row = vec![*fill; entries.n_columns()];
                let (columns, values) = entries.row(node);
                columns.iter().zip(values).for_each(|(&column, &value)| row[column as usize] += value);
                row
            }
        }
    }

    /// Returns the facts that rebuild the matrix.
    #[must_use]
    pub fn facts(&self) -> Facts {
        let facts = Facts::default().with("n_nodes", self.n_nodes()).with("n_features", self.n_features());
        match self {
            Self::Dense(_) => facts.with("form", "dense"),
            Self::Sparse { fill, .. } => facts.with("form", "sparse").with("fill", fill),
        }
    }

    /// Returns the rows in blocks, with the columns [`FEATURE_COLUMNS`].
    #[must_use]
    pub fn blocks(&self) -> Box<dyn Iterator<Item = Vec<Column>> + '_> {
        // A dense row is long, so that fewer of them make a block.
        let nodes_per_block = match self {
            Self::Dense(matrix) => ((1 << 22) / matrix.n_columns().max(1)).clamp(1, NODES_PER_BLOCK),
            Self::Sparse { .. } => NODES_PER_BLOCK,
        };
        Box::new((0..self.n_nodes()).step_by(nodes_per_block).map(move |first| {
            let nodes = first..(first + nodes_per_block).min(self.n_nodes());
            let (mut features, mut values) = (Vec::new(), Vec::new());
            for node in nodes.clone() {
                match self {
                    Self::Dense(matrix) => {
                        features.push(Vec::new());
                        values.push(matrix.row(node).to_vec());
                    }
                    Self::Sparse { entries, .. } => {
                        let (columns, listed) = entries.row(node);
                        features.push(columns.to_vec());
                        values.push(listed.to_vec());
                    }
                }
            }
            let nodes = nodes.map(|node| node as u32).collect();
            vec![Column::U32(nodes), Column::ListU32(features), Column::ListF32(values)]
        }))
    }

    /// Rebuilds the matrix.
    ///
    /// # Errors
    /// Fails when rows are missing, out of order or of the wrong width; the message names the node.
    pub fn from_blocks(facts: &Facts, blocks: &mut dyn Iterator<Item = Vec<Column>>) -> Result<Self, Invalid> {
        let (n_nodes, n_features): (usize, usize) = (facts.get("n_nodes")?, facts.get("n_features")?);
        let form: String = facts.get("form")?;
        let is_dense = match form.as_str() {
            "dense" => true,
            "sparse" => false,
            other => return Err(Invalid(format!("`{other}` is no form of features"))),
        };
        let (mut values, mut rows) = (Vec::new(), Vec::new());
        let mut next = 0;
        for block in blocks {
            let mut columns = block.into_iter();
            let nodes: Vec<u32> = take(&mut columns)?;
            let features: Vec<Vec<u32>> = take(&mut columns)?;
            let listed: Vec<Vec<f32>> = take(&mut columns)?;
            for ((node, features), listed) in nodes.into_iter().zip(features).zip(listed) {
                if node as usize != next || next == n_nodes {
                    return Err(Invalid(format!("node {node} stands where node {next} of {n_nodes} should")));
                }
                next += 1;
                if is_dense {
                    if listed.len() != n_features || !features.is_empty() {
                        return Err(Invalid(format!("node {node} has {} of {n_features} values", listed.len())));
                    }
                    values.extend(listed);
                } else {
                    if listed.len() != features.len() {
                        let counts = (features.len(), listed.len());
                        return Err(Invalid(format!(
                            "node {node} names {} features for {} values",
                            counts.0, counts.1
                        )));
                    }
                    rows.push(features.into_iter().zip(listed).collect());
                }
            }
        }
        if next != n_nodes {
            return Err(Invalid(format!("there are rows of {next} nodes, and {n_nodes} nodes")));
        }
        if is_dense {
            return DenseMatrix::new(n_nodes, n_features, values).map(Self::Dense);
        }
        let fill: f32 = facts.get("fill")?;
        if !fill.is_finite() {
            return Err(Invalid(format!("fact `fill` is {fill}, which is not finite")));
        }
        Ok(Self::Sparse { fill, entries: SparseMatrix::from_rows(n_features, rows)? })
    }

    /// Counts the bytes of a dense matrix; a sparse one takes what is stored of it.
    ///
    /// # Errors
    /// Fails when a fact is absent or unreadable.
    pub fn footprint(facts: &Facts, stored: u64) -> Result<u64, Invalid> {
        let (n_nodes, n_features): (u64, u64) = (facts.get("n_nodes")?, facts.get("n_features")?);
        let form: String = facts.get("form")?;
        Ok(if form == "dense" { n_nodes.saturating_mul(n_features).saturating_mul(4) } else { stored })
    }
}

#[cfg(test)]
mod tests;
