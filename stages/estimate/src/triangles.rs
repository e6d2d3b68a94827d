//! This module finds pairs that likely have neighbours in common.
//!
//! A bin is a class of pairs that are about equally similar. Here pairs have two bins, one of features and one of
//! common neighbours, and every combination of the two is a bin of the result.

use rayon::prelude::*;
use veilgraph_contract::Invalid;
use veilgraph_posterior::{BinLimits, CellBins, Posterior, SimilarPairs, bins_of_cells};

/// There are at most this many bins of common neighbours, because their combinations with those of features must be
/// numbered in a byte.
const MOST_BINS: u8 = 8;
/// Common neighbours are counted in a graph with this many times as many links as are expected.
const EDGE_MULTIPLE: f64 = 3.0;
/// So many pairs of links with a common node are visited at most, which takes some ten seconds on two cores.
const MOST_STEPS: f64 = 1.5e9;

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
/// `O(Σ_k links_k²)` over the likely links of each node, twice. In large graphs nodes with very many likely links do not count
/// as common neighbours: such a node would add next to nothing, for one over its degree is a factor, to very many pairs.
///
/// # Source
/// Zhou, Lü, Zhang (2009), Predicting missing links via local information, with probabilities in place of links.
pub(crate) fn cross(posterior: &Posterior, degrees: &[f64], share: f64, most_pairs: usize) -> Result<Crossed, Invalid> {
    let n = posterior.n_nodes();
    let (graph, cells) = (LikelyLinks::new(posterior, degrees), Cells::new());
    let counts = graph.cell_counts(&cells);
    let scores: Vec<f64> = (0..counts.len()).map(|cell| cell as f64).collect();
    let most_pairs = ((share * (n * (n - 1) / 2) as f64) as usize).min(most_pairs);
    let limits = BinLimits { most_pairs, least_pairs: n / 4, most_bins: MOST_BINS };
    let CellBins { bin_of_cell, n_bins: n_neighbour_bins } = bins_of_cells(&counts, &scores, limits);
    let similar = posterior.evidence().similar();
    // The code of a combination is `features + n_feature_bins · neighbours`, where the bins of features include bin 0.
    let n_feature_bins = similar.n_bins() + 1;
    let row = |sums: &mut Sums, i: usize| -> Vec<(u32, u8)> {
        let mut both: Vec<(u32, u8)> = similar.row(i).collect();
        graph.visit_later(i, sums, |j, index| {
            let bin = bin_of_cell[cells.of(index)];
            both.extend((bin > 0).then(|| (j, bin * n_feature_bins)));
        });
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
    let rows: Vec<Vec<(u32, u8)>> = (0..n).into_par_iter().map_init(|| Sums::new(n), row).collect();
    let n_bins = n_feature_bins * (n_neighbour_bins + 1) - 1;
    let crossed_bin = |code: u8| CrossedBin { features: code % n_feature_bins, neighbours: code / n_feature_bins };
    Ok(Crossed { pairs: SimilarPairs::from_rows(n_bins, rows)?, bins: (1..=n_bins).map(crossed_bin).collect() })
}

/// Holds the likely links with their probabilities, in both directions.
struct LikelyLinks {
    /// Each node has a row of neighbours, in ascending order, with the probabilities of the links.
    rows: Vec<Vec<(u32, f32)>>,
    /// `1 / degree` of each node, where a degree counts as at least half a link; 0 where the node is no common neighbour.
    inverse_degrees: Vec<f32>,
}

impl LikelyLinks {
    /// Lists the likely links of the posterior.
    fn new(posterior: &Posterior, degrees: &[f64]) -> Self {
        let mut rows = vec![Vec::new(); posterior.n_nodes()];
        for (i, j, probability) in posterior.most_likely(EDGE_MULTIPLE) {
            rows[i as usize].push((j, probability));
            rows[j as usize].push((i, probability));
        }
        rows.par_iter_mut().for_each(|row| row.sort_unstable_by_key(|&(j, _)| j));
        let mut inverse_degrees: Vec<f32> = degrees.iter().map(|&degree| 1.0 / degree.max(0.5) as f32).collect();
        let lengths: Vec<usize> = rows.iter().map(Vec::len).collect();
        let hubs = hubs(&lengths, MOST_STEPS);
        if !hubs.is_empty() {
            tracing::info!("{} nodes with very many likely links do not count as common neighbours", hubs.len());
        }
        hubs.into_iter().for_each(|hub| inverse_degrees[hub as usize] = 0.0);
        Self { rows, inverse_degrees }
    }

    /// Calls `visit(j, index)` for the later nodes `j` that have a neighbour in common with `i`, in any order that is always
    /// the same.
    fn visit_later(&self, i: usize, Sums { sums, met }: &mut Sums, mut visit: impl FnMut(u32, f32)) {
        for &(k, probability) in &self.rows[i] {
            let inverse_degree = self.inverse_degrees[k as usize];
            if inverse_degree == 0.0 {
                continue;
            }
            let weight = probability * inverse_degree;
            let others = &self.rows[k as usize];
            for &(j, other_probability) in &others[others.partition_point(|&(j, _)| j as usize <= i)..] {
                let sum = &mut sums[j as usize];
                if *sum == 0.0 {
                    met.push(j);
                }
                // A product may round to 0, and then the node would be met twice.
                *sum += (weight * other_probability).max(f32::MIN_POSITIVE);
            }
        }
        met.drain(..).for_each(|j| visit(j, std::mem::take(&mut sums[j as usize])));
    }

    /// Counts the pairs whose index falls into each cell.
    ///
    /// # Shapes
    /// Returns `[CELLS]`.
    fn cell_counts(&self, cells: &Cells) -> Vec<u64> {
        let n = self.rows.len();
        let empty = || vec![0_u64; CELLS];
        let count = |(mut counts, mut sums): (Vec<u64>, Sums), i: usize| {
            self.visit_later(i, &mut sums, |_, index| counts[cells.of(index)] += 1);
            (counts, sums)
        };
        let add = |mut total: Vec<u64>, counts: Vec<u64>| {
            total.iter_mut().zip(counts).for_each(|(total, count)| *total += count);
            total
        };
        (0..n).into_par_iter().fold(|| (empty(), Sums::new(n)), count).map(|(counts, _)| counts).reduce(empty, add)
    }
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

/// Is the room in which the indices of one node are added up.
struct Sums {
    /// `[n]`, 0 between two nodes.
    sums: Vec<f32>,
    /// The entries that are not 0.
    met: Vec<u32>,
}

impl Sums {
    fn new(n_nodes: usize) -> Self {
        Self { sums: vec![0.0; n_nodes], met: Vec::new() }
    }
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
