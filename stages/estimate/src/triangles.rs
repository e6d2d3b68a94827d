//! This module finds pairs that likely have neighbours in common.
//!
//! A bin is a class of pairs that are about equally similar. Here pairs have two bins, one of features and one of
//! common neighbours, and every combination of the two is a bin of the result.

use rayon::prelude::*;
use veilgraph_contract::Invalid;
use veilgraph_posterior::{BinLimits, CellBins, Posterior, SimilarPairs, bins_of_cells};

use likely_links::{LikelyLinks, Sums};

mod likely_links;

/// There are at most this many bins of common neighbours, because their combinations with those of features must be
/// numbered in a byte.
const MOST_BINS: u8 = 8;
/// Common neighbours are counted in a graph with this many times as many links as are expected.
const EDGE_MULTIPLE: f64 = 3.0;
/// So many pairs of links with a common node are visited at most, which takes some fifteen seconds on two cores.
const MOST_STEPS: f64 = 1.5e9;
/// One node in so many is visited before all others, to guess how large an index must be for a pair to be listed.
const SAMPLED: u32 = 16;
/// The visit of all nodes keeps so many times as many pairs as may be listed, by the guess. Where it kept fewer than are
/// listed, all nodes are visited once more.
const MARGIN: f64 = 1.25;

/// Lists the pairs whose nodes have similar features, common neighbours, or both.
pub(crate) struct Crossed {
    pub pairs: SimilarPairs,
    /// Each bin of `pairs`, from bin 1 on, is such a combination.
    pub bins: Vec<CrossedBin>,
}

/// Names a combination of two bins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CrossedBin {
    /// This is the bin of features, or 0.
    pub features: u8,
    /// This is the bin of common neighbours, or 0.
    pub neighbours: u8,
}

/// Adds to the similar pairs of the posterior those with the largest index of resource allocation
/// `Σ_k P_ik P_kj / degree_k`, where `k` runs over the likely neighbours of both nodes.
///
/// `P_ij` is not used for the index of `(i, j)`, but it is used for the index of other pairs. Repeating the step would
/// feed a pair's probability back into itself, so it is done once.
///
/// # Shapes
/// `degrees`: `[n]`, links.
///
/// # Complexity
/// `O(Σ_k links_k²)` over the likely links of each node: once, a second time for a sixteenth of the nodes, and a second time for
/// all where too few pairs were kept. In large graphs nodes with very many likely links do not count as common neighbours: such
/// a node would add next to nothing, for one over its degree is a factor, to very many pairs.
///
/// # Source
/// Zhou, Lü, Zhang (2009), Predicting missing links via local information, with probabilities in place of links.
pub(crate) fn cross(posterior: &Posterior, degrees: &[f64], share: f64, most_pairs: usize) -> Result<Crossed, Invalid> {
    let n = posterior.n_nodes();
    let graph = likely_links(posterior, degrees);
    let most_pairs = ((share * (n * (n - 1) / 2) as f64) as usize).min(most_pairs);
    let limits = BinLimits { most_pairs, least_pairs: n / 4, most_bins: MOST_BINS };
    let Neighbours { rows, bin_of_cell, n_bins: n_neighbour_bins } = graph.most_with_common_neighbours(limits);
    let similar = posterior.evidence().similar();
    // The code of a combination is `features + n_feature_bins · neighbours`, where the bins of features include bin 0.
    let n_feature_bins = similar.n_bins() + 1;
    let cross_row = |(i, neighbours): (usize, Vec<(u32, u16)>)| -> Vec<(u32, u8)> {
        let mut both: Vec<(u32, u8)> = similar.row(i).collect();
        for (j, cell) in neighbours {
            let bin = bin_of_cell[usize::from(cell)];
            both.extend((bin > 0).then(|| (j, bin * n_feature_bins)));
        }
        both.sort_unstable_by_key(|&(j, _)| j);
        // A pair that is in both lists has the sum of its codes.
        both.dedup_by(|next, kept| {
            if next.0 != kept.0 {
                return false;
            }
            kept.1 += next.1;
            true
        });
        both
    };
    let rows: Vec<Vec<(u32, u8)>> = rows.into_par_iter().enumerate().map(cross_row).collect();
    let n_bins = n_feature_bins * (n_neighbour_bins + 1) - 1;
    let crossed_bin = |code: u8| CrossedBin { features: code % n_feature_bins, neighbours: code / n_feature_bins };
    Ok(Crossed { pairs: SimilarPairs::from_rows(n_bins, rows)?, bins: (1..=n_bins).map(crossed_bin).collect() })
}

