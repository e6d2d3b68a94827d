//! How many pairs are more likely than a given one.

use crate::model::Posterior;

/// Sorted logits, for counting.
pub struct Ranking<'a> {
    posterior: &'a Posterior,
    sorted_beta: Vec<f64>,
    claimed: Vec<f64>,
    claimed_as_if_unclaimed: Vec<f64>,
}

impl<'a> Ranking<'a> {
    /// Sorts what counting needs.
    #[must_use]
    pub fn new(posterior: &'a Posterior) -> Self {
        let sorted = |logits: &mut dyn Iterator<Item = f64>| {
            let mut logits: Vec<f64> = logits.collect();
            logits.sort_unstable_by(f64::total_cmp);
            logits
        };
        let evidence = posterior.evidence();
        Self {
            posterior,
            sorted_beta: posterior.sorted_beta(),
            claimed: sorted(&mut evidence.pairs().map(|(i, j, claims)| posterior.logit(i, j, claims))),
            claimed_as_if_unclaimed: sorted(&mut evidence.pairs().map(|(i, j, _)| posterior.logit(i, j, 0))),
        }
    }

    /// Number of pairs `i < j` whose logit is at least `threshold`.
    ///
    /// # Complexity
    /// `O(n + log(claimed pairs))`.
    #[must_use]
    pub fn count_at_least(&self, threshold: f64) -> u64 {
        let above = |logits: &[f64]| (logits.len() - logits.partition_point(|&logit| logit < threshold)) as u64;
        let unclaimed = self.posterior.count_as_if_unclaimed(&self.sorted_beta, threshold);
        above(&self.claimed) + unclaimed - above(&self.claimed_as_if_unclaimed)
    }

    /// Logits of the claimed pairs, ascending.
    #[must_use]
    pub fn claimed(&self) -> &[f64] {
        &self.claimed
    }
}
