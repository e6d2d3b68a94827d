//! This module counts the pairs that are at least as likely as given ones.

use rayon::prelude::*;

use crate::evidence::Known;
use crate::model::Posterior;

/// For each of the ascending `thresholds`, returns the number of pairs `i < j` whose logit is at least that.
///
/// # Shapes
/// `thresholds`: `[k]`, log odds. Returns `[k]`, pairs.
///
/// # Complexity
/// With planes of claims, or more thresholds than nodes, one pass over all pairs; else `O(n)` per threshold and
/// one pass over the known pairs.
///
/// # Panics
/// Panics when the thresholds do not ascend.
#[must_use]
pub fn counts_at_least(posterior: &Posterior, thresholds: &[f64]) -> Vec<u64> {
    assert!(thresholds.is_sorted(), "thresholds ascend");
    let locator = Locator::new(thresholds);
    let n_nodes = posterior.n_nodes();
    // A threshold costs a pass over all nodes, and all thresholds together one over all pairs.
    let visits_all_pairs = posterior.evidence().planes().is_some() || thresholds.len() > n_nodes;
    let empty = || ReachedCounts::new(thresholds.len());
    let count_row = |mut counts: ReachedCounts, i: usize| {
        if visits_all_pairs {
            counts.add_all_pairs(posterior, &locator, i as u32);
        } else {
            counts.add_known_pairs(posterior, &locator, i as u32);
        }
        counts
    };
    let ReachedCounts(reached) = (0..n_nodes).into_par_iter().fold(empty, count_row).reduce(empty, ReachedCounts::plus);
    let sorted_beta = posterior.sorted_beta();
    let as_if_unknown: Vec<u64> = if visits_all_pairs {
        vec![0; thresholds.len()]
    } else {
        thresholds.par_iter().map(|&threshold| posterior.count_as_if_unknown(&sorted_beta, threshold)).collect()
    };
    let mut counts = vec![0; thresholds.len()];
    let mut change = 0;
    for k in (0..thresholds.len()).rev() {
        change += reached[k + 1];
        counts[k] = as_if_unknown[k].wrapping_add_signed(change);
    }
    counts
}

/// Counts visited pairs by the number of thresholds that their logits reach: entry `k` counts the pairs that reach exactly the
/// first `k` thresholds.
///
/// Where known pairs alone are visited, the counts correct those over all pairs as if nothing were known of any. So each visit
/// adds 1 where the pair is, and subtracts 1 where it would be if nothing were known of it; an entry may be negative.
///
/// # Shapes
/// `[thresholds + 1]`.
struct ReachedCounts(Vec<i64>);

impl ReachedCounts {
    /// Returns counts of no pairs.
    fn new(n_thresholds: usize) -> Self {
        Self(vec![0; n_thresholds + 1])
    }

    /// Counts all pairs of `i` and a later node.
    fn add_all_pairs(&mut self, posterior: &Posterior, locator: &Locator, i: u32) {
        let mut add = |j: u32, known: Known| self.0[locator.n_reached(posterior.logit(i, j, known))] += 1;
        let mut next = i + 1;
        posterior.evidence().row(i as usize).for_each(|(j, known)| {
            (next..j).for_each(|unknown| add(unknown, Known::default()));
            add(j, known);
            next = j + 1;
        });
        (next..posterior.n_nodes() as u32).for_each(|unknown| add(unknown, Known::default()));
    }

    /// Moves the known pairs of `i` and a later node from where they would be if nothing were known of them to where they are.
    fn add_known_pairs(&mut self, posterior: &Posterior, locator: &Locator, i: u32) {
        posterior.evidence().row(i as usize).for_each(|(j, known)| {
            self.0[locator.n_reached(posterior.logit(i, j, known))] += 1;
            self.0[locator.n_reached(posterior.logit(i, j, Known::default()))] -= 1;
        });
    }

    /// Adds the counts of other pairs.
    fn plus(mut self, other: Self) -> Self {
        self.0.iter_mut().zip(other.0).for_each(|(sum, count)| *sum += count);
        self
    }
}

/// Finds how many thresholds a logit reaches.
///
/// The range of the thresholds is divided into cells, which are equal intervals; a table says how many thresholds lie
/// below each cell, and only those inside the cell are compared.
struct Locator<'a> {
    thresholds: &'a [f64],
    least: f64,
    cells_per_nat: f64,
    /// Entry `c` counts the thresholds below cell `c`.
    n_below_cell: Vec<u32>,
}

impl<'a> Locator<'a> {
    /// Builds the table for ascending `thresholds`.
    fn new(thresholds: &'a [f64]) -> Self {
        let finite = || thresholds.iter().copied().filter(|threshold| threshold.is_finite());
        let (least, largest) = (finite().fold(f64::INFINITY, f64::min), finite().fold(f64::NEG_INFINITY, f64::max));
        let n_cells = thresholds.len().next_power_of_two().max(16);
        let cells_per_nat = if largest > least { n_cells as f64 / (largest - least) } else { 1.0 };
        let mut locator = Self { thresholds, least, cells_per_nat, n_below_cell: vec![0; n_cells + 1] };
        for &threshold in thresholds {
            let cell = locator.cell(threshold);
            locator.n_below_cell[cell + 1] += 1;
        }
        for cell in 0..n_cells {
            locator.n_below_cell[cell + 1] += locator.n_below_cell[cell];
        }
        locator
    }

    /// Returns the cell of a threshold or of a logit; one formula serves both, so that both are rounded in the same
    /// way.
    fn cell(&self, x: f64) -> usize {
        ((x - self.least) * self.cells_per_nat).clamp(0.0, self.n_below_cell.len() as f64 - 2.0) as usize
    }

    /// Returns the number of thresholds that are at most `logit`.
    fn n_reached(&self, logit: f64) -> usize {
        let cell = self.cell(logit);
        let (first, last) = (self.n_below_cell[cell] as usize, self.n_below_cell[cell + 1] as usize);
        first + self.thresholds[first..last].iter().take_while(|&&threshold| threshold <= logit).count()
    }
}
