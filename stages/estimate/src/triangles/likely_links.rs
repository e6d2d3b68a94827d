//! This module holds the links of a graph with their probabilities, and visits the nodes that have neighbours in common.

use rayon::prelude::*;
use veilgraph_graph::{RowPlaces, row_offsets};

/// Holds the likely links with their probabilities, in both directions.
///
/// # Shapes
/// `offsets`: `[n + 1]`; `links` and `onward`: `[2 · links]`, where node `i` has those from `offsets[i]` to before `offsets[i + 1]`.
pub(super) struct LikelyLinks {
    offsets: Vec<usize>,
    /// The neighbours of each node, in ascending order, with the probabilities of the links.
    links: Vec<(u32, f32)>,
    /// For each entry of `links`: the links that lead on from that neighbour to later nodes.
    onward: Vec<LinksOnward>,
}

/// Describes, for a link from `i` to `k`, the links of `k` to nodes after `i`. They are found once, because to search them again at
/// each visit would wait for memory.
#[derive(Clone, Copy)]
struct LinksOnward {
    /// They begin here among all links.
    first: usize,
    /// There are so many of them; 0 where `k` does not count as a common neighbour.
    n_links: u32,
    /// The probability of the link from `i` to `k` over the degree of `k`.
    weight: f32,
}

impl LikelyLinks {
    /// Lists the links of each node. `inverse_degrees` takes the number of links of each node, and returns by what links through the
    /// node are multiplied: 0 where it does not count as a common neighbour.
    ///
    /// # Shapes
    /// `pairs`: each pair of two different nodes at most once, with its probability. `inverse_degrees` takes and returns `[n]`.
    pub(super) fn new(
        n_nodes: usize,
        pairs: &[(u32, u32, f32)],
        inverse_degrees: impl FnOnce(&[usize]) -> Vec<f32>,
    ) -> Self {
        let offsets = row_offsets(n_nodes, pairs.iter().flat_map(|&(i, j, _)| [i as usize, j as usize]));
        let (mut links, mut places) = (vec![(0, 0.0); offsets[n_nodes]], RowPlaces::new(&offsets));
        for &(i, j, probability) in pairs {
            links[places.take(i as usize)] = (j, probability);
            links[places.take(j as usize)] = (i, probability);
        }
        let mut rest = links.as_mut_slice();
        let row = |ends: &[usize]| rest.split_off_mut(..ends[1] - ends[0]).unwrap_or_default();
        let rows: Vec<&mut [(u32, f32)]> = offsets.windows(2).map(row).collect();
        rows.into_par_iter().for_each(|row| row.sort_unstable_by_key(|&(j, _)| j));
        let n_links: Vec<usize> = offsets.windows(2).map(|ends| ends[1] - ends[0]).collect();
        let inverse_degrees = inverse_degrees(&n_links);
        // Nodes are taken in ascending order, and the links of `k` ascend too. So when `i` comes to its neighbour `k`, the next place
        // of `k` is the link from `k` back to `i`, and all after it lead to later nodes.
        let mut places = RowPlaces::new(&offsets);
        let mut onward = Vec::with_capacity(links.len());
        for i in 0..n_nodes {
            for &(k, probability) in &links[offsets[i]..offsets[i + 1]] {
                let (k, inverse_degree) = (k as usize, inverse_degrees[k as usize]);
                let first = places.take(k) + 1;
                let n_links = if inverse_degree == 0.0 { 0 } else { (offsets[k + 1] - first) as u32 };
                onward.push(LinksOnward { first, n_links, weight: probability * inverse_degree });
            }
        }
        Self { offsets, links, onward }
    }

    /// Returns the number of nodes.
    pub(super) fn n_nodes(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Calls `visit(j, index)` for the later nodes `j` that have a neighbour in common with `i`, in any order that is always
    /// the same.
    pub(super) fn visit_later(&self, i: usize, Sums { sums, met }: &mut Sums, mut visit: impl FnMut(u32, f32)) {
        for &LinksOnward { first, n_links, weight } in &self.onward[self.offsets[i]..self.offsets[i + 1]] {
            for &(j, other_probability) in &self.links[first..first + n_links as usize] {
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
}

/// Is the room in which the indices of one node are added up.
pub(super) struct Sums {
    /// `[n]`, 0 between two nodes.
    sums: Vec<f32>,
    /// The entries that are not 0.
    met: Vec<u32>,
}

impl Sums {
    pub(super) fn new(n_nodes: usize) -> Self {
        Self { sums: vec![0.0; n_nodes], met: Vec::new() }
    }
}
