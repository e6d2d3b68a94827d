//! This module links every node to the nodes whose features are most like its own.

use rayon::prelude::*;
use veilgraph_contract::Invalid;
use veilgraph_graph::{Construction, WeightedGraph};

use crate::cosine::{Directions, add_to_sums, blocks, may_have_larger};
use crate::cosine_join::n_common;
use crate::effort::{self, MOST_MINUTES};

/// Links every node to the `k` other nodes with the largest positive cosines; of equal ones, to those with the lowest
/// numbers. A link counts for both of its nodes, so a node may have more than `k`.
///
/// # Errors
/// Fails where the search would take hours.
pub(crate) fn nearest_neighbours(directions: &Directions, n_nodes: usize, k: usize) -> Result<WeightedGraph, Invalid> {
    nearest_neighbours_within(MOST_MINUTES, directions, n_nodes, k)
}

/// Does the same where the search takes no longer than this.
fn nearest_neighbours_within(
    most_minutes: f64,
    directions: &Directions,
    n_nodes: usize,
    k: usize,
) -> Result<WeightedGraph, Invalid> {
    /// To add so many products of common features, and to look at so many sums, takes a few seconds; above it, fewer nodes must
    /// be met.
    const FEW_STEPS: f64 = 5e9;
    let n_steps = n_common(directions.by_feature()) + (n_nodes as f64).powi(2);
    let is_long = n_steps > FEW_STEPS;
    let (skips, k) = (is_long && directions.are_positive(), k.min(n_nodes));
    // Every pair is met from both of its nodes.
    let n_products = if skips { products_by_rare_features(directions, n_nodes, k) } else { 2.0 * n_steps };
    effort::begin(n_nodes, n_products, most_minutes)?;
    let nearest = |scratch: &mut Scratch, node: usize| -> Vec<(u32, u32, f32)> {
        let others = if skips {
            nearest_by_rare_features(directions, node, k, scratch)
        } else {
            directions.cosines_from(node, 0, &mut scratch.sums);
            scratch.sums[node] = 0.0;
            largest_of_all(k, &scratch.sums)
        };
        let node = node as u32;
        others.into_iter().map(|(other, _)| (node.min(other), node.max(other), 1.0)).collect()
    };
    let rows: Vec<Vec<(u32, u32, f32)>> = (0..n_nodes).into_par_iter().map_init(Scratch::default, nearest).collect();
    let mut links = rows.concat();
    links.sort_unstable_by_key(|&(i, j, _)| (i, j));
    links.dedup_by_key(|&mut (i, j, _)| (i, j));
    Ok(WeightedGraph::undirected(Construction::Hard, n_nodes, links))
}

/// Returns as many products as take about as long as the searches by rare features from all nodes, by searches from a few of them.
fn products_by_rare_features(directions: &Directions, n_nodes: usize, k: usize) -> f64 {
    const SAMPLED: usize = 256;
    /// To take up an entry of a feature's list, or to look at a node that was met, is taken to last so many times as long as to
    /// add a product.
    const STEP: f64 = 3.0;
    let step = n_nodes.div_ceil(SAMPLED);
    let count = |scratch: &mut Scratch, at: usize| {
        nearest_by_rare_features(directions, at * step, k, scratch);
        std::mem::take(&mut scratch.n_steps)
    };
    let n_sampled = n_nodes.div_ceil(step);
    let n_steps: u64 = (0..n_sampled).into_par_iter().map_init(Scratch::default, count).sum();
    let n_products = STEP * n_steps as f64 / n_sampled as f64 * n_nodes as f64;
    tracing::debug!(n_nodes, n_products, "nearest neighbours by rare features");
    n_products
}

/// Keeps memory for the search from one node.
#[derive(Default)]
struct Scratch {
    /// One number for each node; where only few nodes are met, it is 0 outside of a search.
    sums: Vec<f32>,
    met: Vec<u32>,
    /// The weight of every feature at the node; 0 outside of a search.
    weights: Vec<f32>,
    /// Entries of lists that were taken up and nodes that were looked at, in all searches so far.
    n_steps: u64,
}

