//! This module lists the most similar of all pairs, in bins.
//!
//! A bin is a class of pairs that are about equally similar. A cell is a small rectangle of a two-dimensional histogram
//! of all pairs: one interval of cosines by one interval of probabilities of a common class. Cell and bin follow from a
//! pair's similarity, so no similarity is ever kept.

use rayon::prelude::*;
use veilgraph_contract::Invalid;
use veilgraph_posterior::{BinLimits, CellBins, bins_of_cells};

use crate::Measure;
use crate::classes::Classes;
use crate::cosine::Directions;
use crate::cosine_join::n_common;
use crate::effort::{self, MOST_MINUTES};

/// Computes the similarities of all pairs, row by row, whenever they are needed.
pub(crate) struct AllPairs {
    pub directions: Directions,
    /// Without predicted classes the features alone decide.
    pub classes: Option<Classes>,
    pub n_nodes: usize,
}

/// Lists similar pairs by their bins.
pub(crate) struct BinnedRows {
    /// There are this many bins, without bin 0 of the pairs that are not listed.
    pub n_bins: u8,
    /// The row of a node holds the later nodes that are similar to it, each with its bin.
    pub rows: Vec<Vec<(u32, u8)>>,
}

/// This many cells divide the cosines; cell 0 holds the pairs without a common feature.
pub(crate) const COSINE_CELLS: usize = 2048;
/// This many cells divide the probabilities of a common class.
pub(crate) const CLASS_CELLS: usize = 128;
/// There are this many cells; the cells of one interval of cosines stand together.
pub(crate) const CELLS: usize = COSINE_CELLS * CLASS_CELLS;

impl AllPairs {
    /// Lists the most similar pairs, at most `most_pairs`, in at most `most_bins` bins of ascending similarity.
    ///
    /// Cosine and classes decide together which pairs are listed. The listed pairs are divided into bins by both, or by
    /// cosine alone.
    ///
    /// In large graphs with sparse features, only the pairs that may be listed are visited. The result is the same.
    ///
    /// # Errors
    /// Fails when to visit the pairs would take hours.
    pub(crate) fn most_similar(
        &self,
        most_pairs: usize,
        most_bins: u8,
        bins_by: Measure,
    ) -> Result<BinnedRows, Invalid> {
        /// In smaller graphs all pairs are visited in less time than it takes to choose.
        const LEAST_NODES: usize = 8192;
        let limits = BinLimits { most_pairs, least_pairs: self.n_nodes / 4, most_bins };
        let found = if self.n_nodes >= LEAST_NODES { self.by_search(limits, bins_by)? } else { None };
        if let Some(found) = found {
            return Ok(found);
        }
        // Both visits look at every pair, which takes about as long as a product.
        let n_products = 2.0 * n_common(self.directions.by_feature()) + (self.n_nodes as f64).powi(2);
        effort::begin(self.n_nodes, n_products, MOST_MINUTES)?;
        Ok(self.by_scan(limits, bins_by))
    }

    /// Visits all pairs, twice.
    pub(crate) fn by_scan(&self, limits: BinLimits, bins_by: Measure) -> BinnedRows {
        let counts = self.cell_counts();
        let by_score = bins_of_cells(&counts, &cell_scores(&counts), limits);
        let CellBins { bin_of_cell, n_bins } = bins_by.of_listed(&counts, by_score, limits);
        let row = |scratch: &mut Scratch, node: usize| {
            let pairs = (node as u32 + 1..).zip(self.cells(node, scratch).map(|cell| bin_of_cell[cell]));
            pairs.filter(|&(_, bin)| bin > 0).collect()
        };
        let rows = (0..self.n_nodes).into_par_iter().map_init(Scratch::default, row).collect();
        BinnedRows { n_bins, rows }
    }

    /// Counts the pairs in each cell.
    ///
    /// # Shapes
    /// Returns `[COSINE_CELLS, CLASS_CELLS]`, row-major.
    fn cell_counts(&self) -> Vec<u64> {
        /// Each part of the nodes has counts of its own, which take longer to write and to add up than a few nodes to visit.
        const NODES_OF_A_PART: usize = 64;
        let parts = (0..self.n_nodes).into_par_iter().with_min_len(NODES_OF_A_PART).fold(
            || (vec![0_u64; CELLS], Scratch::default()),
            |(mut counts, mut scratch), node| {
                self.cells(node, &mut scratch).for_each(|cell| counts[cell] += 1);
                (counts, scratch)
            },
        );
        let sum = parts.map(|(counts, _)| counts).reduce_with(|mut total, counts| {
            total.iter_mut().zip(counts).for_each(|(total, count)| *total += count);
            total
        });
        sum.unwrap_or_else(|| vec![0; CELLS])
    }

