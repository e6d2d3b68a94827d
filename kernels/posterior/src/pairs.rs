//! Enumeration of the likely pairs, at a cost of what is found.

use crate::model::Posterior;

impl Posterior {
    /// Calls `visit(i, j, logit)` with `i < j` for every pair whose logit `accept`s.
    ///
    /// `accept` must be monotone: whoever accepts a logit accepts every larger one.
    ///
    /// # Complexity
    /// `O(n log n + claimed pairs + unclaimed pairs that are found)`.
    pub fn visit_pairs(&self, accept: impl Fn(f64) -> bool, mut visit: impl FnMut(u32, u32, f64)) {
        for (i, j, claims) in self.evidence().pairs() {
            let logit = self.logit(i, j, claims);
            if accept(logit) {
                visit(i, j, logit);
            }
        }
        let order = self.descending();
        for (position, &a) in order.iter().enumerate() {
            let mut found = false;
            for &b in &order[position + 1..] {
                let logit = self.logit(a, b, 0);
                if !accept(logit) {
                    break;
                }
                found = true;
                if self.evidence().claims(a, b) == 0 {
                    visit(a.min(b), a.max(b), logit);
                }
            }
            if !found {
                break;
            }
        }
    }

    /// Number of pairs, claimed or not, that would have a logit of at least `threshold` if unclaimed.
    #[must_use]
    pub fn count_as_if_unclaimed(&self, sorted_beta: &[f64], threshold: f64) -> u64 {
        let base = self.evidence_logit(0);
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
