//! Pairs that likely have neighbours in common.

use rayon::prelude::*;
use veilgraph_contract::Invalid;
use veilgraph_posterior::{Posterior, SimilarPairs, bins_of_cells};

/// Bins at most, beside those of features: both together must be counted in a byte.
const MOST_BINS: u8 = 8;
/// Entries of the graph in which neighbours are counted, as a multiple of those expected.
const EDGE_MULTIPLE: f64 = 3.0;

/// Pairs by what they are alike in: features, common neighbours, or both.
pub(crate) struct Crossed {
    pub pairs: SimilarPairs,
    /// Bin of features and bin of common neighbours for each bin of `pairs`, from bin 1 on; 0 for none.
    pub parts: Vec<[u8; 2]>,
}

/// Adds to the similar pairs of the posterior those with the largest index of resource allocation
/// `Σ_k P_ik P_kj / degree_k`. A pair's own probability is no part of its index, but others' are made of it: a second
/// pass would hear its own echo (algorithms.md, section G7).
///
/// # Complexity
/// `O(Σ_k links_k²)` over the likely links of each node, twice.
///
/// # Source
/// Zhou, Lü, Zhang (2009), "Predicting missing links via local information"; algorithms.md, section G7.
pub(crate) fn cross(posterior: &Posterior, degrees: &[f64], share: f64, most_pairs: usize) -> Result<Crossed, Invalid> {
    let n = posterior.n_nodes();
    let graph = Neighbours::new(posterior, degrees);
    let counts = graph.counts();
    let scores: Vec<f64> = (0..counts.len()).map(|cell| cell as f64).collect();
    let most = ((share * (n * (n - 1) / 2) as f64) as usize).min(most_pairs);
    let (bin_of, near_bins) = bins_of_cells(&counts, &scores, most, n / 4, MOST_BINS);
    let similar = posterior.evidence().similar();
    let feature_bins = similar.n_bins() + 1;
    let row = |scratch: &mut Vec<f32>, i: usize| -> Vec<(u32, u8)> {
        let near = graph.later(i, scratch).into_iter().map(|(j, index)| (j, bin_of[cell(index)]));
        let near = near.filter(|&(_, bin)| bin > 0).map(|(j, bin)| (j, bin * feature_bins));
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
    let n_bins = feature_bins * (near_bins + 1) - 1;
    let parts = (1..=n_bins).map(|bin| [bin % feature_bins, bin / feature_bins]).collect();
    Ok(Crossed { pairs: SimilarPairs::from_rows(n_bins, rows)?, parts })
}

/// Likely links with their probabilities, in both directions.
struct Neighbours {
    rows: Vec<Vec<(u32, f32)>>,
    /// `1 / degree`, of at least half a link.
    shares: Vec<f32>,
}

impl Neighbours {
    fn new(posterior: &Posterior, degrees: &[f64]) -> Self {
        let mut rows = vec![Vec::new(); posterior.n_nodes()];
        for (i, j, probability) in posterior.most_likely(EDGE_MULTIPLE) {
            rows[i as usize].push((j, probability));
            rows[j as usize].push((i, probability));
        }
        rows.par_iter_mut().for_each(|row| row.sort_unstable_by_key(|&(j, _)| j));
        Self { rows, shares: degrees.iter().map(|&degree| 1.0 / degree.max(0.5) as f32).collect() }
    }

    /// Later nodes with a neighbour in common with `i`, ascending, and their index; `sums` are zero before and after.
    fn later(&self, i: usize, sums: &mut [f32]) -> Vec<(u32, f32)> {
        let mut met = Vec::new();
        for &(k, own) in &self.rows[i] {
            let weight = own * self.shares[k as usize];
            let others = &self.rows[k as usize];
            for &(j, other) in &others[others.partition_point(|&(j, _)| j as usize <= i)..] {
                if sums[j as usize] == 0.0 {
                    met.push(j);
                }
                sums[j as usize] += weight * other;
            }
        }
        met.sort_unstable();
        // A product that rounds to zero may be met twice.
        met.dedup();
        met.into_iter().map(|j| (j, std::mem::take(&mut sums[j as usize]))).collect()
    }

    /// Number of pairs whose index falls into each cell.
    fn counts(&self) -> Vec<u64> {
        let n = self.rows.len();
        let empty = || vec![0_u64; CELLS];
        let count = |(mut counts, mut sums): (Vec<u64>, Vec<f32>), i: usize| {
            self.later(i, &mut sums).into_iter().for_each(|(_, index)| counts[cell(index)] += 1);
            (counts, sums)
        };
        let add = |mut a: Vec<u64>, b: Vec<u64>| {
            a.iter_mut().zip(b).for_each(|(a, b)| *a += b);
            a
        };
        (0..n).into_par_iter().fold(|| (empty(), vec![0.0; n]), count).map(|(counts, _)| counts).reduce(empty, add)
    }
}

/// Cells of the logarithm of the index, some 6 % wide.
const CELLS: usize = 1024;

fn cell(index: f32) -> usize {
    // Sixteen cells to a factor of two, from 2^-60 on.
    ((libm::log2(f64::from(index)) + 60.0) * 16.0).clamp(0.0, CELLS as f64 - 1.0) as usize
}
