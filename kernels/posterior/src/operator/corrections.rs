//! This module holds sparse symmetric additions to an operator.

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
    /// Builds the matrix from its entries `(i, j, weight)` with `i < j`; `pairs` is called twice and must return the
    /// same.
    pub(super) fn new<I: Iterator<Item = (u32, u32, T)>>(n_nodes: usize, pairs: impl Fn() -> I) -> Self {
        let mut offsets = vec![0; n_nodes + 1];
        for (i, j, _) in pairs() {
            offsets[i as usize + 1] += 1;
            offsets[j as usize + 1] += 1;
        }
        for node in 0..n_nodes {
            offsets[node + 1] += offsets[node];
        }
        let mut next = offsets.clone();
        let mut partners = vec![0; offsets[n_nodes]];
        let mut weights = vec![T::default(); offsets[n_nodes]];
        for (i, j, weight) in pairs() {
            for (row, partner) in [(i, j), (j, i)] {
                let at = next[row as usize];
                partners[at] = partner;
                weights[at] = weight;
                next[row as usize] += 1;
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
    /// `x`: `[n_nodes, width]`, row-major; `sums` and `scratch`: `[width]`, where `scratch` may hold anything.
    pub(super) fn add_row(&self, node: usize, x: &[T], sums: &mut [f64], scratch: &mut [T]) {
        const TERMS: usize = 32;
        let (range, width) = (self.offsets[node]..self.offsets[node + 1], sums.len());
        for (partners, weights) in self.partners[range.clone()].chunks(TERMS).zip(self.weights[range].chunks(TERMS)) {
            scratch.fill(T::default());
            for (&partner, &weight) in partners.iter().zip(weights) {
                add_scaled(scratch, weight, row(x, partner as usize, width));
            }
            sums.iter_mut().zip(&*scratch).for_each(|(sum, &partial)| *sum += partial.to_f64());
        }
    }
}

/// Adds `weight · row` to `out`.
///
/// # Shapes
/// `out` and `row`: `[width]`.
#[inline]
pub(super) fn add_scaled<T: Real>(out: &mut [T], weight: T, row: &[T]) {
    for (sum, &term) in out.iter_mut().zip(row) {
        *sum += weight * term;
    }
}

/// Returns one row of a row-major matrix.
///
/// # Shapes
/// `matrix`: `[rows, width]`. Returns `[width]`.
#[inline]
pub(super) fn row<T>(matrix: &[T], row: usize, width: usize) -> &[T] {
    &matrix[row * width..(row + 1) * width]
}
