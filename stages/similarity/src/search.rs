//! This module lists the most similar pairs without visiting the pairs that cannot be among them.
//!
//! The pairs of some nodes say about how large a cosine must be for a pair to be listed. The pairs with larger cosines are
//! found and counted. If their counts prove that no other pair can be listed, the list is the one that all pairs would give;
//! if they do not, more pairs are searched.
//!
//! Among hundreds of thousands of nodes to find all of these pairs takes minutes to hours. Then those are listed that have
//! enough of their rarest features in common.

use rayon::prelude::*;
use veilgraph_contract::Invalid;
use veilgraph_posterior::{BinLimits, bins_of_cells};

use crate::Measure;
use crate::bins::{AllPairs, BinnedRows, CELLS, CLASS_CELLS, COSINE_CELLS, cell, cell_scores, cosine_cell};
use crate::cosine::{blocks, may_have_larger};
use crate::cosine_join::{CosineJoin, JoinScratch, n_common};
use crate::effort::{self, LOOK, MOST_MINUTES, PRODUCTS_OF_A_MINUTE};

/// Says which pairs are searched.
struct Reach {
    /// Pairs with a cosine below this interval are not.
    least_cell: usize,
    /// The pairs of these cells may be listed.
    may_be_listed: Vec<bool>,
}

/// Holds the pairs that were found.
struct FoundPairs {
    /// `[COSINE_CELLS, CLASS_CELLS]`, row-major; all pairs that were not found are in the first cell.
    counts: Vec<u64>,
    /// The row of a node holds the later nodes with which it may be listed, in ascending order, and the cells.
    rows: Vec<Vec<(u32, u32)>>,
    /// Whether all pairs within reach were found.
    are_all: bool,
}

/// How long a search may take.
#[derive(Clone, Copy)]
struct Effort {
    /// With more products than these, some pairs may be missed where that makes the search short enough. Results follow from this
    /// number, so the number of threads does not change it.
    few: f64,
    /// A search that takes longer is refused.
    most_minutes: f64,
}

/// How the pairs within reach are found.
enum Finder<'a> {
    /// By the sums of the products of common features, of all pairs.
    Plain,
    /// By lists of the nodes that have a feature in their head; where heads are short, some pairs are missed.
    Join { join: CosineJoin<'a>, finds_all: bool },
}

impl AllPairs {
    /// Lists the most similar pairs; returns nothing where that takes a look at all pairs.
    ///
    /// # Errors
    /// Fails where the search would take hours.
    pub(crate) fn by_search(&self, limits: BinLimits, bins_by: Measure) -> Result<Option<BinnedRows>, Invalid> {
        let effort = Effort { few: PRODUCTS_OF_A_MINUTE, most_minutes: MOST_MINUTES };
        self.by_search_within(effort, limits, bins_by)
    }

    /// Does the same with this effort.
    fn by_search_within(
        &self,
        effort: Effort,
        limits: BinLimits,
        bins_by: Measure,
    ) -> Result<Option<BinnedRows>, Invalid> {
        /// So many times as many pairs as may be listed are searched for; the next number counts where that proves nothing.
        const MARGINS: [f64; 3] = [1.3, 2.5, 8.0];
        if !self.directions.are_positive() {
            return Ok(None);
        }
        let sampled = self.sampled_counts();
        for margin in MARGINS {
            let Some(reach) = self.reach(&sampled, limits.most_pairs, margin) else { continue };
            let FoundPairs { mut counts, rows, are_all } = self.found(&reach, effort)?;
            let scores = cell_scores(&counts);
            if !are_all {
                // The rows hold no pairs of other cells, and more of these cannot be proved.
                for cell in (1..CELLS).filter(|&cell| !reach.may_be_listed[cell]) {
                    counts[0] += std::mem::take(&mut counts[cell]);
                }
            }
            let by_score = bins_of_cells(&counts, &scores, limits);
            let held = (1..CELLS).filter(|&cell| counts[cell] > 0);
            let (listed, left): (Vec<usize>, Vec<usize>) = held.partition(|&cell| by_score.bin_of_cell[cell] > 0);
            // No pair that was not searched has a larger score than this.
            let largest_unseen = scores[(reach.least_cell - 1) * CLASS_CELLS + self.best_class()];
            let largest_left = left.into_iter().map(|cell| scores[cell]).fold(f64::NEG_INFINITY, f64::max);
            let is_proved = largest_left >= largest_unseen && listed.iter().all(|&cell| reach.may_be_listed[cell]);
            let found = counts[1..].iter().sum::<u64>();
            tracing::debug!(margin, is_proved, are_all, found, "similar pairs searched");
            if is_proved || !are_all {
                let bins = bins_by.of_listed(&counts, by_score, limits);
                let row = |row: Vec<(u32, u32)>| -> Vec<(u32, u8)> {
                    let binned = row.into_iter().map(|(other, cell)| (other, bins.bin_of_cell[cell as usize]));
                    binned.filter(|&(_, bin)| bin > 0).collect()
                };
                let rows = rows.into_par_iter().map(row).collect();
                return Ok(Some(BinnedRows { n_bins: bins.n_bins, rows }));
            }
        }
        Ok(None)
    }

