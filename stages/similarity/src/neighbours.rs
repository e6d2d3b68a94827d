//! This module links every node to the nodes whose features are most like its own.

use rayon::prelude::*;
use veilgraph_contract::Invalid;
use veilgraph_graph::{Construction, WeightedGraph};

use crate::cosine::{BLOCK, Directions, blocks, may_have_larger, may_have_larger_than};
use crate::cosine_join::n_common;
use crate::effort::{self, LOOK, MOST_MINUTES};

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
    let n_pairs = (n_nodes as f64).powi(2) / 2.0;
    // The cosine of a pair is looked at once for each of its nodes.
    let n_products = n_common(directions.by_feature()) + 2.0 * LOOK * n_pairs;
    effort::begin(n_nodes, n_products, most_minutes)?;
    let mut links = Vec::new();
    for (node, others) in (0..).zip(nearest(directions, n_nodes, k.min(n_nodes))) {
        links.extend(others.into_iter().map(|(other, _)| (u32::min(node, other), u32::max(node, other), 1.0)));
    }
    links.sort_unstable_by_key(|&(i, j, _)| (i, j));
    links.dedup_by_key(|&mut (i, j, _)| (i, j));
    Ok(WeightedGraph::undirected(Construction::Hard, n_nodes, links))
}

/// Returns, for each node, the `k` other nodes with the largest positive cosines, with these; of equal cosines, the first ones
/// count.
///
/// Every pair is met once, in the search from its first node, and its cosine may be kept for either node. So that few are kept,
/// the searches are made in rounds. Each of them starts from at most as many nodes as all rounds before, and keeps for a node only
/// cosines that are larger than the `k`-th largest one of all rounds before.
fn nearest(directions: &Directions, n_nodes: usize, k: usize) -> Vec<Vec<(u32, f32)>> {
    /// A round finds at most about so many cosines (256 MiB) even where nodes come in an order in which no node before is like any
    /// node of the round.
    const MOST_FOUND: usize = 1 << 25;
    nearest_in_rounds(directions, n_nodes, k, (MOST_FOUND / n_nodes.max(1)).max(64))
}

/// Does the same in rounds of at most so many nodes.
fn nearest_in_rounds(directions: &Directions, n_nodes: usize, k: usize, most_in_round: usize) -> Vec<Vec<(u32, f32)>> {
    const FIRST_ROUND: usize = 32;
    if k == 0 {
        return vec![Vec::new(); n_nodes];
    }
    let mut nearest: Vec<Largest> = (0..n_nodes).map(|_| Largest::above(0.0, k)).collect();
    let mut done = 0;
    while done < n_nodes {
        let round = done..(done + done.max(FIRST_ROUND).min(most_in_round)).min(n_nodes);
        let least: Vec<f32> = nearest.iter().map(|nearest| nearest.least).collect();
        let search = |cosines: &mut Vec<f32>, node: usize| {
            directions.cosines_from(node, node + 1, cosines);
            OfLaterNodes { own: largest(least[node], k, cosines), theirs: larger(cosines, &least[node + 1..]) }
        };
        let found: Vec<OfLaterNodes> = round.clone().into_par_iter().map_init(Vec::new, search).collect();
        // Each node takes others in ascending order: those before it from their searches, then those of its own.
        for (node, OfLaterNodes { own, theirs }) in round.clone().zip(found) {
            for (after, cosine) in own {
                nearest[node].take((node + 1) as u32 + after, cosine);
            }
            for (after, cosine) in theirs {
                nearest[node + 1 + after as usize].take(node as u32, cosine);
            }
        }
        nearest.par_iter_mut().for_each(Largest::shorten);
        done = round.end;
    }
    nearest.into_iter().map(|nearest| nearest.kept).collect()
}

/// Holds what a search from a node finds: later nodes, counted from the next one on, with their cosines.
struct OfLaterNodes {
    /// Those that may be among the nearest of the node.
    own: Vec<(u32, f32)>,
    /// Those of which the node may be among the nearest.
    theirs: Vec<(u32, f32)>,
}

/// Returns the places of the values that are larger than the bounds in the same places, with these values.
///
/// # Shapes
/// `values` and `bounds`: of one length.
fn larger(values: &[f32], bounds: &[f32]) -> Vec<(u32, f32)> {
    let mut larger = Vec::new();
    for ((first, values), bounds) in blocks(values).zip(bounds.chunks(BLOCK)) {
        if may_have_larger_than(values, bounds) {
            let of_block = (first..).zip(values.iter().copied()).zip(bounds);
            larger.extend(of_block.filter(|((_, value), bound)| value > *bound).map(|(pair, _)| pair));
        }
    }
    larger
}

/// Returns the places of the `k` largest of the values above `least`, in ascending order, with these values; of equal values, the
/// first ones count. `least` is 0 or more, and `k` at least 1.
fn largest(least: f32, k: usize, values: &[f32]) -> Vec<(u32, f32)> {
    let mut largest = Largest::above(least, k);
    for (first, block) in blocks(values) {
        if may_have_larger(block, largest.least) {
            (first..).zip(block).for_each(|(place, &value)| largest.take(place, value));
        }
    }
    largest.shorten();
    largest.kept.sort_unstable_by_key(|&(place, _)| place);
    largest.kept
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

    /// Takes values that are larger than `least`, which is 0 or more.
    fn above(least: f32, k: usize) -> Self {
        Self { k, kept: Vec::new(), least }
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

    /// Keeps the largest ones alone.
    fn shorten(&mut self) {
        if self.kept.len() > self.k {
            let by_value = |a: &(u32, f32), b: &(u32, f32)| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(&b.0));
            self.kept.select_nth_unstable_by(self.k - 1, by_value);
            self.kept.truncate(self.k);
            self.least = self.kept.iter().map(|&(_, value)| value).fold(f32::INFINITY, f32::min);
        }
    }
}

#[cfg(test)]
mod tests;
