//! This module cuts the columns of a product into blocks whose sums stay in registers.

#![expect(clippy::inline_always, reason = "what `dispatch` calls takes its vector width only where it is inlined")]

use std::ops::Range;

use pulp::{Simd, WithSimd};
use rayon::prelude::*;
use veilgraph_graph::ProductRows;
use veilgraph_graph::vectors::dispatch;

use super::real::Real;

/// Represents an operator that is applied to a block of columns at a time.
pub(super) trait ColumnBlocks<T>: Sync {
    /// Prepares the operator for a block of columns.
    ///
    /// # Shapes
    /// `x`: `[n_nodes]` rows of the block; columns beyond the last one are 0.
    fn prepared<'a, const LANES: usize>(&'a self, x: &'a [[T; LANES]]) -> impl BlockRow<T, LANES> + 'a;
}

/// Represents an operator that is prepared for a block of columns.
pub(super) trait BlockRow<T, const LANES: usize>: Sync {
    /// Returns row `node` of the block, which held `before`.
    fn row(&self, node: usize, before: [T; LANES]) -> [T; LANES];
}

/// Computes all columns of a product with `x` in the rows that are read, and writes them to `product`.
///
/// A block has 16 columns, or 8, or a single one: a few more columns cost less than rows whose width the compiler does not know.
///
/// # Shapes
/// `x` and `product`: `[n_nodes, width]`, row-major.
pub(super) fn in_blocks<T: Real>(
    operator: &impl ColumnBlocks<T>,
    x: &[T],
    width: usize,
    rows: ProductRows,
    product: &mut [T],
) {
    let mut start = 0;
    while start < width {
        start += match width - start {
            1 => block::<T, 1>(operator, x, [width, start], rows, product),
            2..=8 => block::<T, 8>(operator, x, [width, start], rows, product),
            _ => block::<T, 16>(operator, x, [width, start], rows, product),
        };
    }
}

/// Computes one block, and returns how many columns it may have.
fn block<T: Real, const LANES: usize>(
    operator: &impl ColumnBlocks<T>,
    x: &[T],
    [width, start]: [usize; 2],
    rows: ProductRows,
    product: &mut [T],
) -> usize {
    /// One thread takes this many rows of a product at a time.
    const ROWS_PER_TASK: usize = 64;
    let n_held = LANES.min(width - start);
    let packed: Vec<[T; LANES]>;
    let x = if width == LANES {
        x.as_chunks::<LANES>().0
    } else {
        let of_row = |row: &[T]| {
            let mut columns = [T::default(); LANES];
            columns[..n_held].copy_from_slice(&row[start..start + n_held]);
            columns
        };
        packed = x.par_chunks_exact(width).map(of_row).collect();
        &packed
    };
    let prepared = &operator.prepared(x);
    product.par_chunks_mut(ROWS_PER_TASK * width).enumerate().for_each(|(task, out)| {
        let held = start..start + n_held;
        dispatch(Rows { prepared, read: rows, first_row: task * ROWS_PER_TASK, width, held, out });
    });
    LANES
}

/// Computes those rows of a block that are read, from `first_row` on, and writes them to the columns `held` of `out`.
///
/// # Shapes
/// `out`: `[rows, width]`, row-major.
struct Rows<'a, P, T, const LANES: usize> {
    prepared: &'a P,
    read: ProductRows<'a>,
    first_row: usize,
    width: usize,
    held: Range<usize>,
    out: &'a mut [T],
}

impl<T: Real, P: BlockRow<T, LANES>, const LANES: usize> WithSimd for Rows<'_, P, T, LANES> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let end = self.first_row + self.out.len() / self.width;
        for node in self.read.computed_of(self.first_row..end) {
            let out = &mut self.out[(node - self.first_row) * self.width..][self.held.clone()];
            let mut before = [T::default(); LANES];
            before[..out.len()].copy_from_slice(out);
            out.copy_from_slice(&self.prepared.row(node, before)[..out.len()]);
        }
    }
}

/// Adds `weight · row` to `sums`.
#[inline(always)]
pub(super) fn add_scaled<T: Real, const LANES: usize>(sums: &mut [T; LANES], weight: T, row: &[T; LANES]) {
    for (sum, &value) in sums.iter_mut().zip(row) {
        *sum += weight * value;
    }
}
