//! This module holds matrices of which every entry is stored, and their products with narrow dense ones.

use veilgraph_contract::Invalid;

use crate::dense_product::{Sums, dense_adjoint_product, dense_product};
use crate::product_rows::ProductRows;

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

    /// Returns the matrix of these rows, in this order; a row may come several times.
    ///
    /// # Panics
    /// Panics when there is no such row.
    #[must_use]
    pub fn of_rows(&self, rows: &[u32]) -> Self {
        let values = rows.iter().flat_map(|&row| self.row(row as usize)).copied().collect();
        Self { n_rows: rows.len(), n_columns: self.n_columns, values }
    }

    /// Returns the product of this matrix and the dense matrix `x`.
    ///
    /// # Shapes
    /// `x`: `[n_columns, width]`, row-major. The product is `[n_rows, width]`, row-major.
    ///
    /// # Panics
    /// Panics when `x` has another length.
    #[must_use]
    pub fn multiply(&self, x: &[f32], width: usize) -> Vec<f32> {
        assert_eq!(x.len(), self.n_columns * width, "x must have n_columns rows");
        if self.n_columns == 0 {
            return vec![0.0; self.n_rows * width];
        }
        dense_product(&self.values, x, width, Sums::Single, ProductRows::All)
    }

    /// Returns the product of the transposed matrix and the dense matrix `y`.
    ///
    /// # Shapes
    /// `y`: `[n_rows, width]`, row-major. The product is `[n_columns, width]`, row-major.
    ///
    /// # Panics
    /// Panics when `y` has another length.
    #[must_use]
    pub fn multiply_adjoint(&self, y: &[f32], width: usize) -> Vec<f32> {
        assert_eq!(y.len(), self.n_rows * width, "y must have n_rows rows");
        if self.n_rows == 0 {
            return vec![0.0; self.n_columns * width];
        }
        dense_adjoint_product(&self.values, y, width, ProductRows::All)
    }
}

#[cfg(test)]
mod tests;
