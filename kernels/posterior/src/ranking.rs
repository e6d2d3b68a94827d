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
/// Where more than a third of all pairs are known, this takes one pass over all pairs. Elsewhere it takes one pass over the
/// known pairs, `O(n log k)` to divide the thresholds into lower and higher ones, `O(n)` for each lower one, and a visit of the
/// pairs that would reach the least higher one if nothing were known of any. They are divided where the visits begin to cost
/// less than the passes; no division costs less than half of that. In a large graph few links have a logit that many unclaimed
/// pairs would reach, so that both parts are small.
///
/// # Panics
/// Panics when the thresholds do not ascend.
#[must_use]
pub fn counts_at_least(posterior: &Posterior, thresholds: &[f64]) -> Vec<u64> {
    assert!(thresholds.is_sorted(), "thresholds ascend");
    let locator = Locator::new(thresholds);
    let n_nodes = posterior.n_nodes();
    let empty = || ReachedCounts::new(&locator);
    let count = |add: &(dyn Fn(&mut ReachedCounts, usize) + Sync), n_parts: usize| {
        let add = |mut counts: ReachedCounts, part: usize| {
            add(&mut counts, part);
            counts
        };
        (0..n_parts).into_par_iter().fold(empty, add).reduce_with(ReachedCounts::plus).unwrap_or_else(empty)
    };
    // Adds the pairs that reach each threshold from the `first` one on.
    let add_reached = |reached: ReachedCounts, first: usize, counts: &mut [u64]| {
        let reached = reached.by_number(&locator);
        let mut change = 0;
        for k in (first..thresholds.len()).rev() {
            change += reached[k + 1];
            counts[k] = counts[k].wrapping_add_signed(change);
        }
    };
    let mut counts = vec![0; thresholds.len()];
    if many_are_known(posterior) {
        let all = count(&|counts, i| counts.add_all_pairs(posterior, &locator, i as u32), n_nodes);
        add_reached(all, 0, &mut counts);
        return counts;
    }
    let sorted_beta = posterior.sorted_beta();
    let first_visited = first_visited(posterior, &sorted_beta, thresholds);
    let (lower, higher) = thresholds.split_at(first_visited);
    let count_one =
        |(count, &threshold): (&mut u64, &f64)| *count = posterior.count_as_if_unknown(&sorted_beta, threshold);
    counts[..first_visited].par_iter_mut().zip(lower).for_each(count_one);
    if let Some(&least) = higher.first() {
        let groups: Vec<&[f64]> = sorted_beta.chunks(GROUP).collect();
        let unknown_logit = posterior.unknown_logit();
        let visit = |counts: &mut ReachedCounts, k: usize| {
            counts.add_as_if_unknown(&groups[k..], unknown_logit, least, &locator);
        };
        // No pair of two nodes of later groups reaches the threshold.
        let n_groups = groups.partition_point(|group| group[0] + group[0] + unknown_logit >= least);
        add_reached(count(&visit, n_groups), first_visited, &mut counts);
    }
    let known = count(&|counts, i| counts.add_known_pairs(posterior, &locator, i as u32), n_nodes);
    add_reached(known, 0, &mut counts);
    counts
}

/// Returns the first one of the thresholds for which all pairs are visited that would reach it if nothing were known of any. For
/// each earlier one, these pairs are counted in a pass over all nodes.
///
/// # Shapes
/// `sorted_beta`: `[n]`, descending; `thresholds`: ascending.
pub(crate) fn first_visited(posterior: &Posterior, sorted_beta: &[f64], thresholds: &[f64]) -> usize {
    let (mut first, mut end) = (0, thresholds.len());
    while first < end {
        let middle = first.midpoint(end);
        // Whether the visits take longer than the passes up to and with this threshold.
        let visits = posterior.count_as_if_unknown(sorted_beta, thresholds[middle]);
        if visits > (middle as u64 + 1) * sorted_beta.len() as u64 {
            first = middle + 1;
        } else {
            end = middle;
        }
    }
    first
}

