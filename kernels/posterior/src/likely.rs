//! This module finds the most likely pairs.

mod logit_counts;
mod threshold;

use crate::kernel_sum::DistinctParameters;
use crate::logistic_kernel::LogisticKernel;
use crate::model::{Posterior, sigmoid};

pub use logit_counts::LogitCounts;
pub use threshold::LikelyThreshold;

/// Pairs with lower log odds are never among the most likely ones: in single precision their probabilities would be 0, or
/// so small that the inverse of their sum overflows.
const LEAST_LOGIT: f64 = -87.0;

impl Posterior {
    /// Returns the most likely pairs `(i, j, P)` with `i < j`, in no particular order: so many that they make up
    /// `⌊multiple · Σ P⌋` entries of the symmetric matrix `P`, in which a pair has two. Ties are all kept. They are fewer where
    /// too few pairs have a probability above `1e-38`.
    ///
    /// # Complexity
    /// `O(n log n + known pairs + pairs that are found)`.
    ///
    /// # Source
    /// Zhu, Tan, Xiao (2023), Blink, section 4.4, with a multiple of 1.
    #[must_use]
    pub fn most_likely(&self, multiple: f64) -> Vec<(u32, u32, f32)> {
        let LikelyThreshold { rank, logit: threshold } = self.likely_threshold(&self.logit_counts(), multiple);
        if rank == 0 {
            return Vec::new();
        }
        let mut found = Vec::new();
        self.visit_pairs(|logit| logit >= threshold, |i, j, logit| found.push((i, j, sigmoid(logit))));
        if found.is_empty() {
            return Vec::new();
        }
        let rank = (rank as usize).min(found.len());
        // Ties are decided on the probability itself, which no longer grows where the logit still does.
        let (_, &mut (_, _, least), _) = found.select_nth_unstable_by(rank - 1, |a, b| b.2.total_cmp(&a.2));
        found.retain(|&(_, _, probability)| probability >= least);
        found.into_iter().map(|(i, j, probability)| (i, j, probability as f32)).collect()
    }

    /// Counts the known pairs by their logits, and sums by how much they change the expected number of links.
    #[must_use]
    pub fn logit_counts(&self) -> LogitCounts {
        let scale = self.cell_scale();
        LogitCounts {
            n_known_at_most: self.evidence().n_known_at_most() as u64,
            correction: LogitCounts::in_steps(&self.row_corrections(LogisticKernel::Logistic)),
            cells: self.known_histogram(LogitCounts::CELLS, |logit| ((logit - scale.least) / scale.width) as usize),
        }
    }

    /// Returns how many pairs are the most likely ones at most, and a bound on their logits: every one of them reaches it, and
    /// few others do. `counts` are those of all known pairs; the evidence of this posterior is not read.
    #[must_use]
    pub fn likely_threshold(&self, counts: &LogitCounts, multiple: f64) -> LikelyThreshold {
        let as_if_unknown =
            DistinctParameters::new(self.beta()).pair_sum(LogisticKernel::Logistic, self.unknown_logit());
        let expected_links = as_if_unknown + counts.expected_links();
        let n_pairs = self.n_nodes() * self.n_nodes().saturating_sub(1) / 2;
        // The number of entries is twice that of pairs, so the number of pairs is half of it, rounded up.
        let rank = ((2.0 * multiple * expected_links).floor() as usize).div_ceil(2).min(n_pairs) as u64;
        let logit = if rank == 0 { f64::INFINITY } else { self.threshold_for(rank, counts).max(LEAST_LOGIT) };
        LikelyThreshold { rank, logit }
    }

    /// Returns a lower bound on the logit of the `rank`-th most likely pair, so close that few further pairs reach it.
    fn threshold_for(&self, rank: u64, counts: &LogitCounts) -> f64 {
        let among_known = self.threshold_among_known(rank, counts);
        // A threshold that `rank` pairs and as many more as are known would reach if nothing were known is reached by
        // at least `rank` unknown pairs.
        let sorted_beta = self.sorted_beta();
        let needed = rank + counts.n_known_at_most;
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
    fn threshold_among_known(&self, rank: u64, counts: &LogitCounts) -> f64 {
        if counts.n_known_at_most < rank {
            return f64::NEG_INFINITY;
        }
        let scale = self.cell_scale();
        let mut reached = 0;
        for (cell, count) in counts.cells.iter().enumerate().rev() {
            reached += count;
            if reached >= rank {
                // The edge of the cell below is taken, so that the rounding of an edge loses no pair.
                return scale.least + scale.width * (cell as f64 - 1.0);
            }
        }
        f64::NEG_INFINITY
    }

    /// Returns where the cells of [`LogitCounts`] lie; this depends on the parameters alone.
    fn cell_scale(&self) -> CellScale {
        let (least, largest) = self.logit_bounds();
        CellScale { least, width: ((largest - least) / LogitCounts::CELLS as f64).max(f64::MIN_POSITIVE) }
    }
}

/// Says where the cells of a histogram lie: a cell is one of many equal intervals of logits.
struct CellScale {
    /// The lower edge of the first cell.
    least: f64,
    /// The width of a cell.
    width: f64,
}

#[cfg(test)]
mod tests;
