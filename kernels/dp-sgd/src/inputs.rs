//! The rows of numbers that a network reads.

use veilgraph_graph::SparseMatrix;

/// One row of numbers for each node.
#[derive(Clone, Debug)]
pub enum Inputs<'a> {
    /// Most entries are zero.
    Sparse(&'a SparseMatrix),
    /// All entries stand one after the other, row by row.
    Dense {
        /// Number of columns.
        width: usize,
        /// `[n_rows, width]`.
        values: &'a [f32],
    },
}

impl Inputs<'_> {
    /// Number of columns.
    #[must_use]
    pub fn width(&self) -> usize {
        match self {
            Self::Sparse(matrix) => matrix.n_columns(),
            Self::Dense { width, .. } => *width,
        }
    }

    /// Number of rows.
    #[must_use]
    pub fn n_rows(&self) -> usize {
        match self {
            Self::Sparse(matrix) => matrix.n_rows(),
            Self::Dense { width, values } => values.len() / (*width).max(1),
        }
    }

    /// Calls `visit` with every entry of a row that is not zero, by ascending column.
    pub(crate) fn visit(&self, row: usize, mut visit: impl FnMut(usize, f32)) {
        match self {
            Self::Sparse(matrix) => {
                let (columns, values) = matrix.row(row);
                columns.iter().zip(values).for_each(|(&column, &value)| visit(column as usize, value));
            }
            Self::Dense { width, values } => {
                let row = &values[row * width..(row + 1) * width];
                row.iter()
                    .enumerate()
                    .filter(|entry| *entry.1 != 0.0)
                    .for_each(|(column, &value)| visit(column, value));
            }
        }
    }

    /// Product of two rows.
    pub(crate) fn product(&self, a: usize, b: usize) -> f32 {
        match self {
            Self::Sparse(matrix) => {
                let ((columns, values), other) = (matrix.row(a), matrix.row(b));
                let (mut sum, mut at) = (0.0, 0);
                for (&column, &value) in columns.iter().zip(values) {
                    at += other.0[at..].partition_point(|&known| known < column);
                    if other.0.get(at) == Some(&column) {
                        sum += value * other.1[at];
                    }
                }
                sum
            }
            Self::Dense { width, values } => {
                let row = |row: usize| &values[row * width..(row + 1) * width];
                row(a).iter().zip(row(b)).map(|(a, b)| a * b).sum()
            }
        }
    }
}
