//! This module holds the links of a graph with their probabilities, and visits the nodes that have neighbours in common.

use rayon::prelude::*;

/// Holds the likely links with their probabilities, in both directions.
///
/// # Shapes
/// `offsets`: `[n + 1]`; `links` and `ways`: `[2 · links]`, where node `i` has those from `offsets[i]` to before `offsets[i + 1]`.
pub(super) struct LikelyLinks {
    offsets: Vec<usize>,
    /// The neighbours of each node, in ascending order, with the probabilities of the links.
    links: Vec<(u32, f32)>,
    /// The same links, each with what follows after it.
    ways: Vec<Way>,
}

/// Describes the ways of two links from a node, through one neighbour, to later nodes. In a large graph the links of the neighbour
/// lie anywhere in memory, and a search for the first later node would wait for it again and again.
#[derive(Clone, Copy)]
struct Way {
    /// The neighbour's links to nodes that come after the first one begin here among all links.
    first_later: usize,
    /// There are so many of them; 0 where the neighbour does not count.
    n_later: u32,
    /// The probability of the link to the neighbour over the neighbour's degree.
    weight: f32,
}

impl LikelyLinks {
    /// Lists the links of each node, without ways.
    pub(super) fn of_pairs(n_nodes: usize, pairs: &[(u32, u32, f32)]) -> Self {
        let mut offsets = vec![0; n_nodes + 1];
        for &(i, j, _) in pairs {
            offsets[i as usize + 1] += 1;
            offsets[j as usize + 1] += 1;
        }
        for node in 0..n_nodes {
            offsets[node + 1] += offsets[node];
        }
        let (mut links, mut next) = (vec![(0, 0.0); offsets[n_nodes]], offsets.clone());
        for &(i, j, probability) in pairs {
            for (from, to) in [(i as usize, j), (j as usize, i)] {
                links[next[from]] = (to, probability);
                next[from] += 1;
            }
        }
        let mut rest = links.as_mut_slice();
        let row = |ends: &[usize]| rest.split_off_mut(..ends[1] - ends[0]).unwrap_or_default();
        let rows: Vec<&mut [(u32, f32)]> = offsets.windows(2).map(row).collect();
        rows.into_par_iter().for_each(|row| row.sort_unstable_by_key(|&(j, _)| j));
        Self { offsets, links, ways: Vec::new() }
    }

    /// Adds the ways through neighbours whose inverse degree is not 0.
    ///
    /// # Shapes
    /// `inverse_degrees`: `[n]`.
    pub(super) fn with_ways(mut self, inverse_degrees: &[f32]) -> Self {
        // Nodes ascend, and so do the neighbours of each node. So a node is the next one of each of its neighbours.
        let mut next = self.offsets.clone();
        self.ways.reserve_exact(self.links.len());
        for i in 0..inverse_degrees.len() {
            for &(k, probability) in &self.links[self.offsets[i]..self.offsets[i + 1]] {
                let k = k as usize;
                next[k] += 1;
                let n_later = if inverse_degrees[k] == 0.0 { 0 } else { (self.offsets[k + 1] - next[k]) as u32 };
                self.ways.push(Way { first_later: next[k], n_later, weight: probability * inverse_degrees[k] });
            }
        }
        self
    }

    /// Returns how many links each node has.
    pub(super) fn n_links(&self) -> Vec<usize> {
        self.offsets.windows(2).map(|ends| ends[1] - ends[0]).collect()
    }

    /// Returns the number of nodes.
    pub(super) fn n_nodes(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Calls `visit(j, index)` for the later nodes `j` that have a neighbour in common with `i`, in any order that is always
    /// the same.
    pub(super) fn visit_later(&self, i: usize, Sums { sums, met }: &mut Sums, mut visit: impl FnMut(u32, f32)) {
        for &Way { first_later, n_later, weight } in &self.ways[self.offsets[i]..self.offsets[i + 1]] {
            for &(j, other_probability) in &self.links[first_later..first_later + n_later as usize] {
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
