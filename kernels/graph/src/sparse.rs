//! This module holds sparse matrices by rows and their products with dense ones.

#![expect(clippy::inline_always, reason = "what `dispatch` calls takes its vector width only where it is inlined")]

use std::ops::Range;

use pulp::{Simd, WithSimd};
use rayon::prelude::*;
use veilgraph_contract::Invalid;

use crate::product_rows::ProductRows;
use crate::row_places::{RowPlaces, row_offsets};
use crate::vectors::dispatch;

/// This sparse matrix is stored in compressed rows; the columns of each row ascend.
///
/// # Shapes
/// `offsets`: `[n_rows + 1]`; `columns` and `values`: `[n_entries]`, where row `i` takes `offsets[i]..offsets[i + 1]`.
#[derive(Clone, Debug, PartialEq)]
pub struct SparseMatrix {
    n_columns: usize,
    offsets: Vec<usize>,
    columns: Vec<u32>,
    values: Vec<f32>,
}

/// One pass over the entries sums at most this many columns of the product.
///
/// A lane is one of the independent numbers that vector instructions work on side by side: here, one column.
const MOST_LANES: usize = 16;

impl SparseMatrix {
    /// Builds the matrix from the entries `(column, value)` of each row, with ascending columns; zeros are dropped.
    ///
    /// # Errors
    /// Fails when a column is out of range, repeated or out of order, or a value is not finite; the message names the
    /// row.
    pub fn from_rows(n_columns: usize, rows: impl IntoIterator<Item = Vec<(u32, f32)>>) -> Result<Self, Invalid> {
        let mut matrix = Self { n_columns, offsets: vec![0], columns: Vec::new(), values: Vec::new() };
        for (row, entries) in rows.into_iter().enumerate() {
            let mut previous = None;
            for (column, value) in entries {
                if column as usize >= n_columns {
                    return Err(Invalid(format!("row {row}: column {column} is not below the width, {n_columns}")));
                }
                if previous.is_some_and(|previous| previous >= column) {
                    return Err(Invalid(format!("row {row}: column {column} comes twice or out of order")));
                }
                if !value.is_finite() {
                    return Err(Invalid(format!("row {row}, column {column}: the value {value} is not finite")));
                }
                previous = Some(column);
                if value != 0.0 {
                    matrix.columns.push(column);
                    matrix.values.push(value);
                }
            }
            matrix.offsets.push(matrix.columns.len());
        }
        Ok(matrix)
    }

