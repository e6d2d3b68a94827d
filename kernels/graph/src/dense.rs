//! This module holds matrices of which every entry is stored, and their products with narrow dense ones.

#![expect(clippy::inline_always, reason = "what `dispatch` calls takes its vector width only where it is inlined")]

use pulp::{Arch, Simd, WithSimd};
use rayon::prelude::*;
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

/// One pass over the matrix computes at most this many columns of a product.
const MOST_LANES: usize = 16;
/// This many rows are summed at a time, and for the adjoint this many columns. Their sums are independent, so that no
/// addition waits for the one before.
const GROUP: usize = 4;
/// The adjoint reads this many rows before it takes the next ones, so that they stay in cache.
const BLOCK: usize = 16;
/// One thread takes this many rows of a product at a time.
const ROWS_PER_TASK: usize = 512;

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
        let mut product = vec![0.0; self.n_rows * width];
        let rows = self.values.par_chunks((ROWS_PER_TASK * self.n_columns).max(1));
        product.par_chunks_mut((ROWS_PER_TASK * width).max(1)).zip(rows).for_each(|(out, rows)| {
            Arch::new().dispatch(Product { rows, n_columns: self.n_columns, x, width, out, adjoint: None });
        });
        product
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
        let mut product = vec![0.0; self.n_columns * width];
        product.par_chunks_mut((ROWS_PER_TASK * width).max(1)).enumerate().for_each(|(task, out)| {
            let (rows, adjoint) = (&self.values, Some(task * ROWS_PER_TASK));
            Arch::new().dispatch(Product { rows, n_columns: self.n_columns, x: y, width, out, adjoint });
        });
        product
    }
}

/// Computes a product with the processor's widest vector instructions.
///
/// Lanes are independent, and every sum runs in the order of the summed rows of `x`, one term after another, so every
/// width of vectors gives the same bits.
struct Product<'a> {
    /// Row-major, with rows of `n_columns`.
    rows: &'a [f32],
    n_columns: usize,
    x: &'a [f32],
    width: usize,
    out: &'a mut [f32],
    /// The column of the matrix that is the first row of this part of the adjoint product, if that is asked for.
    adjoint: Option<usize>,
}

impl WithSimd for Product<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(mut self, _: S) {
        for start in (0..self.width).step_by(MOST_LANES) {
            // A pass takes whole vectors: what is left of the columns is filled up with zeros.
            match self.width - start {
                1..=4 => self.pass::<4>(start),
                5..=8 => self.pass::<8>(start),
                _ => self.pass::<MOST_LANES>(start),
            }
        }
    }
}

impl Product<'_> {
    /// Computes the columns from `start` on, at most `LANES` of them.
    #[inline(always)]
    fn pass<const LANES: usize>(&mut self, start: usize) {
        let width = LANES.min(self.width - start);
        let panel = self.x.chunks_exact(self.width).map(|row| {
            let mut lanes = [0.0; LANES];
            lanes[..width].copy_from_slice(&row[start..start + width]);
            lanes
        });
        let x: Vec<[f32; LANES]> = panel.collect();
        let mut sums = vec![[0.0; LANES]; self.out.len() / self.width];
        match self.adjoint {
            None => forward(self.rows, self.n_columns, &x, &mut sums),
            Some(first_column) => adjoint(self.rows, self.n_columns, &x, first_column, &mut sums),
        }
        for (row, sums) in self.out.chunks_exact_mut(self.width).zip(&sums) {
            row[start..start + width].copy_from_slice(&sums[..width]);
        }
    }
}

/// Computes `matrix · x`; the sums of a few rows stay in registers.
#[inline(always)]
fn forward<const LANES: usize>(rows: &[f32], n_columns: usize, x: &[[f32; LANES]], product: &mut [[f32; LANES]]) {
    let width = n_columns.max(1);
    for (rows, out) in rows.chunks(GROUP * width).zip(product.chunks_mut(GROUP)) {
        let mut sums = [[0.0; LANES]; GROUP];
        // The last rows may be fewer; a row that is not there repeats the first one, and its sums are not read.
        let row = |at: usize| rows.get(at * width..(at + 1) * width).unwrap_or(&rows[..width]);
        let [first, second, third, fourth] = std::array::from_fn(row);
        for ((((x, &a), &b), &c), &d) in x.iter().zip(first).zip(second).zip(third).zip(fourth) {
            for lane in 0..LANES {
                sums[0][lane] += a * x[lane];
                sums[1][lane] += b * x[lane];
                sums[2][lane] += c * x[lane];
                sums[3][lane] += d * x[lane];
            }
        }
        out.copy_from_slice(&sums[..out.len()]);
    }
}

/// Computes `matrixᵀ · y`. Blocks of the matrix are read that stay in cache; the sums of a few of their columns stay in
/// registers.
#[inline(always)]
fn adjoint<const LANES: usize>(
    rows: &[f32],
    n_columns: usize,
    y: &[[f32; LANES]],
    first_column: usize,
    product: &mut [[f32; LANES]],
) {
    for (rows, y) in rows.chunks(BLOCK * n_columns).zip(y.chunks(BLOCK)) {
        let mut groups = product.chunks_exact_mut(GROUP);
        for (first, sums) in (first_column..).step_by(GROUP).zip(&mut groups) {
            let mut own = [[0.0; LANES]; GROUP];
            own.copy_from_slice(sums);
            for (row, y) in rows.chunks_exact(n_columns).zip(y) {
                if let &[a, b, c, d] = &row[first..first + GROUP] {
                    for lane in 0..LANES {
                        own[0][lane] += a * y[lane];
                        own[1][lane] += b * y[lane];
                        own[2][lane] += c * y[lane];
                        own[3][lane] += d * y[lane];
                    }
                }
            }
            sums.copy_from_slice(&own);
        }
        let summed = product.len() / GROUP * GROUP;
        let (first, rest) = (first_column + summed, &mut product[summed..]);
        for (row, y) in rows.chunks_exact(n_columns).zip(y) {
            for (own, value) in rest.iter_mut().zip(&row[first..]) {
                for lane in 0..LANES {
                    own[lane] += value * y[lane];
                }
            }
        }
    }
}

#[cfg(test)]
mod tests;
