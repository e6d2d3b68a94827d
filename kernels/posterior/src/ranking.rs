//! How many pairs are at least as likely as given ones.

use rayon::prelude::*;

use crate::evidence::Known;
use crate::model::Posterior;

/// For each of the ascending `thresholds`, the number of pairs `i < j` whose logit is at least that.
///
/// # Complexity
/// With planes of evidence, one pass over all pairs; else `O(n)` per threshold and one pass over the
/// known pairs.
///
/// # Panics
/// When the thresholds do not ascend.
#[must_use]
pub fn counts_at_least(posterior: &Posterior, thresholds: &[f64]) -> Vec<u64> {
    assert!(thresholds.is_sorted(), "thresholds ascend");
    let locate = Locator::new(thresholds);
    let evidence = posterior.evidence();
    let n_nodes = posterior.n_nodes();
    let all_pairs = evidence.planes().is_some();
    // passed[k]: pairs that reach exactly the first k thresholds, as they are and as if nothing were known.
    let empty = || (vec![0_i64; thresholds.len() + 1], vec![0_i64; thresholds.len() + 1]);
    let count_row = |(mut passed, mut as_if): (Vec<i64>, Vec<i64>), i: usize| {
        let lower = i as u32;
        if all_pairs {
            let mut next = i as u32 + 1;
            for (j, known) in evidence.row(i) {
                (next..j).for_each(|k| passed[locate.passed(posterior.logit(lower, k, Known::default()))] += 1);
                passed[locate.passed(posterior.logit(lower, j, known))] += 1;
                next = j + 1;
            }
            (next..n_nodes as u32)
                .for_each(|k| passed[locate.passed(posterior.logit(lower, k, Known::default()))] += 1);
        } else {
            for (j, known) in evidence.row(i) {
                passed[locate.passed(posterior.logit(lower, j, known))] += 1;
                as_if[locate.passed(posterior.logit(lower, j, Known::default()))] += 1;
            }
        }
        (passed, as_if)
    };
    let add = |(mut a, mut b): (Vec<i64>, Vec<i64>), (c, d): (Vec<i64>, Vec<i64>)| {
        a.iter_mut().zip(c).for_each(|(a, c)| *a += c);
        b.iter_mut().zip(d).for_each(|(b, d)| *b += d);
        (a, b)
    };
    let (passed, as_if) = (0..n_nodes).into_par_iter().fold(empty, count_row).reduce(empty, add);
    let sorted_beta = posterior.sorted_beta();
    let unknown: Vec<u64> = if all_pairs {
        vec![0; thresholds.len()]
    } else {
        thresholds.par_iter().map(|&threshold| posterior.count_as_if_unknown(&sorted_beta, threshold)).collect()
    };
    let mut counts = vec![0; thresholds.len()];
    let mut reached = 0;
    for k in (0..thresholds.len()).rev() {
        reached += passed[k + 1] - as_if[k + 1];
        counts[k] = unknown[k].wrapping_add_signed(reached);
    }
    counts
}

/// Finds how many thresholds a logit reaches: a table of cells, then a short search.
struct Locator<'a> {
    thresholds: &'a [f64],
    least: f64,
    per_cell: f64,
    /// Thresholds below each cell.
    cells: Vec<u32>,
}

impl<'a> Locator<'a> {
    fn new(thresholds: &'a [f64]) -> Self {
        let finite = || thresholds.iter().copied().filter(|threshold| threshold.is_finite());
        let (least, most) = (finite().fold(f64::INFINITY, f64::min), finite().fold(f64::NEG_INFINITY, f64::max));
        let n_cells = thresholds.len().next_power_of_two().max(16);
        let per_cell = if most > least { n_cells as f64 / (most - least) } else { 1.0 };
        let mut locator = Self { thresholds, least, per_cell, cells: vec![0; n_cells + 1] };
        for &threshold in thresholds {
            let cell = locator.cell(threshold);
            locator.cells[cell + 1] += 1;
        }
        for k in 0..n_cells {
            locator.cells[k + 1] += locator.cells[k];
        }
        locator
    }

    /// Cell of a threshold or logit: one formula for both, so that rounding moves them alike.
    fn cell(&self, x: f64) -> usize {
        ((x - self.least) * self.per_cell).clamp(0.0, self.cells.len() as f64 - 2.0) as usize
    }

    /// Number of thresholds that `logit` reaches.
    fn passed(&self, logit: f64) -> usize {
        let cell = self.cell(logit);
        let (first, last) = (self.cells[cell] as usize, self.cells[cell + 1] as usize);
        first + self.thresholds[first..last].iter().take_while(|&&threshold| threshold <= logit).count()
    }
}