    /// Returns the number of rows.
    #[must_use]
    pub fn n_rows(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Returns the number of columns.
    #[must_use]
    pub fn n_columns(&self) -> usize {
        self.n_columns
    }

    /// Returns the number of stored entries.
    #[must_use]
    pub fn n_entries(&self) -> usize {
        self.values.len()
    }

    /// Returns the least and the largest value of all entries, unlisted ones (zeros) included; the first is infinite and
    /// the second minus infinity where there is no entry.
    #[must_use]
    pub fn ends(&self) -> [f32; 2] {
        let mut ends = [f32::INFINITY, f32::NEG_INFINITY];
        let mut take = |value: f32| ends = [ends[0].min(value), ends[1].max(value)];
        for row in 0..self.n_rows() {
            let values = self.row(row).1;
            values.iter().for_each(|&value| take(value));
            if values.len() < self.n_columns() {
                take(0.0);
            }
        }
        ends
    }

    /// Returns the columns and the values of the entries of `row`.
    #[must_use]
    pub fn row(&self, row: usize) -> (&[u32], &[f32]) {
        self.rows(row..row + 1)
    }

    /// Returns the matrix of these rows, in this order; a row may come several times.
    ///
    /// # Panics
    /// Panics when there is no such row.
    #[must_use]
    pub fn of_rows(&self, rows: &[u32]) -> Self {
        let mut part = Self { n_columns: self.n_columns, offsets: vec![0], columns: Vec::new(), values: Vec::new() };
        for &row in rows {
            let (columns, values) = self.row(row as usize);
            part.columns.extend_from_slice(columns);
            part.values.extend_from_slice(values);
            part.offsets.push(part.columns.len());
        }
        part
    }

    /// Returns the matrix with every row multiplied by a factor, which `factor` chooses by the values of the row's entries.
    /// An entry stays listed where its value becomes 0.
    ///
    /// # Errors
    /// Fails when a value is not finite afterwards; the message names the row.
    pub fn with_scaled_rows(mut self, factor: impl Fn(&[f32]) -> f32) -> Result<Self, Invalid> {
        for (row, range) in self.offsets.windows(2).enumerate() {
            let values = &mut self.values[range[0]..range[1]];
            let factor = factor(values);
            values.iter_mut().for_each(|value| *value *= factor);
            if let Some(value) = values.iter().find(|value| !value.is_finite()) {
                return Err(Invalid(format!("row {row}: the value {value} is not finite")));
            }
        }
        Ok(self)
    }

    /// Returns the columns and the values of the entries of several `rows`, one row after another.
    pub(crate) fn rows(&self, rows: Range<usize>) -> (&[u32], &[f32]) {
        let range = self.offsets[rows.start]..self.offsets[rows.end];
        (&self.columns[range.clone()], &self.values[range])
    }

    /// Returns the transposed matrix.
    #[must_use]
    pub fn transposed(&self) -> Self {
        let offsets = row_offsets(self.n_columns, self.columns.iter().map(|&column| column as usize));
        let mut places = RowPlaces::new(&offsets);
        let mut columns = vec![0; self.columns.len()];
        let mut values = vec![0.0; self.values.len()];
        for row in 0..self.n_rows() {
            let (row_columns, row_values) = self.row(row);
            for (&column, &value) in row_columns.iter().zip(row_values) {
                let place = places.take(column as usize);
                columns[place] = row as u32;
                values[place] = value;
            }
        }
        Self { n_columns: self.n_rows(), offsets, columns, values }
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
        self.multiply_rows(x, width, ProductRows::All)
    }

    /// Returns the product of this matrix and the dense matrix `x`; of its rows only those are computed that are read.
    ///
    /// # Shapes
    /// They are those of [`Self::multiply`].
    ///
    /// # Panics
    /// Panics when `x` has another length.
    #[must_use]
    pub fn multiply_rows(&self, x: &[f32], width: usize, rows: ProductRows) -> Vec<f32> {
        assert_eq!(x.len(), self.n_columns * width, "x must have n_columns rows");
        let mut product = vec![0.0; self.n_rows() * width];
        let rows_per_task = rows_per_task(self.n_rows(), self.n_entries());
        if self.n_rows() <= rows_per_task {
            dispatch(Multiply { matrix: self, x, width, rows, first: 0, product: &mut product });
        } else {
            let parts = product.par_chunks_mut((rows_per_task * width).max(1)).enumerate();
            parts.for_each(|(task, product)| {
                dispatch(Multiply { matrix: self, x, width, rows, first: task * rows_per_task, product });
            });
        }
        product
    }
}

/// Returns how many rows one thread takes at a time: `ROWS_PER_TASK`, or fewer, so that they have about `ENTRIES_PER_TASK` entries
/// where rows are about equally long. A smaller product is left to the thread that asks for it, since models train side by side.
fn rows_per_task(n_rows: usize, n_entries: usize) -> usize {
    const ROWS_PER_TASK: usize = 1 << 14;
    const ENTRIES_PER_TASK: usize = 1 << 22;
    ROWS_PER_TASK.min(n_rows.div_ceil(n_entries / ENTRIES_PER_TASK + 1))
}

/// Computes a product with the processor's vector instructions.
///
/// Lanes are independent and every sum runs along a row of the matrix, so every width of vectors gives the same bits.
struct Multiply<'a> {
    matrix: &'a SparseMatrix,
    x: &'a [f32],
    width: usize,
    rows: ProductRows<'a>,
    /// The first row of this part of the product.
    first: usize,
    product: &'a mut [f32],
}

impl WithSimd for Multiply<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(mut self, _: S) {
        for start in (0..self.width).step_by(MOST_LANES) {
            // Every pass takes 16 columns, and the last one exactly the columns that are left.
            macro_rules! pass {
                ($($lanes:literal)*) => {
                    match (self.width - start).min(MOST_LANES) {
                        $($lanes => self.columns::<$lanes>(start),)*
                        _ => unreachable!("between one column and {MOST_LANES}"),
                    }
                };
            }
            pass!(1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16);
        }
    }
}

impl Multiply<'_> {
    /// Computes the columns `start..start + LANES` of the product; the sums of a row stay in registers.
    #[inline(always)]
    fn columns<const LANES: usize>(&mut self, start: usize) {
        let end = self.first + self.product.len() / self.width;
        for row in self.rows.computed_of(self.first..end) {
            let (columns, values) = self.matrix.row(row);
            let mut sums = [0.0; LANES];
            for (&column, &value) in columns.iter().zip(values) {
                let at = column as usize * self.width + start;
                for (sum, &term) in sums.iter_mut().zip(&self.x[at..at + LANES]) {
                    *sum += value * term;
                }
            }
            self.product[(row - self.first) * self.width + start..][..LANES].copy_from_slice(&sums);
        }
    }
}

#[cfg(test)]
mod tests;
