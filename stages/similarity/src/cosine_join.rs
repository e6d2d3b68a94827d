//! This module finds the pairs with large cosines without visiting all pairs.

use rayon::prelude::*;
use veilgraph_graph::SparseMatrix;

use crate::cosine::Directions;

/// Finds, for one node after the other, the later nodes whose cosine with it is at least a bound.
///
/// The features of every node are ordered from the rarest on. The *head* of a node is as many of them as leave a rest
/// shorter than the longest rest. Where this is half of the bound, two nodes with a large cosine have features in common that
/// are in both heads and make at least half of the bound, so the lists of the nodes that have a feature in their head lead to
/// all of them. Few other nodes are met, because features that most nodes have are in few heads.
///
/// With a longer rest, heads and lists are shorter, and pairs whose common features in both heads make less than half of the bound
/// are missed.
///
/// # Source
/// Bayardo, Ma, Srikant (2007), Scaling up all pairs similarity search; Anastasiu, Karypis (2014), L2AP, for the bound by
/// lengths.
pub(crate) struct CosineJoin<'a> {
    directions: &'a Directions,
    least: f32,
    /// `[n_nodes, n_features]`: the features in the head of each node.
    heads: SparseMatrix,
    /// The transpose of `heads`.
    nodes_by_feature: SparseMatrix,
}

/// Keeps memory for the search from one node.
#[derive(Default)]
pub(crate) struct JoinScratch {
    /// The products over features in both heads, for every node of a block; 0 outside of a search.
    sums: Vec<f32>,
    /// The nodes whose sums are large enough.
    met: Vec<u32>,
    /// The weight of every feature at the node; 0 outside of a search.
    weights: Vec<f32>,
    /// The features in the node's head.
    lists: Vec<List>,
}

/// A feature in a node's head, with the part of its list of nodes that is in the present block.
struct List {
    feature: usize,
    start: usize,
    end: usize,
}

/// The sums of so many nodes are formed at a time, and stay in the fastest cache.
const BLOCK: usize = 1 << 13;

impl<'a> CosineJoin<'a> {
    /// Builds the lists for cosines of at least `least`, which must be above 1e-4; all weights must be positive. Heads leave
    /// rests shorter than `longest_rest`, which is half of `least` or more.
    pub(crate) fn new(directions: &'a Directions, least: f32, longest_rest: f32) -> Self {
        let by_node = directions.by_node();
        let head = |node: usize| -> Vec<(u32, f32)> {
            let (mut row, rests) = directions.rare_first(node);
            row.truncate(length_of_head(&rests, longest_rest));
            row.sort_unstable_by_key(|&(feature, _)| feature);
            row
        };
        let heads: Vec<_> = (0..by_node.n_rows()).into_par_iter().map(head).collect();
        let heads = SparseMatrix::from_rows(by_node.n_columns(), heads)
            .unwrap_or_else(|invalid| unreachable!("rows are parts of those of a valid matrix: {invalid}"));
        Self { directions, least, nodes_by_feature: heads.transposed(), heads }
    }

    /// Returns how many entries the searches from all nodes read, for each of these longest rests.
    pub(crate) fn n_steps(directions: &Directions, longest_rests: &[f32]) -> Vec<f64> {
        let n_features = directions.by_node().n_columns();
        let none = || vec![0_u32; longest_rests.len() * n_features];
        let count = |mut counts: Vec<u32>, node: usize| {
            let (row, rests) = directions.rare_first(node);
            for (counts, &longest_rest) in counts.chunks_mut(n_features).zip(longest_rests) {
                let head = &row[..length_of_head(&rests, longest_rest)];
                head.iter().for_each(|&(feature, _)| counts[feature as usize] += 1);
            }
            counts
        };
        let add = |mut total: Vec<u32>, counts: Vec<u32>| {
            total.iter_mut().zip(counts).for_each(|(total, count)| *total += count);
            total
        };
        let n_nodes = directions.by_node().n_rows();
        let parts = (0..n_nodes).into_par_iter().with_min_len(4096).fold(none, count);
        let counts = parts.reduce_with(add).unwrap_or_else(none);
        let pairs = |counts: &[u32]| counts.iter().map(|&count| f64::from(count).powi(2) / 2.0).sum();
        counts.chunks(n_features.max(1)).map(pairs).collect()
    }

    /// Calls `found(other, cosine)` for every later node whose cosine with `node` is at least the bound, in no order.
    pub(crate) fn search(&self, node: usize, scratch: &mut JoinScratch, mut found: impl FnMut(u32, f32)) {
        /// Sums of up to 170 products in single precision are too low by no more than this, and longer ones hardly ever.
        const ROUNDING: f32 = 1e-5;
        // Features that are not in both heads are in the rest of the node whose head ends first, and add less than the other half.
        let half = self.least / 2.0 - ROUNDING;
        let by_node = self.directions.by_node();
        let JoinScratch { sums, met, weights, lists } = scratch;
        sums.resize(BLOCK, 0.0);
        weights.resize(by_node.n_columns(), 0.0);
        let (features, own) = by_node.row(node);
        features.iter().zip(own).for_each(|(&feature, &weight)| weights[feature as usize] = weight);
        lists.clear();
        lists.extend(self.heads.row(node).0.iter().map(|&feature| {
            let nodes = self.nodes_by_feature.row(feature as usize).0;
            let start = nodes.partition_point(|&other| other as usize <= node);
            List { feature: feature as usize, start, end: start }
        }));
        for first in ((node + 1) / BLOCK * BLOCK..by_node.n_rows()).step_by(BLOCK) {
            for List { feature, end, .. } in &mut *lists {
                let (others, other_weights) = self.nodes_by_feature.row(*feature);
                let weight = weights[*feature];
                for (&other, &other_weight) in others[*end..].iter().zip(&other_weights[*end..]) {
                    let Some(sum) = sums.get_mut(other as usize - first) else { break };
                    let before = *sum;
                    *sum += weight * other_weight;
                    if *sum >= half && before < half {
                        met.push(other);
                    }
                    *end += 1;
                }
            }
            let mut have_ended = true;
            for List { feature, start, end } in &mut *lists {
                let others = self.nodes_by_feature.row(*feature).0;
                others[*start..*end].iter().for_each(|&other| sums[other as usize - first] = 0.0);
                *start = *end;
                have_ended &= *end == others.len();
            }
            if have_ended {
                break;
            }
        }
        for other in met.drain(..) {
            let cosine = self.directions.cosine_with(weights, other as usize);
            if cosine >= self.least {
                found(other, cosine);
            }
        }
        features.iter().for_each(|&feature| weights[feature as usize] = 0.0);
    }
}

/// Returns how many features make a head that leaves a rest shorter than `longest_rest`, if any does.
fn length_of_head(rests: &[f32], longest_rest: f32) -> usize {
    rests.partition_point(|&rest| rest >= longest_rest).min(rests.len() - 1)
}

/// Returns the number of pairs of nodes that have a feature in common, counted once for each common feature.
///
/// # Shapes
/// `nodes_by_feature`: `[n_features, n_nodes]`.
pub(crate) fn n_common(nodes_by_feature: &SparseMatrix) -> f64 {
    let pairs = |feature| (nodes_by_feature.row(feature).0.len() as f64).powi(2) / 2.0;
    (0..nodes_by_feature.n_rows()).map(pairs).sum()
}
