//! The most likely pairs.

use crate::kernel_sum::Kernel;
use crate::model::{Posterior, sigmoid};

impl Posterior {
    /// The most likely pairs `(i, j, P)` with `i < j`: `⌊multiple · Σ P⌋` of them, where both count every pair in both
    /// directions; ties are all kept. In no particular order.
    ///
    /// # Complexity
    /// `O(n log n + known pairs + pairs that are found)`.
    ///
    /// # Source
    /// Zhu, Tan, Xiao (2023), Blink, section 4.4, with a multiple of 1.
    #[must_use]
    pub fn most_likely(&self, multiple: f64) -> Vec<(u32, u32, f32)> {
        let expected_links = self.pair_sum(Kernel::Logistic);
        let n_pairs = self.n_nodes() * self.n_nodes().saturating_sub(1) / 2;
        // The rank counts ordered pairs and P is symmetric: unordered, it is half of that, rounded up.
        let rank = ((2.0 * multiple * expected_links).floor() as usize).div_ceil(2).min(n_pairs);
        if rank == 0 {
            return Vec::new();
        }
        let floor = self.enough(rank);
        let mut found = Vec::new();
        self.visit_pairs(|logit| logit >= floor, |i, j, logit| found.push((i, j, sigmoid(logit))));
        let rank = rank.min(found.len());
        // Ties are decided on the probability itself, which saturates where the logit still grows.
        let (_, &mut (_, _, least), _) = found.select_nth_unstable_by(rank - 1, |a, b| b.2.total_cmp(&a.2));
        found.retain(|&(_, _, probability)| probability >= least);
        found.into_iter().map(|(i, j, probability)| (i, j, probability as f32)).collect()
    }

    /// A logit that at least `rank` pairs reach, and not many more.
    fn enough(&self, rank: usize) -> f64 {
        let among_known = self.enough_known(rank);
        // Among the others: a threshold that holds even if all known pairs were counted with them.
        let sorted = self.sorted_beta();
        let needed = (rank + self.evidence().n_known_at_most()) as u64;
        let (mut low, mut high) = (-800.0, 800.0);
        if self.count_as_if_unknown(&sorted, low) < needed {
            return among_known;
        }
        while high - low > 1e-3 {
            let middle = f64::midpoint(low, high);
            if self.count_as_if_unknown(&sorted, middle) >= needed {
                low = middle;
            } else {
                high = middle;
            }
        }
        among_known.max(low)
    }

    /// A logit that at least `rank` known pairs reach, from a histogram; `-∞` if there are fewer.
    fn enough_known(&self, rank: usize) -> f64 {
        const CELLS: usize = 1 << 16;
        if self.evidence().n_known_at_most() < rank {
            return f64::NEG_INFINITY;
        }
        let (least, most) = self.logit_bounds();
        let width = ((most - least) / CELLS as f64).max(f64::MIN_POSITIVE);
        let counts = self.known_histogram(CELLS, |logit| ((logit - least) / width) as usize);
        let mut reached = 0;
        for (cell, count) in counts.into_iter().enumerate().rev() {
            reached += count;
            if reached >= rank as u64 {
                // One cell lower, so that no rounding of a cell's edge loses a pair.
                return least + width * (cell as f64 - 1.0);
            }
        }
        f64::NEG_INFINITY
    }
}
