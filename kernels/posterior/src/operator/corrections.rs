//! This module holds sparse symmetric additions to an operator.

#![expect(clippy::inline_always, reason = "what `dispatch` calls takes its vector width only where it is inlined")]

use rayon::prelude::*;
use veilgraph_graph::{ProductRows, RowPlaces, row_offsets};

use super::columns::{BlockRow, ColumnBlocks, add_scaled, in_blocks};
use super::real::Real;

/// This sparse symmetric matrix corrects an operator and is stored by rows.
///
/// # Shapes
/// `offsets`: `[n_nodes + 1]`; `partners` and `weights`: `[n_entries]`, where row `i` takes
/// `offsets[i]..offsets[i + 1]`.
pub(super) struct Corrections<T> {
    offsets: Vec<usize>,
    partners: Vec<u32>,
    weights: Vec<T>,
}

impl<T: Real> Corrections<T> {
    /// Builds the matrix from its entries above the diagonal: `later(i)` returns the partners `j > i` in ascending order, and
    /// what is known of each, by which `weight(i, j, known)` is the entry.
    pub(super) fn new<K, I: Iterator<Item = (u32, K)>>(
        n_nodes: usize,
        later: impl Fn(usize) -> I + Sync,
        weight: impl Fn(usize, u32, K) -> T + Sync,
    ) -> Self {
        /// The entries of so many rows are worked out side by side before they are put in place, because those of all rows
        /// would take half as much memory as the matrix.
        const ROWS_AT_ONCE: usize = 1024;
        let ends = (0..n_nodes).flat_map(|i| later(i).flat_map(move |(j, _)| [i, j as usize]));
        let offsets = row_offsets(n_nodes, ends);
        let mut places = RowPlaces::new(&offsets);
        let mut partners = vec![0; offsets[n_nodes]];
        let mut weights = vec![T::default(); offsets[n_nodes]];
        for first in (0..n_nodes).step_by(ROWS_AT_ONCE) {
            let row = |i: usize| -> Vec<(u32, T)> {
                let mut row = Vec::new();
                later(i).for_each(|(j, known)| row.push((j, weight(i, j, known))));
                row
            };
            let rows: Vec<Vec<(u32, T)>> =
                (first..n_nodes.min(first + ROWS_AT_ONCE)).into_par_iter().map(row).collect();
            for (i, row) in (first..).zip(rows) {
                for (j, weight) in row {
                    for (row, partner) in [(i, j), (j as usize, i as u32)] {
                        let place = places.take(row);
                        partners[place] = partner;
                        weights[place] = weight;
                    }
                }
            }
        }
        Self { offsets, partners, weights }
    }

    /// Returns the number of entries; a pair has two.
    pub(super) fn n_entries(&self) -> usize {
        self.partners.len()
    }

    /// Adds row `node` of the product with `x` to `sums`.
    ///
    /// A few terms are summed in the precision `T`, and these sums in double precision, because a row may have hundreds
    /// of corrections.
    ///
    /// # Shapes
    /// `x`: `[n_nodes]` rows.
    #[inline(always)]
    pub(super) fn add_row<const LANES: usize>(&self, node: usize, x: &[[T; LANES]], sums: &mut [f64; LANES]) {
        const TERMS: usize = 32;
        let range = self.offsets[node]..self.offsets[node + 1];
        for (partners, weights) in self.partners[range.clone()].chunks(TERMS).zip(self.weights[range].chunks(TERMS)) {
            // Two sums side by side: an addition need not wait for the one before it.
            let [mut partial, mut other] = [[T::default(); LANES]; 2];
            let ((pairs, last), (pair_weights, last_weight)) = (partners.as_chunks::<2>(), weights.as_chunks::<2>());
            for (pair, pair_weights) in pairs.iter().zip(pair_weights) {
                add_scaled(&mut partial, pair_weights[0], &x[pair[0] as usize]);
                add_scaled(&mut other, pair_weights[1], &x[pair[1] as usize]);
            }
            for (&partner, &weight) in last.iter().zip(last_weight) {
                add_scaled(&mut partial, weight, &x[partner as usize]);
            }
            add_scaled(&mut partial, T::ONE, &other);
            sums.iter_mut().zip(partial).for_each(|(sum, partial)| *sum += partial.to_f64());
        }
    }

    /// Adds this matrix to `entries`.
    ///
    /// # Shapes
    /// `entries`: `[n_nodes, n_nodes]`, row-major.
    pub(super) fn add_to(&self, entries: &mut [T]) {
        let n_nodes = self.offsets.len() - 1;
        entries.par_chunks_exact_mut(n_nodes.max(1)).zip(self.offsets.par_windows(2)).for_each(|(row, range)| {
            let range = range[0]..range[1];
            for (&partner, &weight) in self.partners[range.clone()].iter().zip(&self.weights[range]) {
                row[partner as usize] += weight;
            }
        });
    }

    /// Adds this matrix times `x` to `product`, in the rows that are read.
    ///
    /// # Shapes
    /// `x` and `product`: `[n_nodes, width]`, row-major.
    pub(super) fn add_product(&self, x: &[T], width: usize, rows: ProductRows, product: &mut [T]) {
        if self.n_entries() > 0 {
            in_blocks(self, x, width, rows, product);
        }
    }
}

/// These corrections, which are added to what a product holds.
struct Added<'a, T, const LANES: usize> {
    corrections: &'a Corrections<T>,
    /// `[n_nodes]` rows.
    x: &'a [[T; LANES]],
}

impl<T: Real> ColumnBlocks<T> for Corrections<T> {
    fn prepared<'a, const LANES: usize>(&'a self, x: &'a [[T; LANES]]) -> impl BlockRow<T, LANES> + 'a {
        Added { corrections: self, x }
    }
}

impl<T: Real, const LANES: usize> BlockRow<T, LANES> for Added<'_, T, LANES> {
    #[inline(always)]
    fn row(&self, node: usize, before: [T; LANES]) -> [T; LANES] {
        let mut sums = before.map(T::to_f64);
        self.corrections.add_row(node, self.x, &mut sums);
        sums.map(T::from_f64)
    }
}