/// Returns whether one pass over all pairs takes less time than a pass as if nothing were known and a correction of each
/// known pair.
///
/// The first of these visits pairs in the order of node numbers, and the counts that it changes lie anywhere in memory. A pass
/// as if nothing were known can visit them in the order of parameters, and changes counts that lie next to each other. That
/// saves about a third of the time of a correction, which changes two counts anywhere, for every pair. The share is that of a
/// visit of all pairs as if nothing were known; where fewer of them are visited, a larger one would do.
pub(crate) fn many_are_known(posterior: &Posterior) -> bool {
    let n_nodes = posterior.n_nodes() as f64;
    3.0 * posterior.evidence().n_known_at_most() as f64 > n_nodes * (n_nodes - 1.0) / 2.0
}

/// So many nodes with parameters next to each other are a group. The logits of the pairs of two groups are close together,
/// and so are the entries that they add to.
const GROUP: usize = 64;

/// Counts visited pairs by the number of thresholds that their logits reach.
///
/// Where known pairs alone are visited, the counts correct those over all pairs as if nothing were known of any. So each
/// visit adds 1 where the pair is, and subtracts 1 where it would be if nothing were known of it; an entry may be negative.
struct ReachedCounts {
    /// `[held cells + 1]`: entry `k` counts the pairs whose logit is in a cell without thresholds, and lies above exactly `k`
    /// cells that hold some.
    between: Vec<i64>,
    /// `[thresholds + 1]`: entry `k` counts the other pairs that reach exactly the first `k` thresholds.
    within: Vec<i64>,
}

impl ReachedCounts {
    /// Returns counts of no pairs.
    fn new(locator: &Locator) -> Self {
        Self { between: vec![0; locator.first_of_held.len()], within: vec![0; locator.thresholds.len() + 1] }
    }

    /// Adds `change` where a pair with this logit is counted.
    #[inline]
    fn add(&mut self, locator: &Locator, logit: f64, change: i64) {
        match locator.place(logit) {
            Place::Between { n_held } => self.between[n_held] += change,
            Place::Within { n_reached } => self.within[n_reached] += change,
        }
    }

    /// Counts all pairs of `i` and a later node.
    fn add_all_pairs(&mut self, posterior: &Posterior, locator: &Locator, i: u32) {
        let mut add = |j: u32, known: Known| self.add(locator, posterior.logit(i, j, known), 1);
        let mut next = i + 1;
        posterior.evidence().row(i as usize).for_each(|(j, known)| {
            (next..j).for_each(|unknown| add(unknown, Known::default()));
            add(j, known);
            next = j + 1;
        });
        (next..posterior.n_nodes() as u32).for_each(|unknown| add(unknown, Known::default()));
    }

    /// Moves the known pairs of `i` and a later node from where they would be if nothing were known of them to where they
    /// are.
    fn add_known_pairs(&mut self, posterior: &Posterior, locator: &Locator, i: u32) {
        posterior.evidence().row(i as usize).for_each(|(j, known)| {
            self.add(locator, posterior.logit(i, j, known), 1);
            self.add(locator, posterior.logit(i, j, Known::default()), -1);
        });
    }

    /// Counts the pairs of two nodes of the first group, and those of a node of the first and one of a later group, as if
    /// nothing were known of any. Pairs whose logit is below `least` may be left out.
    ///
    /// # Shapes
    /// `groups`: the parameters of each group, in descending order.
    fn add_as_if_unknown(&mut self, groups: &[&[f64]], unknown_logit: f64, least: f64, locator: &Locator) {
        let mut add = |a: f64, b: f64| self.add(locator, a + b + unknown_logit, 1);
        let Some((first, later)) = groups.split_first() else { return };
        let may_reach = |group: &[f64]| first[0] + group[0] + unknown_logit >= least;
        for (position, &a) in first.iter().enumerate() {
            first[position + 1..].iter().for_each(|&b| add(a, b));
        }
        for group in later.iter().take_while(|group| may_reach(group)) {
            for &a in *first {
                group.iter().for_each(|&b| add(a, b));
            }
        }
    }

    /// Adds the counts of other pairs.
    fn plus(mut self, other: Self) -> Self {
        self.between.iter_mut().zip(other.between).for_each(|(sum, count)| *sum += count);
        self.within.iter_mut().zip(other.within).for_each(|(sum, count)| *sum += count);
        self
    }

