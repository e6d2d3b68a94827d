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
/// `O(Σ_k links_k²)` over the likely links of each node, twice.
///
/// # Source
/// Zhou, Lü, Zhang (2009), Predicting missing links via local information, with probabilities in place of links.
pub(crate) fn cross(posterior: &Posterior, degrees: &[f64], share: f64, most_pairs: usize) -> Result<Crossed, Invalid> {
    let n = posterior.n_nodes();
    let graph = LikelyLinks::new(posterior, degrees);
    let counts = graph.cell_counts();
    let scores: Vec<f64> = (0..counts.len()).map(|cell| cell as f64).collect();
    let most_pairs = ((share * (n * (n - 1) / 2) as f64) as usize).min(most_pairs);
    let limits = BinLimits { most_pairs, least_pairs: n / 4, most_bins: MOST_BINS };
    let CellBins { bin_of_cell, n_bins: n_neighbour_bins } = bins_of_cells(&counts, &scores, limits);
    let similar = posterior.evidence().similar();
    // The code of a combination is `features + n_feature_bins · neighbours`, where the bins of features include bin 0.
    let n_feature_bins = similar.n_bins() + 1;
    let row = |sums: &mut Vec<f32>, i: usize| -> Vec<(u32, u8)> {
        let near = graph.indices_of_later(i, sums).into_iter().map(|(j, index)| (j, bin_of_cell[cell(index)]));
        let near = near.filter(|&(_, bin)| bin > 0).map(|(j, bin)| (j, bin * n_feature_bins));
        let mut both: Vec<(u32, u8)> = similar.row(i).chain(near).collect();
        both.sort_by_key(|&(j, _)| j);
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
    let rows: Vec<Vec<(u32, u8)>> = (0..n).into_par_iter().map_init(|| vec![0.0; n], row).collect();
    let n_bins = n_feature_bins * (n_neighbour_bins + 1) - 1;
    let crossed_bin = |code: u8| CrossedBin { features: code % n_feature_bins, neighbours: code / n_feature_bins };
    Ok(Crossed { pairs: SimilarPairs::from_rows(n_bins, rows)?, bins: (1..=n_bins).map(crossed_bin).collect() })
}

/// Holds the likely links with their probabilities, in both directions.
struct LikelyLinks {
    /// Each node has a row of neighbours, in ascending order, with the probabilities of the links.
    rows: Vec<Vec<(u32, f32)>>,
    /// `1 / degree` of each node, where a degree counts as at least half a link.
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
        Self { rows, inverse_degrees: degrees.iter().map(|&degree| 1.0 / degree.max(0.5) as f32).collect() }
    }

    /// Returns the later nodes that have a neighbour in common with `i`, in ascending order, and their index.
    ///
    /// # Shapes
    /// `sums`: `[n]`; they must be 0 and are 0 again afterwards.
    fn indices_of_later(&self, i: usize, sums: &mut [f32]) -> Vec<(u32, f32)> {
        let mut met = Vec::new();
        for &(k, probability) in &self.rows[i] {
            let weight = probability * self.inverse_degrees[k as usize];
            let others = &self.rows[k as usize];
            for &(j, other_probability) in &others[others.partition_point(|&(j, _)| j as usize <= i)..] {
                if sums[j as usize] == 0.0 {
                    met.push(j);
                }
                sums[j as usize] += weight * other_probability;
            }
        }
        met.sort_unstable();
        // A node whose product rounds to zero may have been met twice.
        met.dedup();
        met.into_iter().map(|j| (j, std::mem::take(&mut sums[j as usize]))).collect()
    }

    /// Counts the pairs whose index falls into each cell.
    ///
    /// # Shapes
    /// Returns `[CELLS]`.
    fn cell_counts(&self) -> Vec<u64> {
        let n = self.rows.len();
        let empty = || vec![0_u64; CELLS];
        let count = |(mut counts, mut sums): (Vec<u64>, Vec<f32>), i: usize| {
            self.indices_of_later(i, &mut sums).into_iter().for_each(|(_, index)| counts[cell(index)] += 1);
            (counts, sums)
        };
        let add = |mut total: Vec<u64>, counts: Vec<u64>| {
            total.iter_mut().zip(counts).for_each(|(total, count)| *total += count);
            total
        };
        (0..n).into_par_iter().fold(|| (empty(), vec![0.0; n]), count).map(|(counts, _)| counts).reduce(empty, add)
    }
}

/// A histogram of the index has this many cells, which are intervals of its logarithm.
const CELLS: usize = 1024;

/// Returns the cell of an index: sixteen cells make a factor of two, and the first one begins at 2^-60.
fn cell(index: f32) -> usize {
    ((libm::log2(f64::from(index)) + 60.0) * 16.0).clamp(0.0, CELLS as f64 - 1.0) as usize
}