/// Returns the `k` other nodes with the largest cosines, with their cosines; all weights must be positive.
///
/// The node's features are taken up from the rarest on, and every node that has one of them is met. A node that was not met
/// has a cosine of at most the length of the features that are left. Once this is less than the `k`-th largest cosine, no
/// such node is among the nearest, and the cosines of the others are worked out where they may be large enough.
///
/// # Source
/// Turtle, Flood (1995), Query evaluation: strategies and optimizations, for partial sums with a bound on the rest.
fn nearest_by_rare_features(directions: &Directions, node: usize, k: usize, scratch: &mut Scratch) -> Vec<(u32, f32)> {
    /// The rest is made this much shorter than it must be, so that few nodes may be nearest.
    const SHORTER: f32 = 0.7;
    /// Sums in single precision may be too low by this much.
    const ROUNDING: f32 = 1e-5;
    let Scratch { sums, met, weights, n_steps } = scratch;
    sums.resize(directions.by_node().n_rows(), 0.0);
    weights.resize(directions.by_node().n_columns(), 0.0);
    let (features, own) = directions.by_node().row(node);
    features.iter().zip(own).for_each(|(&feature, &weight)| weights[feature as usize] = weight);
    let (rare_first, rests) = directions.rare_first(node);
    let mut taken = 0;
    let mut wanted_rest = 0.5_f32;
    let nearest = loop {
        while taken < rare_first.len() && rests[taken] >= wanted_rest {
            let (feature, weight) = rare_first[taken];
            let list = directions.by_feature().row(feature as usize);
            *n_steps += list.0.len() as u64;
            add_to_sums(weight, list, sums, met);
            taken += 1;
        }
        let rest = rests[taken];
        *n_steps += met.len() as u64;
        let candidates = met.iter().filter(|&&other| other as usize != node);
        let cosine = |other: u32| directions.cosine_with(weights, other as usize);
        // Of equal sums, any may come first: whichever pairs these are, the least of their cosines is a bound.
        let first = largest(k, candidates.clone().map(|&other| (other, sums[other as usize])));
        let least = first.iter().map(|&(other, _)| cosine(other)).fold(f32::INFINITY, f32::min);
        let least = if first.len() < k { 0.0 } else { least };
        if rest + ROUNDING < least || taken == rare_first.len() {
            let may_be = candidates.filter(|&&other| sums[other as usize] + rest + ROUNDING >= least);
            let mut may_be: Vec<u32> = may_be.copied().collect();
            may_be.sort_unstable();
            may_be.dedup();
            *n_steps +=
                may_be.iter().map(|&other| directions.by_node().row(other as usize).0.len() as u64).sum::<u64>();
            break largest(k, may_be.into_iter().map(|other| (other, cosine(other))));
        }
        wanted_rest = (SHORTER * least).max(0.5 * wanted_rest);
    };
    met.drain(..).for_each(|other| sums[other as usize] = 0.0);
    features.iter().for_each(|&feature| weights[feature as usize] = 0.0);
    nearest
}

/// Returns the places of the `k` largest positive values, with these; of equal values, the first ones count.
fn largest_of_all(k: usize, values: &[f32]) -> Vec<(u32, f32)> {
    let mut largest = Largest::new(k);
    for (first, block) in blocks(values) {
        if may_have_larger(block, largest.least) {
            (first..).zip(block).for_each(|(place, &value)| largest.take(place, value));
        }
    }
    largest.shortened()
}

/// Returns the `k` pairs with the largest positive values; of equal values, the first ones count.
fn largest(k: usize, values: impl Iterator<Item = (u32, f32)>) -> Vec<(u32, f32)> {
    let mut largest = Largest::new(k);
    values.for_each(|(other, value)| largest.take(other, value));
    largest.shortened()
}

/// The `k` pairs with the largest positive values among those that were taken so far, and some of the others.
struct Largest {
    k: usize,
    kept: Vec<(u32, f32)>,
    /// No pair with a value up to this is among the largest.
    least: f32,
}

impl Largest {
    /// So many other pairs are kept at most. With more of them it takes longer until few values are larger than `least`.
    const OTHERS: usize = 32;

    fn new(k: usize) -> Self {
        Self { k, kept: Vec::with_capacity(k + Self::OTHERS), least: 0.0 }
    }

    /// Takes one pair more; of equal values, the first must come first.
    fn take(&mut self, other: u32, value: f32) {
        if value > self.least {
            self.kept.push((other, value));
            if self.kept.len() == self.k + Self::OTHERS {
                self.shorten();
            }
        }
    }

    fn shorten(&mut self) {
        let by_value = |a: &(u32, f32), b: &(u32, f32)| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(&b.0));
        if self.kept.len() > self.k && self.k > 0 {
            self.kept.select_nth_unstable_by(self.k - 1, by_value);
        }
        self.kept.truncate(self.k);
        let least = self.kept.iter().map(|&(_, value)| value).fold(f32::INFINITY, f32::min);
        self.least = if self.kept.is_empty() { 0.0 } else { least };
    }

    fn shortened(mut self) -> Vec<(u32, f32)> {
        self.shorten();
        self.kept
    }
}

#[cfg(test)]
mod tests;