    /// Returns the counts by the number of reached thresholds.
    ///
    /// # Shapes
    /// Returns `[thresholds + 1]`.
    fn by_number(self, locator: &Locator) -> Vec<i64> {
        let mut reached = self.within;
        for (&n_reached, count) in locator.first_of_held.iter().zip(self.between) {
            reached[n_reached as usize] += count;
        }
        reached
    }
}

/// Says where a logit is among the thresholds.
enum Place {
    /// In a cell without thresholds, above so many cells that hold some.
    Between { n_held: usize },
    /// In a cell that holds thresholds, and at least as large as so many of all thresholds.
    Within { n_reached: usize },
}

/// Finds how many thresholds a logit reaches.
///
/// The range of the thresholds is divided into cells, which are equal intervals. Few of them hold thresholds, unless there
/// are millions of these, and the thresholds need not be looked at for a logit in another cell.
struct Locator<'a> {
    thresholds: &'a [f64],
    least: f64,
    cells_per_nat: f64,
    /// Cells are numbered from 0 to this number.
    last_cell: f64,
    /// Entry `c` is twice the number of the cells before cell `c` that hold thresholds, plus 1 where cell `c` holds some.
    cells: Vec<u32>,
    /// `[held cells + 1]`: the first threshold of each cell that holds some, and the number of all thresholds.
    first_of_held: Vec<u32>,
}

impl<'a> Locator<'a> {
    /// Builds the table for ascending `thresholds`.
    fn new(thresholds: &'a [f64]) -> Self {
        const CELLS_PER_THRESHOLD: usize = 2;
        /// A larger table would lie in no cache. The numbers of cells must fit into 32 bits.
        const MOST_CELLS: usize = 1 << 22;
        let finite = || thresholds.iter().copied().filter(|threshold| threshold.is_finite());
        let (least, largest) = (finite().fold(f64::INFINITY, f64::min), finite().fold(f64::NEG_INFINITY, f64::max));
        let n_cells = (CELLS_PER_THRESHOLD * thresholds.len()).next_power_of_two().clamp(16, MOST_CELLS);
        let cells_per_nat = if largest > least { n_cells as f64 / (largest - least) } else { 1.0 };
        let mut locator = Self {
            thresholds,
            least,
            cells_per_nat,
            last_cell: n_cells as f64 - 1.0,
            cells: vec![0; n_cells],
            first_of_held: Vec::new(),
        };
        for (k, &threshold) in thresholds.iter().enumerate() {
            let cell = locator.cell(threshold);
            if locator.cells[cell] == 0 {
                locator.cells[cell] = 1;
                locator.first_of_held.push(k as u32);
            }
        }
        locator.first_of_held.push(thresholds.len() as u32);
        let mut n_held = 0;
        for cell in &mut locator.cells {
            let holds = *cell;
            *cell += 2 * n_held;
            n_held += holds;
        }
        locator
    }

    /// Returns the cell of a threshold or of a logit. One formula serves both and never falls where `x` grows, also by
    /// rounding, so a logit exceeds the thresholds of all cells before its own.
    #[inline]
    fn cell(&self, x: f64) -> usize {
        /// Numbers from 2^52 to 2^53 have no fraction, so adding 2^52 rounds to a whole number, which then stands in the last
        /// bits. That takes a fraction of the time of a checked conversion.
        const TWO_TO_52: f64 = (1_u64 << 52) as f64;
        let cell = ((x - self.least) * self.cells_per_nat).clamp(0.0, self.last_cell);
        (cell + TWO_TO_52).to_bits() as u32 as usize
    }

    /// Returns where a logit is.
    #[inline]
    fn place(&self, logit: f64) -> Place {
        let cell = self.cells[self.cell(logit)];
        let n_held = (cell / 2) as usize;
        if cell.is_multiple_of(2) {
            return Place::Between { n_held };
        }
        let (first, last) = (self.first_of_held[n_held] as usize, self.first_of_held[n_held + 1] as usize);
        Place::Within {
            n_reached: first + self.thresholds[first..last].partition_point(|&threshold| threshold <= logit),
        }
    }
}

#[cfg(test)]
mod tests;