/// Lists the likely links of the posterior.
///
/// # Shapes
/// `degrees`: `[n]`, links.
fn likely_links(posterior: &Posterior, degrees: &[f64]) -> LikelyLinks {
    LikelyLinks::new(posterior.n_nodes(), &posterior.most_likely(EDGE_MULTIPLE), |n_links| {
        // A degree counts as at least half a link.
        let mut inverse_degrees: Vec<f32> = degrees.iter().map(|&degree| 1.0 / degree.max(0.5) as f32).collect();
        let hubs = hubs(n_links, MOST_STEPS);
        if !hubs.is_empty() {
            tracing::info!("{} nodes with very many likely links do not count as common neighbours", hubs.len());
        }
        hubs.into_iter().for_each(|hub| inverse_degrees[hub as usize] = 0.0);
        inverse_degrees
    })
}

impl LikelyLinks {
    /// Keeps at least the pairs that `limits` let into a bin; whoever reads the rows leaves out those whose cell has bin 0.
    fn most_with_common_neighbours(&self, limits: BinLimits) -> Neighbours {
        let cells = Cells::new();
        let scores: Vec<f64> = (0..CELLS).map(|cell| cell as f64).collect();
        let all: Vec<usize> = (0..self.n_nodes()).collect();
        let sampled: Vec<usize> = all.iter().copied().filter(|&node| is_sampled(node)).collect();
        let sampled = self.found(&sampled, &cells, CELLS);
        let guessed = first_cell_kept(&sampled.counts, MARGIN * limits.most_pairs as f64 / f64::from(SAMPLED));
        let mut found = self.found(&all, &cells, guessed);
        let CellBins { bin_of_cell, n_bins } = bins_of_cells(&found.counts, &scores, limits);
        let first_listed = bin_of_cell.partition_point(|&bin| bin == 0);
        if first_listed < guessed {
            found = self.found(&all, &cells, first_listed);
        }
        Neighbours { rows: found.rows, bin_of_cell, n_bins }
    }

    /// Counts the pairs of these nodes and later ones by the cell of their index, and keeps the pairs from cell `first_kept`
    /// on.
    fn found(&self, nodes: &[usize], cells: &Cells, first_kept: usize) -> Found {
        let n = self.n_nodes();
        let empty = || Found { counts: vec![0; CELLS], rows: Vec::new() };
        let visit = |(mut found, mut sums): (Found, Sums), &i: &usize| {
            let mut row = Vec::new();
            self.visit_later(i, &mut sums, |j, index| {
                let cell = cells.of(index);
                found.counts[cell] += 1;
                row.extend((cell >= first_kept).then_some((j, cell as u16)));
            });
            row.shrink_to_fit();
            found.rows.push(row);
            (found, sums)
        };
        let found = nodes.par_iter().fold(|| (empty(), Sums::new(n)), visit).map(|(found, _)| found);
        found.reduce_with(Found::followed_by).unwrap_or_else(empty)
    }
}

/// Holds pairs that have neighbours in common, among them those that are listed.
struct Neighbours {
    /// The row of a node holds later nodes, in any order, with the cells of the indices.
    rows: Vec<Vec<(u32, u16)>>,
    /// `[CELLS]`: the bin of each cell; pairs in cells of bin 0 are not listed.
    bin_of_cell: Vec<u8>,
    /// The number of bins without bin 0.
    n_bins: u8,
}