    /// Counts the pairs of every so many nodes with all others.
    ///
    /// # Shapes
    /// Returns `[COSINE_CELLS, CLASS_CELLS]`, row-major.
    fn sampled_counts(&self) -> Vec<u64> {
        const SAMPLED: usize = 256;
        let (mut counts, mut cosines) = (vec![0; CELLS], Vec::new());
        for node in (0..self.n_nodes).step_by(self.n_nodes.div_ceil(SAMPLED)) {
            self.directions.cosines_from(node, 0, &mut cosines);
            for (other, &cosine) in cosines.iter().enumerate().filter(|&(other, _)| other != node) {
                counts[cell(cosine, self.same_class(node, other))] += 1;
            }
        }
        counts
    }

    /// Chooses what is searched so that about `margin` times `most_pairs` may be listed; nothing where pairs without a common
    /// feature may be listed.
    fn reach(&self, sampled: &[u64], most_pairs: usize, margin: f64) -> Option<Reach> {
        let n_pairs = self.n_nodes as f64 * (self.n_nodes as f64 - 1.0) / 2.0;
        let wanted = margin * most_pairs as f64 / n_pairs * sampled.iter().sum::<u64>() as f64;
        let scores = cell_scores(sampled);
        let mut cells: Vec<usize> = (0..CELLS).filter(|&cell| sampled[cell] > 0).collect();
        cells.sort_unstable_by(|&a, &b| scores[b].total_cmp(&scores[a]));
        let mut passed = 0;
        let last = cells.into_iter().find(|&cell| {
            passed += sampled[cell];
            passed as f64 >= wanted
        })?;
        let may_be_listed: Vec<bool> = scores.iter().map(|&score| score >= scores[last]).collect();
        let least_cell = (0..COSINE_CELLS).find(|cosine| may_be_listed[cosine * CLASS_CELLS + self.best_class()])?;
        (least_cell > 0).then_some(Reach { least_cell, may_be_listed })
    }

    /// Finds the pairs within reach.
    fn found(&self, reach: &Reach, effort: Effort) -> Result<FoundPairs, Invalid> {
        /// Products in single precision may be too low by this much.
        const ROUNDING: f32 = 1e-6;
        // A pair is in the least interval or a later one only where its cosine is above this.
        let least = ((reach.least_cell - 1) as f32 / (COSINE_CELLS - 1) as f32 - ROUNDING).max(0.0);
        let finder = self.finder(least, effort)?;
        let search = |found: &mut FoundPairs, scratch: &mut Scratch, node: usize| {
            let mut row = Vec::new();
            let mut take = |other: u32, cosine: f32| {
                if cosine_cell(cosine) >= reach.least_cell {
                    let cell = cell(cosine, self.same_class(node, other as usize));
                    found.counts[cell] += 1;
                    if reach.may_be_listed[cell] {
                        row.push((other, cell as u32));
                    }
                }
            };
            match &finder {
                Finder::Join { join, .. } => join.search(node, &mut scratch.join, take),
                Finder::Plain => {
                    self.directions.cosines_from(node, node + 1, &mut scratch.cosines);
                    for (first, block) in blocks(&scratch.cosines).filter(|(_, block)| may_have_larger(block, least)) {
                        let later = (node as u32 + 1 + first..).zip(block);
                        later.filter(|&(_, &cosine)| cosine > least).for_each(|(other, &cosine)| take(other, cosine));
                    }
                }
            }
            row.sort_unstable();
            found.rows.push(row);
        };
        let are_all = matches!(finder, Finder::Plain | Finder::Join { finds_all: true, .. });
        let empty = || FoundPairs { counts: vec![0; CELLS], rows: Vec::new(), are_all };
        let of_nodes = |(mut found, mut scratch): (FoundPairs, Scratch), node: usize| {
            search(&mut found, &mut scratch, node);
            (found, scratch)
        };
        let all = (0..self.n_nodes).into_par_iter().fold(|| (empty(), Scratch::default()), of_nodes);
        let mut all = all.map(|(found, _)| found).reduce_with(FoundPairs::followed_by).unwrap_or_else(empty);
        let n_pairs = self.n_nodes as u64 * (self.n_nodes as u64 - 1) / 2;
        all.counts[0] += n_pairs - all.counts.iter().sum::<u64>();
        Ok(all)
    }

