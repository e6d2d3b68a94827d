//! This module multiplies matrices of which every entry is stored by narrow dense ones.

mod rows_of_task;

use std::borrow::Cow;

use rayon::prelude::*;

use crate::product_rows::ProductRows;
use crate::vectors::{dispatch, dispatch_long};
use rows_of_task::{RowsOfTask, WHOLE_GROUPS};

/// Says how the terms of a product are summed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sums {
    /// One after the other, in single precision.
    Single,
    /// Terms of 64 entries each in single precision, and these sums in double precision, because thousands of terms add up.
    ByWord,
}

/// So many terms are summed before the next rows are.
const WORD: usize = 64;
/// One thread takes this many rows of a product at a time.
const ROWS_PER_TASK: usize = 3 * WHOLE_GROUPS;
/// For a transposed matrix the terms are rows that are far apart in memory. So few of them are summed at a time, and so many
/// columns, that long parts of few rows are read, one after the other, and stay in cache. With 32 rows the product waits for memory
/// on a Zen 4, and with 16 on a Zen 3, presumably because the processor does not foresee which parts of so many rows come next.
const ADJOINT_TERMS: usize = 8;
/// One thread takes at least and at most so many columns of a transposed matrix at a time. Long parts of rows are read faster,
/// and the sums of all columns of a part, at most 256 KiB for sixteen columns of the other factor, should stay in the cache of
/// one core.
const COLUMNS_PER_TASK: [usize; 2] = [256, 4096];
/// The columns of a product are filled up with zeros to a multiple of this.
const LANES: usize = 8;

/// Returns the product of a matrix and `x`. Where only some rows of it are read, only those are computed, and where only some rows
/// of `x` hold anything, only those are summed.
///
/// # Shapes
/// `matrix`: `[n_rows, n_columns]`; `x`: `[n_columns, width]`; the product: `[n_rows, width]`; all row-major.
///
/// # Panics
/// Panics when `matrix` has no whole number of rows, or `rows` are not in strictly ascending order.
#[must_use]
pub fn dense_product(matrix: &[f32], x: &[f32], width: usize, sums: Sums, rows: ProductRows) -> Vec<f32> {
    rows.check(x, width);
    let n_columns = x.len() / width.max(1);
    assert!(matrix.len().is_multiple_of(n_columns.max(1)), "rows must be as long as x has rows");
    let (listed_rows, terms) = match rows {
        ProductRows::All => (None, None),
        ProductRows::Read(rows) => (Some(rows), None),
        ProductRows::Nonzero(terms) => (None, Some(terms)),
    };
    let product = multiply(Factor { matrix, n_columns, is_adjoint: false, listed_rows }, x, width, sums, terms);
    let Some(listed) = listed_rows else { return product };
    let mut whole = vec![0.0; matrix.len() / n_columns.max(1) * width];
    for (&row, computed) in listed.iter().zip(product.chunks_exact(width.max(1))) {
        whole[row as usize * width..][..width].copy_from_slice(computed);
    }
    whole
}

/// Returns the product of a transposed matrix and `y`, summed in single precision. Where only some rows of `y` hold anything, only
/// those rows of the matrix are read.
///
/// # Shapes
/// `matrix`: `[n_rows, n_columns]`; `y`: `[n_rows, width]`; the product: `[n_columns, width]`; all row-major.
///
/// # Panics
/// Panics when `matrix` has no whole number of columns, or `rows` are not in strictly ascending order.
#[must_use]
pub fn dense_adjoint_product(matrix: &[f32], y: &[f32], width: usize, rows: ProductRows) -> Vec<f32> {
    rows.check(y, width);
    let n_rows = y.len() / width.max(1);
    assert!(matrix.len().is_multiple_of(n_rows.max(1)), "columns must be as long as y has rows");
    let terms = if let ProductRows::Nonzero(terms) = rows { Some(terms) } else { None };
    let n_columns = matrix.len() / n_rows.max(1);
    multiply(Factor { matrix, n_columns, is_adjoint: true, listed_rows: None }, y, width, Sums::Single, terms)
}

