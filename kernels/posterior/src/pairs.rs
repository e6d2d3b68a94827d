//! Enumeration of the likely pairs, at a cost of what is found.

use rayon::prelude::*;

use crate::evidence::Known;
use crate::kernel_sum::range;
use crate::model::Posterior;

impl Posterior {
    /// Calls `visit(i, j, logit)` with `i < j` for every pair whose logit `accept`s.
    ///
    /// `accept` must be monotone: whoever accepts a logit accepts every larger one.
    ///
    /// # Complexity
    /// `O(n log n + known pairs + others that are found)`.
    pub fn visit_pairs(&self, accept: impl Fn(f64) -> bool + Sync, mut visit: impl FnMut(u32, u32, f64)) {
        // Known pairs are filtered while they are scanned: at a low budget they are too many to list.
        let scan = |i: usize| -> Vec<(u32, f64)> {
            let row = self.evidence().row(i).map(|(j, known)| (j, self.logit(i as u32, j, known)));
            row.filter(|&(_, logit)| accept(logit)).collect()
        };
        let rows: Vec<Vec<(u32, f64)>> = (0..self.n_nodes()).into_par_iter().map(scan).collect();
        for (i, row) in rows.into_iter().enumerate() {
            row.into_iter().for_each(|(j, logit)| visit(i as u32, j, logit));
        }
        let order = self.descending();
        for (position, &a) in order.iter().enumerate() {
            let mut found = false;
            for &b in &order[position + 1..] {
                let logit = self.logit(a, b, Known::default());
                if !accept(logit) {
                    break;
                }
                found = true;
                if self.evidence().known(a, b) == Known::default() {
                    visit(a.min(b), a.max(b), logit);
                }
            }
            if !found {
                break;
            }
        }
    }

    /// An interval that holds every finite logit.
    #[must_use]
    pub fn logit_bounds(&self) -> (f64, f64) {
        let (low, high) = range(self.beta());
        let (least, most) = self.evidence_logit_bounds();
        (2.0 * low + least, 2.0 * high + most)
    }

    /// Number of known pairs in each of `cells`, where `cell` tells that of a logit; larger ones count in the last.
    #[must_use]
    pub fn known_histogram(&self, cells: usize, cell: impl Fn(f64) -> usize + Sync) -> Vec<u64> {
        let empty = || vec![0_u64; cells];
        let count_row = |mut counts: Vec<u64>, i: usize| {
            let logits = self.evidence().row(i).map(|(j, known)| self.logit(i as u32, j, known));
            logits.for_each(|logit| counts[cell(logit).min(cells - 1)] += 1);
            counts
        };
        let add = |mut a: Vec<u64>, b: Vec<u64>| {
            a.iter_mut().zip(b).for_each(|(a, b)| *a += b);
            a
        };
        (0..self.n_nodes()).into_par_iter().fold(empty, count_row).reduce(empty, add)
    }

    /// Number of pairs that would have a logit of at least `threshold` if nothing were known of any.
    #[must_use]
    pub fn count_as_if_unknown(&self, sorted_beta: &[f64], threshold: f64) -> u64 {
        let base = self.evidence_logit(Known::default());
        let accepted = |i: usize, j: usize| sorted_beta[i] + sorted_beta[j] + base >= threshold;
        let (mut pairs, mut end) = (0, sorted_beta.len());
        // `end` only falls: the smaller a parameter, the fewer partners it has. Each pair counts at its larger one.
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

    /// Parameters in descending order.
    #[must_use]
    pub fn sorted_beta(&self) -> Vec<f64> {
        self.descending().into_iter().map(|node| self.beta()[node as usize]).collect()
    }

    /// Nodes by descending parameter, equal ones by number.
    fn descending(&self) -> Vec<u32> {
        let mut order: Vec<u32> = (0..self.n_nodes() as u32).collect();
        order.sort_by(|&a, &b| self.beta()[b as usize].total_cmp(&self.beta()[a as usize]));
        order
    }
}

#[cfg(test)]
pub(crate) mod tests;
