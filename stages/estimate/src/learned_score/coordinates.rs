//! This module describes nodes by the leading directions of their features.

use veilgraph_contract::Invalid;
use veilgraph_graph::{Features, SparseMatrix};

use super::mixed;
use crate::orthonormal::orthonormalize;

/// A node has so many coordinates.
pub(crate) const RANK: usize = 24;

/// Holds the coordinates of all nodes, each row of length 1, or of zeros for a node without features.
///
/// # Shapes
/// `values`: `[n, RANK]`.
#[derive(Clone)]
pub(crate) struct Coordinates {
    values: Vec<[f32; RANK]>,
}

impl Coordinates {
    /// Finds the leading directions of the features and the coordinates along them.
    ///
    /// A feature that few nodes have weighs much, as in the cosines of the stage `similarity`. Where more than half of all
    /// entries are given, as in embeddings, values are taken as they are.
    ///
    /// # Errors
    /// Fails when the features break an invariant of a matrix.
    ///
    /// # Source
    /// Halko, Martinsson, Tropp (2011), Finding structure with randomness, algorithm 4.4 (subspace iteration).
    pub(crate) fn new(features: &Features) -> Result<Self, Invalid> {
        /// After so many passes the leading directions hardly change.
        const PASSES: usize = 12;
        let matrix = weighted(&features.0)?;
        let transposed = matrix.transposed();
        let n_features = matrix.n_columns();
        // Numbers in [−1, 1) that look random and are always the same.
        let start = |index: usize| (mixed(index as u64) >> 11) as f64 / (1_u64 << 52) as f64 - 1.0;
        let mut directions = orthonormal((0..n_features * RANK).map(start));
        for _ in 0..PASSES {
            let product = transposed.multiply(&matrix.multiply(&directions, RANK), RANK);
            directions = orthonormal(product.into_iter().map(f64::from));
        }
        let mut values = matrix.multiply(&directions, RANK).as_chunks::<RANK>().0.to_vec();
        for row in &mut values {
            to_length_1(row);
        }
        Ok(Self { values })
    }

    /// Takes these coordinates.
    ///
    /// # Shapes
    /// `values`: `[n, RANK]`.
    #[cfg(test)]
    pub(crate) fn from_values(values: Vec<[f32; RANK]>) -> Self {
        Self { values }
    }

    /// Returns the coordinates of a node, `[RANK]`.
    #[inline]
    pub(crate) fn row(&self, node: usize) -> &[f32; RANK] {
        &self.values[node]
    }
}

/// Makes the columns orthogonal and of length 1.
///
/// # Shapes
/// `columns` and the result: `[n, RANK]`, row-major.
fn orthonormal(columns: impl Iterator<Item = f64>) -> Vec<f32> {
    let mut columns: Vec<f64> = columns.collect();
    orthonormalize(&mut columns, RANK);
    columns.into_iter().map(|value| value as f32).collect()
}

/// Weighs the features of each node and scales its row to length 1.
fn weighted(matrix: &SparseMatrix) -> Result<SparseMatrix, Invalid> {
    let n = matrix.n_rows();
    let are_values_told = 2 * matrix.n_entries() > n * matrix.n_columns();
    let mut counts = vec![0.0; matrix.n_columns()];
    (0..n).flat_map(|node| matrix.row(node).0).for_each(|&feature| counts[feature as usize] += 1.0);
    let rarities: Vec<f32> = counts.iter().map(|&count| libm::log(n as f64 / f64::max(count, 1.0)) as f32).collect();
    let rows = (0..n).map(|node| {
        let (features, values) = matrix.row(node);
        let weigh = |(&feature, &value): (&u32, &f32)| {
            (feature, if are_values_told { value } else { rarities[feature as usize] })
        };
        let (columns, mut weights): (Vec<u32>, Vec<f32>) = features.iter().zip(values).map(weigh).unzip();
        to_length_1(&mut weights);
        columns.into_iter().zip(weights).collect()
    });
    SparseMatrix::from_rows(matrix.n_columns(), rows)
}

/// Scales a vector to length 1, unless it is 0.
fn to_length_1(vector: &mut [f32]) {
    let length = vector.iter().map(|&value| f64::from(value).powi(2)).sum::<f64>().sqrt();
    if length > 0.0 {
        vector.iter_mut().for_each(|value| *value = (f64::from(*value) / length) as f32);
    }
}