    /// Chooses the fastest way to find the pairs with a cosine above `least`, or a way that misses some where every other one
    /// takes too long.
    fn finder(&self, least: f32, effort: Effort) -> Result<Finder<'_>, Invalid> {
        // The search without heads adds a product for every common feature of every pair, and then looks at the sums of all
        // pairs. These two numbers say which way is taken.
        /// To read an entry of the join is taken to last so many times as long as to add a product, since it is read twice and
        /// in short pieces; it is a guess. Among a million nodes it takes about 5 ns.
        const JOIN_STEP: f64 = 3.0;
        /// The longest rests of short heads: the first of them for which the search is short enough counts. With longer ones
        /// only half of the pairs are found in the graph of docs/decisions.md (similarity).
        const RESTS: [f32; 5] = [0.4, 0.5, 0.6, 0.7, 0.8];
        let plain = n_common(self.directions.by_feature()) + LOOK * (self.n_nodes as f64).powi(2) / 2.0;
        if least <= 0.0 {
            effort::begin(self.n_nodes, plain, effort.most_minutes)?;
            return Ok(Finder::Plain);
        }
        let costs = |rests: &[f32]| -> Vec<f64> {
            CosineJoin::n_steps(&self.directions, rests).into_iter().map(|steps| JOIN_STEP * steps).collect()
        };
        let exact_cost = costs(&[least / 2.0])[0];
        let rests: Vec<f32> = RESTS.into_iter().filter(|&rest| rest > least / 2.0).collect();
        let is_long = plain.min(exact_cost) > effort.few;
        let short = is_long.then(|| rests.iter().zip(costs(&rests)).find(|&(_, cost)| cost <= effort.few)).flatten();
        if let Some((&rest, products)) = short {
            tracing::info!(
                "{} nodes are too many to compare all of them: pairs that have few rare features in common may be missed",
                self.n_nodes
            );
            tracing::debug!(rest, least, products, "short heads");
            return Ok(Finder::Join { join: CosineJoin::new(&self.directions, least, rest), finds_all: false });
        }
        effort::begin(self.n_nodes, plain.min(exact_cost), effort.most_minutes)?;
        Ok(if exact_cost < plain {
            Finder::Join { join: CosineJoin::new(&self.directions, least, least / 2.0), finds_all: true }
        } else {
            Finder::Plain
        })
    }

    /// Returns the interval of the largest probability of a common class.
    fn best_class(&self) -> usize {
        if self.classes.is_some() { CLASS_CELLS - 1 } else { 0 }
    }

    /// Returns the probability that two nodes are of one class; 0 where classes do not count.
    fn same_class(&self, a: usize, b: usize) -> f32 {
        self.classes.as_ref().map_or(0.0, |classes| classes.same_class(a, b))
    }
}

impl FoundPairs {
    /// Appends the pairs of later nodes.
    fn followed_by(mut self, mut later: Self) -> Self {
        self.counts.iter_mut().zip(later.counts).for_each(|(count, more)| *count += more);
        self.rows.append(&mut later.rows);
        self
    }
}

/// Keeps memory for the search from one node.
#[derive(Default)]
struct Scratch {
    join: JoinScratch,
    cosines: Vec<f32>,
}

#[cfg(test)]
pub(crate) mod tests;
