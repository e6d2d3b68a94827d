//! Sparse symmetric additions to an operator.

use super::real::Real;

/// A symmetric sparse matrix, by rows.
pub(super) struct Corrections<T> {
    offsets: Vec<usize>,
    partners: Vec<u32>,
    weights: Vec<T>,
}

impl<T: Real> Corrections<T> {
    /// From the entries `(i, j, weight)` with `i < j`; `pairs` is called twice.
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

    /// Entries in both directions.
    pub(super) fn n_entries(&self) -> usize {
        self.partners.len()
    }

    /// Adds row `node` of the product with `x` to `sums`; `scratch` has one number per column.
    ///
    /// The own precision inside a few terms, double across them: hundreds of corrections add up.
    pub(super) fn add_row(&self, node: usize, x: &[T], sums: &mut [f64], scratch: &mut [T]) {
        const TERMS: usize = 32;
        let (range, width) = (self.offsets[node]..self.offsets[node + 1], sums.len());
        for (partners, weights) in self.partners[range.clone()].chunks(TERMS).zip(self.weights[range].chunks(TERMS)) {
            scratch.fill(T::default());
            for (&partner, &weight) in partners.iter().zip(weights) {
                add_scaled(scratch, weight, &x[partner as usize * width..(partner as usize + 1) * width]);
            }
            sums.iter_mut().zip(&*scratch).for_each(|(sum, &partial)| *sum += partial.wide());
        }
    }
}

/// `out += weight · row`.
pub(super) fn add_scaled<T: Real>(out: &mut [T], weight: T, row: &[T]) {
    for (sum, &term) in out.iter_mut().zip(row) {
        *sum += weight * term;
    }
}