    /// Iterates over the cells of the pairs of `node` with every later node.
    fn cells<'a>(&self, node: usize, scratch: &'a mut Scratch) -> impl Iterator<Item = usize> + 'a {
        let Scratch { cosines, same_class } = scratch;
        self.directions.cosines_from(node, node + 1, cosines);
        same_class.resize(cosines.len(), 0.0);
        if let Some(classes) = &self.classes {
            classes.same_class_with_later(node, same_class);
        }
        cosines.iter().zip(&*same_class).map(|(&cosine, &same_class)| cell(cosine, same_class))
    }
}

impl Measure {
    /// Divides the listed pairs into their final bins.
    ///
    /// # Shapes
    /// `counts`: `[COSINE_CELLS, CLASS_CELLS]`, row-major.
    pub(crate) fn of_listed(self, counts: &[u64], by_score: CellBins, limits: BinLimits) -> CellBins {
        match self {
            Self::Score => by_score,
            Self::Cosine => bins_by_cosine(counts, &by_score, limits),
        }
    }
}

/// Returns the cell of a pair with this cosine and this probability of a common class.
pub(crate) fn cell(cosine: f32, same_class: f32) -> usize {
    let class_cell = (same_class * CLASS_CELLS as f32) as usize;
    cosine_cell(cosine) * CLASS_CELLS + class_cell.min(CLASS_CELLS - 1)
}

/// Returns the interval of a cosine.
pub(crate) fn cosine_cell(cosine: f32) -> usize {
    // Rounded up by hand: `ceil` is a call where not every processor has the instruction.
    let scaled = cosine * (COSINE_CELLS - 1) as f32;
    let floor = scaled as usize;
    (floor + usize::from(scaled > floor as f32)).min(COSINE_CELLS - 1)
}

/// Keeps memory for the similarities of one node with all later ones.
#[derive(Default)]
struct Scratch {
    cosines: Vec<f32>,
    /// These are the probabilities that both nodes are of one class.
    same_class: Vec<f32>,
}

/// Divides the pairs that have a bin into others, by their cosines alone.
///
/// # Shapes
/// `counts`: `[COSINE_CELLS, CLASS_CELLS]`, row-major.
fn bins_by_cosine(counts: &[u64], listed: &CellBins, limits: BinLimits) -> CellBins {
    let is_listed = |cell: usize| listed.bin_of_cell[cell] > 0;
    let counts: Vec<u64> =
        counts.iter().enumerate().map(|(cell, &count)| if is_listed(cell) { count } else { 0 }).collect();
    let cosines: Vec<f64> = (0..counts.len()).map(|cell| (cell / CLASS_CELLS) as f64).collect();
    // The listed pairs with the lowest cosines have the first bin.
    let limits = BinLimits { most_bins: limits.most_bins - 1, ..limits };
    let CellBins { bin_of_cell, n_bins } = bins_of_cells(&counts, &cosines, limits);
    let bin = |(cell, bin): (usize, u8)| if is_listed(cell) { bin + 1 } else { 0 };
    CellBins { bin_of_cell: bin_of_cell.into_iter().enumerate().map(bin).collect(), n_bins: n_bins + 1 }
}

/// Returns the similarity of the pairs in each cell, in nats: about how much likelier a link is between them.
///
/// The formula was chosen by looking at the true links of Cora and CiteSeer. Their log odds rise by 0.75 with the
/// negative logarithm of a cosine's rank among all pairs, and with the probability `a` of a common class like
/// `0.8 ln(1 + a / 0.03)`. Only the order of the cells is used: how much likelier links are in each bin is learned from
/// the reports.
///
/// # Shapes
/// `counts`: `[COSINE_CELLS, CLASS_CELLS]`, row-major. Returns the same shape.
pub(crate) fn cell_scores(counts: &[u64]) -> Vec<f64> {
    let total = counts.iter().sum::<u64>() as f64;
    let mut scores = vec![0.0; counts.len()];
    let mut rank = 0;
    for cosine_cell in (0..COSINE_CELLS).rev() {
        let range = cosine_cell * CLASS_CELLS..(cosine_cell + 1) * CLASS_CELLS;
        rank += counts[range.clone()].iter().sum::<u64>();
        let by_cosine = if rank > 0 { -0.75 * libm::log(rank as f64 / total) } else { f64::INFINITY };
        for (class_cell, score) in scores[range].iter_mut().enumerate() {
            *score = by_cosine + 0.8 * libm::log1p(class_cell as f64 / CLASS_CELLS as f64 / 0.03);
        }
    }
    scores
}