/// The left factor of a product.
#[derive(Clone, Copy)]
struct Factor<'a> {
    matrix: &'a [f32],
    n_columns: usize,
    /// Whether it is the transposed matrix.
    is_adjoint: bool,
    /// The only rows of the product that are computed, in ascending order; all of them if absent. A transposed matrix has none.
    listed_rows: Option<&'a [u32]>,
}

/// Terms that are added to the sums one after the other.
struct TermBlock<'a> {
    /// Columns of the matrix, or rows of it where it is transposed.
    numbers: &'a [u32],
    /// The place of the first of them among all terms.
    first_place: usize,
}

impl Factor<'_> {
    /// The number of rows of the product that are computed.
    fn n_rows(&self) -> usize {
        match (self.is_adjoint, self.listed_rows) {
            (true, _) => self.n_columns,
            (false, Some(listed)) => listed.len(),
            (false, None) => self.matrix.len() / self.n_columns.max(1),
        }
    }

    /// The row of the product that is computed at this place.
    #[inline]
    fn row_at(&self, place: usize) -> usize {
        self.listed_rows.map_or(place, |listed| listed[place] as usize)
    }

    /// All terms in blocks, in their order. Those of a row lie in one word, which is 64 columns of the matrix however many of them
    /// are summed, so that it does not matter to a sum whether its zeros are left out.
    fn blocks<'t>(&self, terms: &'t [u32]) -> Vec<TermBlock<'t>> {
        let is_same = |a: u32, b: u32| self.is_adjoint || a as usize / WORD == b as usize / WORD;
        let most = if self.is_adjoint { ADJOINT_TERMS } else { WORD };
        let mut blocks = Vec::new();
        let mut first_place = 0;
        for numbers in terms.chunk_by(|&a, &b| is_same(a, b)).flat_map(|word| word.chunks(most)) {
            blocks.push(TermBlock { numbers, first_place });
            first_place += numbers.len();
        }
        blocks
    }
}

/// Returns the rows of a product that are computed, one after the other. `terms` are those that are summed.
fn multiply(factor: Factor, x: &[f32], width: usize, sums: Sums, terms: Option<&[u32]>) -> Vec<f32> {
    let padded_width = width.next_multiple_of(LANES);
    if width == 0 || x.is_empty() {
        return vec![0.0; factor.n_rows() * width];
    }
    let numbers: Cow<[u32]> = match terms {
        Some(listed) => listed.into(),
        None => (0..(x.len() / width) as u32).collect(),
    };
    let blocks = factor.blocks(&numbers);
    if padded_width == width && terms.is_none() {
        return multiply_padded(factor, &blocks, x, width, sums);
    }
    let mut padded = vec![0.0; numbers.len() * padded_width];
    for (row, &term) in padded.chunks_exact_mut(padded_width).zip(&*numbers) {
        row[..width].copy_from_slice(&x[term as usize * width..][..width]);
    }
    let product = multiply_padded(factor, &blocks, &padded, padded_width, sums);
    let mut without_padding = vec![0.0; factor.n_rows() * width];
    for (row, padded) in without_padding.chunks_exact_mut(width).zip(product.chunks_exact(padded_width)) {
        row.copy_from_slice(&padded[..width]);
    }
    without_padding
}

/// # Shapes
/// `x`: `[terms, width]`, row-major.
fn multiply_padded(factor: Factor, blocks: &[TermBlock], x: &[f32], width: usize, sums: Sums) -> Vec<f32> {
    let mut product = vec![0.0; factor.n_rows() * width];
    let n_rows = if factor.is_adjoint {
        let [least, most] = COLUMNS_PER_TASK;
        factor.n_columns.div_ceil(rayon::current_num_threads()).clamp(least, most).next_multiple_of(WHOLE_GROUPS)
    } else {
        ROWS_PER_TASK
    };
    product.par_chunks_mut(n_rows * width).enumerate().for_each(|(task, out)| {
        let rows_of_task = RowsOfTask { factor, blocks, x, width, sums, first_row: task * n_rows, out };
        // A network has eight columns or fewer in its last layer. Long vectors would be half empty there.
        if width.is_multiple_of(2 * LANES) { dispatch_long(rows_of_task) } else { dispatch(rows_of_task) }
    });
    product
}

#[cfg(test)]
mod tests;
