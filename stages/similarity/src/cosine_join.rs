//! This module finds the pairs with large cosines without visiting all pairs.

use veilgraph_graph::SparseMatrix;

use crate::cosine::{Directions, add_to_sums};

/// Finds, for one node after the other, the later nodes whose cosine with it is at least a bound.
///
/// The features of every node are ordered from the rarest on. The *head* of a node is as many of them as leave a rest
/// shorter than half the bound. Two nodes with a large cosine have a feature in common that is in both heads, so the lists
/// of the nodes that have a feature in their head lead to all of them. Few other nodes are met, because features that most
/// nodes have are in few heads.
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
    /// The length of what is not in a node's head.
    rests: Vec<f32>,
}

/// Keeps memory for the search from one node.
#[derive(Default)]
pub(crate) struct JoinScratch {
    /// The products over features in both heads, for every node.
    sums: Vec<f32>,
    met: Vec<u32>,
    /// The weight of every feature at the node.
    weights: Vec<f32>,
}

impl<'a> CosineJoin<'a> {
    /// Builds the lists for cosines of at least `least`, which must be positive, as must all weights.
    pub(crate) fn new(directions: &'a Directions, least: f32) -> Self {
        let by_node = directions.by_node();
        let limit = f64::from(least / 2.0).powi(2);
        let mut rests = Vec::with_capacity(by_node.n_rows());
        let heads = (0..by_node.n_rows()).map(|node| {
            let (features, weights) = by_node.row(node);
            let mut row: Vec<(u32, f32)> = features.iter().copied().zip(weights.iter().copied()).collect();
            row.sort_by_key(|&(feature, _)| (directions.n_nodes_with(feature), feature));
            let mut rest: f64 = row.iter().map(|&(_, weight)| f64::from(weight).powi(2)).sum();
            let mut in_head = 0;
            while in_head < row.len() && rest >= limit {
                rest -= f64::from(row[in_head].1).powi(2);
                in_head += 1;
            }
            rests.push(rest.max(0.0).sqrt() as f32);
            row.truncate(in_head);
            row.sort_unstable_by_key(|&(feature, _)| feature);
            row
        });
        let heads = SparseMatrix::from_rows(by_node.n_columns(), heads)
            .unwrap_or_else(|invalid| unreachable!("rows are parts of those of a valid matrix: {invalid}"));
        Self { directions, least, nodes_by_feature: heads.transposed(), heads, rests }
    }

    /// Returns how many entries the searches from all nodes read.
    pub(crate) fn n_steps(&self) -> f64 {
        n_common(&self.nodes_by_feature)
    }

    /// Calls `found(other, cosine)` for every later node whose cosine with `node` is at least the bound, in no order.
    pub(crate) fn search(&self, node: usize, scratch: &mut JoinScratch, mut found: impl FnMut(u32, f32)) {
        /// Sums of up to 170 products in single precision are too low by no more than this, and longer ones hardly ever.
        const ROUNDING: f32 = 1e-5;
        let by_node = self.directions.by_node();
        let JoinScratch { sums, met, weights } = scratch;
        sums.resize(by_node.n_rows(), 0.0);
        weights.resize(by_node.n_columns(), 0.0);
        let (features, own) = self.heads.row(node);
        for (&feature, &weight) in features.iter().zip(own) {
            let (others, other_weights) = self.nodes_by_feature.row(feature as usize);
            let later = others.partition_point(|&other| other as usize <= node);
            add_to_sums(weight, (&others[later..], &other_weights[later..]), sums, met);
        }
        let (features, own) = by_node.row(node);
        features.iter().zip(own).for_each(|(&feature, &weight)| weights[feature as usize] = weight);
        for other in met.drain(..) {
            let sum = std::mem::take(&mut sums[other as usize]);
            // Features that are not in both heads are in the rest of the node whose head ends first.
            let most = sum + self.rests[node].max(self.rests[other as usize]) + ROUNDING;
            if most < self.least {
                continue;
            }
            let cosine = self.directions.cosine_with(weights, other as usize);
            if cosine >= self.least {
                found(other, cosine);
            }
        }
        features.iter().for_each(|&feature| weights[feature as usize] = 0.0);
    }
}

/// Returns the number of pairs of nodes that have a feature in common, counted once for each common feature.
///
/// # Shapes
/// `nodes_by_feature`: `[n_features, n_nodes]`.
pub(crate) fn n_common(nodes_by_feature: &SparseMatrix) -> f64 {
    let pairs = |feature| (nodes_by_feature.row(feature).0.len() as f64).powi(2) / 2.0;
    (0..nodes_by_feature.n_rows()).map(pairs).sum()
}
