//! This module holds the private links: who is linked with whom.

use veilgraph_contract::{Artifact, Column, ColumnType, Facts, Invalid, Zone, take};

use crate::NODES_PER_BLOCK;
use crate::nodes::{nodes_from_links, with_nodes_from_links};

/// This undirected simple graph is stored as the sorted list of neighbours of every node.
///
/// The neighbours of node `i` are `neighbours[offsets[i]..offsets[i + 1]]`. Nothing else of the raw list of links is
/// kept, so that one repeated row of a file changes nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AdjacencyList {
    offsets: Vec<usize>,
    neighbours: Vec<u32>,
    nodes_from_links: bool,
}

impl AdjacencyList {
    /// Builds the simple undirected graph of these `pairs`; loops and repeated links are dropped.
    ///
    /// # Errors
    /// Fails when an endpoint is not below `n_nodes`; the message gives the position of the pair.
    pub fn from_pairs(n_nodes: usize, pairs: impl IntoIterator<Item = (u32, u32)>) -> Result<Self, Invalid> {
        let pairs: Vec<(u32, u32)> = pairs.into_iter().collect();
        if let Some(row) = pairs.iter().position(|&(a, b)| a.max(b) as usize >= n_nodes) {
            let node = pairs[row].0.max(pairs[row].1);
            return Err(Invalid(format!("row {row}: node {node} is not below the number of nodes, {n_nodes}")));
        }
        // Both directions are listed by their first node; then each list is sorted by itself.
        let arcs = || pairs.iter().filter(|(a, b)| a != b).flat_map(|&(a, b)| [(a, b), (b, a)]);
        let mut ends = vec![0; n_nodes + 1];
        arcs().for_each(|(a, _)| ends[a as usize + 1] += 1);
        (0..n_nodes).for_each(|node| ends[node + 1] += ends[node]);
        let mut listed = vec![0; ends[n_nodes]];
        // After this, entry `a` is where the list of `a` ends; the one before it is where it begins.
        arcs().for_each(|(a, b)| {
            listed[ends[a as usize]] = b;
            ends[a as usize] += 1;
        });
        drop(pairs);
        let (mut offsets, mut kept, mut begin) = (vec![0; n_nodes + 1], 0, 0);
        for node in 0..n_nodes {
            listed[begin..ends[node]].sort_unstable();
            for at in begin..ends[node] {
                if at == begin || listed[at] != listed[at - 1] {
                    listed[kept] = listed[at];
                    kept += 1;
                }
            }
            (offsets[node + 1], begin) = (kept, ends[node]);
        }
        listed.truncate(kept);
        Ok(Self { offsets, neighbours: listed, nodes_from_links: false })
    }

    /// Says whether the set of nodes was taken from the links themselves: a link of a node that has no other link then
    /// shows in the public set of nodes.
    #[must_use]
    pub fn with_nodes_from_links(self, nodes_from_links: bool) -> Self {
        Self { nodes_from_links, ..self }
    }

    /// Returns whether the set of nodes was taken from the links themselves.
    #[must_use]
    pub fn nodes_from_links(&self) -> bool {
        self.nodes_from_links
    }

    /// Returns the number of nodes.
    #[must_use]
    pub fn n_nodes(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Returns the number of undirected links.
    #[must_use]
    pub fn n_links(&self) -> usize {
        self.neighbours.len() / 2
    }

    /// Returns the neighbours of `node` in ascending order.
    #[must_use]
    pub fn neighbours(&self, node: usize) -> &[u32] {
        &self.neighbours[self.offsets[node]..self.offsets[node + 1]]
    }

    /// Returns the number of neighbours of `node`.
    #[must_use]
    pub fn degree(&self, node: usize) -> usize {
        self.offsets[node + 1] - self.offsets[node]
    }

    /// Iterates over all links `(i, j)` with `i < j`, in ascending order.
    pub fn links(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        (0..self.n_nodes())
            .flat_map(|i| self.neighbours(i).iter().filter(move |&&j| j as usize > i).map(move |&j| (i as u32, j)))
    }

    /// Returns whether `a` and `b` are linked.
    #[must_use]
    pub fn contains(&self, a: usize, b: u32) -> bool {
        self.neighbours(a).binary_search(&b).is_ok()
    }

    /// Returns the number of nodes without any link.
    #[must_use]
    pub fn n_isolated(&self) -> usize {
        (0..self.n_nodes()).filter(|&node| self.degree(node) == 0).count()
    }
}

impl Artifact for AdjacencyList {
    const NAME: &'static str = "links";
    const ZONE: Zone = Zone::Owner;
    const COLUMNS: &'static [(&'static str, ColumnType)] = &[("source", ColumnType::U32), ("target", ColumnType::U32)];

    fn facts(&self) -> Facts {
        with_nodes_from_links(Facts::default().with("n_nodes", self.n_nodes()), self.nodes_from_links)
    }

    fn blocks(&self) -> Box<dyn Iterator<Item = Vec<Column>> + '_> {
        Box::new((0..self.n_nodes()).step_by(NODES_PER_BLOCK).map(|first| {
            let last = (first + NODES_PER_BLOCK).min(self.n_nodes());
            let (sources, targets) = (first..last)
                .flat_map(|i| self.neighbours(i).iter().filter(move |&&j| j as usize > i).map(move |&j| (i as u32, j)))
                .unzip();
            vec![Column::U32(sources), Column::U32(targets)]
        }))
    }

    fn from_blocks(facts: &Facts, blocks: &mut dyn Iterator<Item = Vec<Column>>) -> Result<Self, Invalid> {
        let mut pairs = Vec::new();
        for block in blocks {
            let mut columns = block.into_iter();
            let sources: Vec<u32> = take(&mut columns)?;
            let targets: Vec<u32> = take(&mut columns)?;
            pairs.extend(sources.into_iter().zip(targets));
        }
        let list = Self::from_pairs(facts.get("n_nodes")?, pairs)?;
        Ok(list.with_nodes_from_links(nodes_from_links(facts)?))
    }

    /// Counts the offsets, and the links once they are stored.
    fn footprint(facts: &Facts, stored: u64) -> Result<u64, Invalid> {
        Ok(facts.get::<u64>("n_nodes")?.saturating_mul(8).saturating_add(stored))
    }
}

#[cfg(test)]
mod tests;
