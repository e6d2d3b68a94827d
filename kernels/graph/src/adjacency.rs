//! This module holds the private links: who is linked with whom.

use veilgraph_contract::{Artifact, Column, ColumnType, Facts, Invalid, Zone, take};

use crate::NODES_PER_BLOCK;

/// This undirected simple graph is stored as the sorted list of neighbours of every node.
///
/// The neighbours of node `i` are `neighbours[offsets[i]..offsets[i + 1]]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AdjacencyList {
    offsets: Vec<usize>,
    neighbours: Vec<u32>,
    counts: LinkCounts,
}

/// Counts what stood in the raw list of links and was dropped to make the graph simple.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LinkCounts {
    /// The raw list had this many rows.
    pub rows: u64,
    /// This many nodes were linked to themselves.
    pub self_loops: u64,
    /// This many rows repeated a link or loop of an earlier row, in either direction.
    pub duplicates: u64,
    /// This many nodes have no link.
    pub isolated: u64,
}

impl AdjacencyList {
    /// Builds the simple undirected graph of these `pairs`; loops and repeated links are counted and dropped.
    ///
    /// # Errors
    /// Fails when an endpoint is not below `n_nodes`; the message gives the position of the pair.
    pub fn from_pairs(n_nodes: usize, pairs: impl IntoIterator<Item = (u32, u32)>) -> Result<Self, Invalid> {
        let mut counts = LinkCounts::default();
        let (mut arcs, mut loops) = (Vec::new(), Vec::new());
        for (row, (a, b)) in pairs.into_iter().enumerate() {
            counts.rows += 1;
            if a.max(b) as usize >= n_nodes {
                return Err(Invalid(format!(
                    "row {row}: node {} is not below the number of nodes, {n_nodes}",
                    a.max(b)
                )));
            }
            if a == b {
                loops.push(a);
            } else {
                arcs.push((a, b));
                arcs.push((b, a));
            }
        }
        let (mentioned, looped) = (arcs.len(), loops.len());
        loops.sort_unstable();
        loops.dedup();
        arcs.sort_unstable();
        arcs.dedup();
        counts.self_loops = loops.len() as u64;
        counts.duplicates = ((mentioned - arcs.len()) / 2 + looped - loops.len()) as u64;
        let mut offsets = vec![0; n_nodes + 1];
        for &(a, _) in &arcs {
            offsets[a as usize + 1] += 1;
        }
        counts.isolated = offsets[1..].iter().filter(|&&degree| degree == 0).count() as u64;
        for node in 0..n_nodes {
            offsets[node + 1] += offsets[node];
        }
        Ok(Self { offsets, neighbours: arcs.into_iter().map(|(_, b)| b).collect(), counts })
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

    /// Returns what was found in the raw list and dropped.
    #[must_use]
    pub fn counts(&self) -> LinkCounts {
        self.counts
    }
}

impl Artifact for AdjacencyList {
    const NAME: &'static str = "links";
    const ZONE: Zone = Zone::Owner;
    const COLUMNS: &'static [(&'static str, ColumnType)] = &[("source", ColumnType::U32), ("target", ColumnType::U32)];

    fn facts(&self) -> Facts {
        Facts::default()
            .with("n_nodes", self.n_nodes())
            .with("rows", self.counts.rows)
            .with("self_loops", self.counts.self_loops)
            .with("duplicates", self.counts.duplicates)
            .with("isolated", self.counts.isolated)
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
        let mut list = Self::from_pairs(facts.get("n_nodes")?, pairs)?;
        list.counts = LinkCounts {
            rows: facts.get("rows")?,
            self_loops: facts.get("self_loops")?,
            duplicates: facts.get("duplicates")?,
            isolated: facts.get("isolated")?,
        };
        Ok(list)
    }

    /// Counts the offsets alone, because the facts do not say how many links there are.
    fn footprint(facts: &Facts) -> Result<u64, Invalid> {
        Ok(facts.get::<u64>("n_nodes")?.saturating_mul(8))
    }
}

#[cfg(test)]
mod tests;