/// Holds what a visit of some nodes found.
struct Found {
    /// `[CELLS]`: the number of pairs by the cell of their index.
    counts: Vec<u64>,
    /// Each visited node has a row of the later nodes of the pairs that are kept, with the cells of the indices.
    rows: Vec<Vec<(u32, u16)>>,
}

impl Found {
    /// Appends what was found at later nodes.
    fn followed_by(mut self, mut later: Self) -> Self {
        self.counts.iter_mut().zip(later.counts).for_each(|(count, more)| *count += more);
        self.rows.append(&mut later.rows);
        self
    }
}

/// Returns whether a node is in the sample. Neighbouring or equally spaced nodes are not in it or out of it together, since
/// the numbers of nodes may follow a pattern.
fn is_sampled(node: usize) -> bool {
    /// 2^32 over the golden ratio, whose multiples are spread evenly (Knuth, The Art of Computer Programming, section 6.4).
    const SPREAD: u32 = 0x9e37_79b1;
    (node as u32).wrapping_mul(SPREAD) < u32::MAX / SAMPLED
}

/// Returns the first cell that holds, with all later ones, at most `wanted` pairs.
fn first_cell_kept(counts: &[u64], wanted: f64) -> usize {
    let mut n_pairs = 0.0;
    let fits = |&cell: &usize| {
        n_pairs += counts[cell] as f64;
        n_pairs <= wanted
    };
    (0..counts.len()).rev().take_while(fits).last().unwrap_or(counts.len())
}

/// Returns the nodes that are left out so that the others, those with fewer links first, have at most `most_steps` pairs of links
/// at a common node.
///
/// # Shapes
/// `n_links`: `[n]`.
fn hubs(n_links: &[usize], most_steps: f64) -> Vec<u32> {
    let mut nodes: Vec<u32> = (0..n_links.len() as u32).collect();
    nodes.sort_by_key(|&node| n_links[node as usize]);
    let mut n_steps = 0.0;
    let is_left_out = |&node: &u32| {
        n_steps += (n_links[node as usize] as f64).powi(2) / 2.0;
        n_steps > most_steps
    };
    let first = nodes.iter().position(is_left_out).unwrap_or(nodes.len());
    nodes.split_off(first)
}

/// A histogram of the index has this many cells.
const CELLS: usize = 1024;
/// So many cells make a factor of two.
const PER_OCTAVE: usize = 16;

/// Divides the logarithm of the index into equal intervals, the cells. The first one begins at 2^-60.
struct Cells {
    /// The least number between 1 and 2 in each cell but the first: `2^{1/16}`, `2^{2/16}` and so on, rounded up.
    begins: [f32; PER_OCTAVE - 1],
}

impl Cells {
    fn new() -> Self {
        let begin = |before: usize| {
            let exact = libm::exp2((before + 1) as f64 / PER_OCTAVE as f64);
            let rounded = exact as f32;
            if f64::from(rounded) < exact { rounded.next_up() } else { rounded }
        };
        Self { begins: std::array::from_fn(begin) }
    }

    /// Returns the cell of an index. The logarithm of every pair would take longer than the sums, so its whole part is read
    /// from the bits of the number, and the rest by comparison.
    fn of(&self, index: f32) -> usize {
        const FIRST: i32 = -60;
        let bits = index.to_bits();
        let octave = (bits >> 23) as i32 - 127;
        let between_1_and_2 = f32::from_bits((bits & 0x007f_ffff) | 0x3f80_0000);
        let within = self.begins.iter().filter(|&&begin| begin <= between_1_and_2).count() as i32;
        ((octave - FIRST) * PER_OCTAVE as i32 + within).clamp(0, CELLS as i32 - 1) as usize
    }
}

#[cfg(test)]
mod tests;
