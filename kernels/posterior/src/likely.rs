//! This module finds the most likely pairs.

use crate::logistic_kernel::LogisticKernel;
use crate::model::{Posterior, sigmoid};

impl Posterior {
    /// Returns the most likely pairs `(i, j, P)` with `i < j`, in no particular order: so many that they make up
    /// `⌊multiple · Σ P⌋` entries of the symmetric matrix `P`, in which a pair has two. Ties are all kept.
    ///
    /// # Complexity
    /// `O(n log n + known pairs + pairs that are found)`.
    ///
    /// # Source
    /// Zhu, Tan, Xiao (2023), Blink, section 4.4, with a multiple of 1.
    #[must_use]
    pub fn most_likely(&self, multiple: f64) -> Vec<(u32, u32, f32)> {
        let expected_links = self.pair_sum(LogisticKernel::Logistic);
        let n_pairs = self.n_nodes() * self.n_nodes().saturating_sub(1) / 2;
        // The number of entries is twice that of pairs, so the number of pairs is half of it, rounded up.
        let rank = ((2.0 * multiple * expected_links).floor() as usize).div_ceil(2).min(n_pairs);
        if rank == 0 {
            return Vec::new();
        }
        let threshold = self.threshold_for(rank);
        let mut found = Vec::new();
        self.visit_pairs(|logit| logit >= threshold, |i, j, logit| found.push((i, j, sigmoid(logit))));
        let rank = rank.min(found.len());
        // Ties are decided on the probability itself, which no longer grows where the logit still does.
        let (_, &mut (_, _, least), _) = found.select_nth_unstable_by(rank - 1, |a, b| b.2.total_cmp(&a.2));
        found.retain(|&(_, _, probability)| probability >= least);
        found.into_iter().map(|(i, j, probability)| (i, j, probability as f32)).collect()
    }

    /// Returns a lower bound on the logit of the `rank`-th most likely pair, so close that few further pairs reach it.
    fn threshold_for(&self, rank: usize) -> f64 {
        let among_known = self.threshold_among_known(rank);
        // A threshold that `rank` pairs and as many more as are known would reach if nothing were known is reached by
        // at least `rank` unknown pairs.
        let sorted_beta = self.sorted_beta();
        let needed = (rank + self.evidence().n_known_at_most()) as u64;
        let (mut low, mut high) = (-800.0, 800.0);
        if self.count_as_if_unknown(&sorted_beta, low) < needed {
            return among_known;
        }
        while high - low > 1e-3 {
            let middle = f64::midpoint(low, high);
            if self.count_as_if_unknown(&sorted_beta, middle) >= needed {
                low = middle;
            } else {
                high = middle;
            }
        }
        among_known.max(low)
    }

    /// Returns a logit that at least `rank` known pairs reach, or `-∞` if there are fewer known pairs.
    ///
    /// The logit is the edge of a cell of a histogram: a cell is one of many equal intervals of logits.
    fn threshold_among_known(&self, rank: usize) -> f64 {
        const CELLS: usize = 1 << 16;
        if self.evidence().n_known_at_most() < rank {
            return f64::NEG_INFINITY;
        }
        let (least, largest) = self.logit_bounds();
        let width = ((largest - least) / CELLS as f64).max(f64::MIN_POSITIVE);
        let counts = self.known_histogram(CELLS, |logit| ((logit - least) / width) as usize);
        let mut reached = 0;
        for (cell, count) in counts.into_iter().enumerate().rev() {
            reached += count;
            if reached >= rank as u64 {
                // The edge of the cell below is taken, so that the rounding of an edge loses no pair.
                return least + width * (cell as f64 - 1.0);
            }
        }
        f64::NEG_INFINITY
    }
}
