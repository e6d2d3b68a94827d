//! What a layer reads of every node.

use veilgraph_graph::{FeatureMatrix, Propagation, SparseMatrix};
use veilgraph_nn::InputFeatures;

use super::InfluenceError;
use super::network::Matrix;

/// What a layer reads of every node.
pub(super) enum Inputs {
    /// Listed features.
    Listed { width: usize, rows: Vec<Vec<(u32, f64)>> },
    /// Every number, row-major `[n, width]`.
    Dense { width: usize, values: Vec<f64> },
}

impl Inputs {
    /// Inputs times a matrix, row-major.
    ///
    /// # Errors
    /// When the matrix has another number of rows.
    pub(super) fn times(&self, matrix: &Matrix) -> Result<Vec<f64>, InfluenceError> {
        let width = match self {
            Self::Listed { width, .. } | Self::Dense { width, .. } => *width,
        };
        if matrix.rows != width {
            return Err(InfluenceError::Model(format!(
                "it reads {} numbers of a node, and there are {width}",
                matrix.rows
            )));
        }
        Ok(match self {
            Self::Dense { values, .. } => matrix.times(values),
            Self::Listed { rows, .. } => rows
                .iter()
                .flat_map(|row| {
                    let mut sums = vec![0.0; matrix.columns];
                    for &(column, value) in row {
                        let weights = matrix.row(column as usize);
                        sums.iter_mut().zip(weights).for_each(|(sum, weight)| *sum += value * weight);
                    }
                    sums
                })
                .collect(),
        })
    }
}

/// The features that a network reads, where those of a node are its own.
pub(super) fn features_of(features: InputFeatures, n_nodes: usize) -> Result<Inputs, InfluenceError> {
    let listed = |matrix: &SparseMatrix| Inputs::Listed {
        width: matrix.n_columns(),
        rows: (0..matrix.n_rows())
            .map(|row| {
                let (columns, values) = matrix.row(row);
                columns.iter().copied().zip(values.iter().map(|&value| f64::from(value))).collect()
            })
            .collect(),
    };
    let (found, inputs) = match features {
        InputFeatures::Public(features) => (features.0.n_rows(), listed(&features.0)),
        InputFeatures::Estimated(estimated) => {
            if estimated.propagation != Propagation::default() {
                return Err(InfluenceError::Propagated);
            }
            let found = estimated.values.n_nodes();
            let inputs = match &estimated.values {
                FeatureMatrix::Sparse { fill, entries } if *fill == 0.0 => listed(entries),
                values => every_number(values),
            };
            (found, inputs)
        }
    };
    if found == n_nodes { Ok(inputs) } else { Err(InfluenceError::Mismatch(n_nodes, found)) }
}

fn every_number(matrix: &FeatureMatrix) -> Inputs {
    let values = (0..matrix.n_nodes()).flat_map(|node| matrix.row(node)).map(f64::from).collect();
    Inputs::Dense { width: matrix.n_features(), values }
}
