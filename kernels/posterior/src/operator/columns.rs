//! This module cuts the columns of a product into blocks whose sums stay in registers.

#![expect(clippy::inline_always, reason = "what `dispatch` calls takes its vector width only where it is inlined")]

use rayon::prelude::*;

use super::real::Real;

/// Computes a product, a block of columns at a time.
pub(super) trait ColumnBlocks<T> {
    /// Computes the columns of the product from `start` on, at most `LANES`.
    ///
    /// # Shapes
    /// `x`: `[n_nodes]` rows of a block of columns; columns beyond the last one are 0.
    fn block<const LANES: usize>(&mut self, start: usize, x: &[[T; LANES]]);
}

/// Computes all columns of a product with `x`.
///
/// A block has 16 columns, or 8, or a single one: a few more columns cost less than rows whose width the compiler does not know.
///
/// # Shapes
/// `x`: `[n_nodes, width]`, row-major.
pub(super) fn in_blocks<T: Real>(x: &[T], width: usize, blocks: &mut impl ColumnBlocks<T>) {
    let mut start = 0;
    while start < width {
        start += match width - start {
            1 => block::<T, 1>(x, width, start, blocks),
            2..=8 => block::<T, 8>(x, width, start, blocks),
            _ => block::<T, 16>(x, width, start, blocks),
        };
    }
}

/// Computes one block, and returns how many columns it may have.
fn block<T: Real, const LANES: usize>(x: &[T], width: usize, start: usize, blocks: &mut impl ColumnBlocks<T>) -> usize {
    if width == LANES {
        blocks.block(start, x.as_chunks::<LANES>().0);
        return LANES;
    }
    let end = width.min(start + LANES);
    let of_row = |row: &[T]| {
        let mut columns = [T::default(); LANES];
        columns[..end - start].copy_from_slice(&row[start..end]);
        columns
    };
    let rows: Vec<[T; LANES]> = x.par_chunks_exact(width).map(of_row).collect();
    blocks.block(start, &rows);
    LANES
}

/// Writes the first columns of a block to those of a row of the product, from `start` on.
#[inline(always)]
pub(super) fn write_block<T: Copy, const LANES: usize>(row: &mut [T], start: usize, columns: &[T; LANES]) {
    let end = row.len().min(start + LANES);
    row[start..end].copy_from_slice(&columns[..end - start]);
}

/// Adds `weight · row` to `sums`.
#[inline(always)]
pub(super) fn add_scaled<T: Real, const LANES: usize>(sums: &mut [T; LANES], weight: T, row: &[T; LANES]) {
    for (sum, &value) in sums.iter_mut().zip(row) {
        *sum += weight * value;
    }
}
