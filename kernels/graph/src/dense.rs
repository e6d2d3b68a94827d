//! This module holds matrices of which every entry is stored.

use veilgraph_contract::Invalid;

/// This matrix stores every entry, row by row.
///
/// # Shapes
/// `values`: `[n_rows, n_columns]`, row-major.
#[derive(Clone, Debug, PartialEq)]
pub struct DenseMatrix {
    n_rows: usize,
    n_columns: usize,
    values: Vec<f32>,
}

impl DenseMatrix {
    /// Builds the matrix from row-major `values`.
    ///
    /// # Errors
    /// Fails when there are not `n_rows · n_columns` values, or when one is not finite; the message names the row.
    pub fn new(n_rows: usize, n_columns: usize, values: Vec<f32>) -> Result<Self, Invalid> {
        if n_rows.checked_mul(n_columns) != Some(values.len()) {
            return Err(Invalid(format!("{} values for {n_rows} rows of {n_columns}", values.len())));
        }
        if let Some(at) = values.iter().position(|value| !value.is_finite()) {
            let (row, column) = (at / n_columns, at % n_columns);
            return Err(Invalid(format!("row {row}, column {column}: the value {} is not finite", values[at])));
        }
        Ok(Self { n_rows, n_columns, values })
    }

    /// Returns the number of rows.
    #[must_use]
    pub fn n_rows(&self) -> usize {
        self.n_rows
    }

    /// Returns the number of columns.
    #[must_use]
    pub fn n_columns(&self) -> usize {
        self.n_columns
    }

    /// Returns the values, row-major.
    #[must_use]
    pub fn values(&self) -> &[f32] {
        &self.values
    }

    /// Returns the values of `row`.
    #[must_use]
    pub fn row(&self, row: usize) -> &[f32] {
        &self.values[row * self.n_columns..(row + 1) * self.n_columns]
    }
}
