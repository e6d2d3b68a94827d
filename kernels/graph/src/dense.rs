//! This module holds matrices of which every entry is stored, and their products with narrow dense ones.

#![expect(clippy::inline_always, reason = "what `dispatch` calls takes its vector width only where it is inlined")]

use pulp::{Arch, Simd, WithSimd};
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
        Arch::new().dispatch(Product { matrix: self, x, width, out: &mut product, adjoint: false });
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
        Arch::new().dispatch(Product { matrix: self, x: y, width, out: &mut product, adjoint: true });
        product
    }
}

/// Computes a product with the processor's widest vector instructions.
///
/// Lanes are independent, and every sum runs in the order of the summed rows of `x`, one term after another, so every
/// width of vectors gives the same bits.
struct Product<'a> {
    matrix: &'a DenseMatrix,
    x: &'a [f32],
    width: usize,
    out: &'a mut [f32],
    adjoint: bool,
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
        let rows = self.x.chunks_exact(self.width).map(|row| {
            let mut lanes = [0.0; LANES];
            lanes[..width].copy_from_slice(&row[start..start + width]);
            lanes
        });
        let x: Vec<[f32; LANES]> = rows.collect();
        let sums = if self.adjoint { adjoint(self.matrix, &x) } else { forward(self.matrix, &x) };
        for (row, sums) in self.out.chunks_exact_mut(self.width).zip(&sums) {
            row[start..start + width].copy_from_slice(&sums[..width]);
        }
    }
}

/// Computes `matrix · x`; the sums of a few rows stay in registers.
#[inline(always)]
fn forward<const LANES: usize>(matrix: &DenseMatrix, x: &[[f32; LANES]]) -> Vec<[f32; LANES]> {
    let mut product = vec![[0.0; LANES]; matrix.n_rows];
    let width = matrix.n_columns.max(1);
    for (rows, out) in matrix.values.chunks(GROUP * width).zip(product.chunks_mut(GROUP)) {
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
    product
}

/// Computes `matrixᵀ · y`. Blocks of the matrix are read that stay in cache; the sums of a few of their columns stay in
/// registers.
#[inline(always)]
fn adjoint<const LANES: usize>(matrix: &DenseMatrix, y: &[[f32; LANES]]) -> Vec<[f32; LANES]> {
    let mut product = vec![[0.0; LANES]; matrix.n_columns];
    if matrix.n_columns == 0 {
        return product;
    }
    for (rows, y) in matrix.values.chunks(BLOCK * matrix.n_columns).zip(y.chunks(BLOCK)) {
        let mut groups = product.chunks_exact_mut(GROUP);
        for (first, sums) in (0..).step_by(GROUP).zip(&mut groups) {
            let mut own = [[0.0; LANES]; GROUP];
            own.copy_from_slice(sums);
            for (row, y) in rows.chunks_exact(matrix.n_columns).zip(y) {
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
        let rest = groups.into_remainder();
        let first = matrix.n_columns - rest.len();
        for (row, y) in rows.chunks_exact(matrix.n_columns).zip(y) {
            for (own, value) in rest.iter_mut().zip(&row[first..]) {
                for lane in 0..LANES {
                    own[lane] += value * y[lane];
                }
            }
        }
    }
    product
}

#[cfg(test)]
mod tests;
