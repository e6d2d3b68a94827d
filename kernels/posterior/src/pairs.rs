//! This module enumerates and counts the pairs above a threshold, at a cost in proportion to what is found.

use std::ops::Range;

use rayon::prelude::*;

use crate::evidence::Known;
use crate::kernel_sum::least_and_largest;
use crate::model::Posterior;

impl Posterior {
    /// Calls `visit(i, j, logit)` with `i < j` for every pair whose logit is accepted.
    ///
    /// `accept` must be monotone: if it accepts a logit, it accepts every larger one.
    ///
    /// # Complexity
    /// `O(n log n + known pairs + unknown pairs that are found)`.
    pub fn visit_pairs(&self, accept: impl Fn(f64) -> bool + Sync, visit: impl FnMut(u32, u32, f64)) {
        self.visit_pairs_of(0..self.n_nodes(), accept, visit);
    }

    /// Calls `visit(i, j, logit)` for every pair with `i` in `rows` whose logit is accepted. Evidence about the pairs of
    /// other rows is not read.
    pub fn visit_pairs_of(
        &self,
        rows: Range<usize>,
        accept: impl Fn(f64) -> bool + Sync,
        mut visit: impl FnMut(u32, u32, f64),
    ) {
        let order = self.nodes_by_descending_beta();
        // Pairs are filtered while they are scanned: at a low budget too many are known to list them.
        let scan = |i: usize| -> Vec<(u32, f64)> {
            let known = self.evidence().row(i).map(|(j, known)| (j, self.logit(i as u32, j, known)));
            let mut found = Vec::new();
            known.filter(|&(_, logit)| accept(logit)).for_each(|pair| found.push(pair));
            // Every other pair has the logit of an unknown one. Sorted parameters tell at once where to stop.
            let unknown = order.iter().map(|&j| (j, self.logit(i as u32, j, Known::default())));
            let unknown = unknown.take_while(|&(_, logit)| accept(logit));
            let is_unknown = |j: u32| j as usize > i && self.evidence().known(i as u32, j) == Known::default();
            found.extend(unknown.filter(|&(j, _)| is_unknown(j)));
            found
        };
        let found: Vec<Vec<(u32, f64)>> = rows.clone().into_par_iter().map(scan).collect();
        for (i, row) in rows.zip(found) {
            row.into_iter().for_each(|(j, logit)| visit(i as u32, j, logit));
        }
    }

    /// Returns the ends of an interval that holds every finite logit.
    #[must_use]
    pub fn logit_bounds(&self) -> (f64, f64) {
        let (low, high) = least_and_largest(self.beta());
        let (least, most) = self.evidence_logit_bounds();
        (2.0 * low + least, 2.0 * high + most)
    }

    /// Counts the known pairs in each cell of a histogram of `n_cells` cells, where `cell_of` gives the cell of a
    /// logit; a pair whose cell would be a later one is counted in the last cell.
    #[must_use]
    pub fn known_histogram(&self, n_cells: usize, cell_of: impl Fn(f64) -> usize + Sync) -> Vec<u64> {
        /// Each part of the rows has a histogram of its own, which takes longer to write and to add up than a few rows to visit.
        const ROWS_OF_A_PART: usize = 64;
        let empty = || vec![0_u64; n_cells];
        let count_row = |mut counts: Vec<u64>, i: usize| {
            let logits = self.evidence().row(i).map(|(j, known)| self.logit(i as u32, j, known));
            logits.for_each(|logit| counts[cell_of(logit).min(n_cells - 1)] += 1);
            counts
        };
        let add = |mut a: Vec<u64>, b: Vec<u64>| {
            a.iter_mut().zip(b).for_each(|(a, b)| *a += b);
            a
        };
        let parts = (0..self.n_nodes()).into_par_iter().with_min_len(ROWS_OF_A_PART).fold(empty, count_row);
        parts.reduce_with(add).unwrap_or_else(empty)
    }

    /// Counts the pairs that would have a logit of at least `threshold` if nothing were known of any pair.
    ///
    /// # Complexity
    /// `O(n)`.
    #[must_use]
    pub fn count_as_if_unknown(&self, sorted_beta: &[f64], threshold: f64) -> u64 {
        let base = self.evidence_logit(Known::default());
        let accepted = |i: usize, j: usize| sorted_beta[i] + sorted_beta[j] + base >= threshold;
        let (mut pairs, mut end) = (0, sorted_beta.len());
        // `end` only falls, because a smaller parameter has fewer partners. Each pair is counted at its larger
        // parameter.
        for first in 0..sorted_beta.len() {
            while end > first + 1 && !accepted(first, end - 1) {
                end -= 1;
            }
            if end <= first + 1 {
                break;
            }
            pairs += (end - first - 1) as u64;
        }
        pairs
    }

    /// Returns the parameters of the nodes in descending order.
    #[must_use]
    pub fn sorted_beta(&self) -> Vec<f64> {
        self.nodes_by_descending_beta().into_iter().map(|node| self.beta()[node as usize]).collect()
    }

    /// Returns the nodes in descending order of their parameters; nodes with equal parameters ascend.
    fn nodes_by_descending_beta(&self) -> Vec<u32> {
        let mut order: Vec<u32> = (0..self.n_nodes() as u32).collect();
        order.sort_by(|&a, &b| self.beta()[b as usize].total_cmp(&self.beta()[a as usize]));
        order
    }
}

#[cfg(test)]
pub(crate) mod tests;
