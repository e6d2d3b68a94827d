//! Who is linked with whom.

use veilgraph_contract::{Artifact, Column, ColumnType, Facts, Invalid, Zone, take};

use crate::NODES_PER_BLOCK;

/// Undirected simple graph: every node's sorted list of neighbours.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AdjacencyList {
    offsets: Vec<usize>,
    neighbours: Vec<u32>,
    counts: LinkCounts,
}

/// What was found in the raw list of links, and dropped to make the graph simple.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LinkCounts {
    /// Rows of the raw list.
    pub rows: u64,
    /// Nodes linked to themselves.
    pub self_loops: u64,
    /// Further mentions of a link or loop that was already there, in either direction.
    pub duplicates: u64,
    /// Nodes without any link.
    pub isolated: u64,
}

impl AdjacencyList {
    /// The simple undirected graph of these `pairs`; loops and repeated links are counted and dropped.
    ///
    /// # Errors
    /// When an endpoint is not below `n_nodes`; gives the position of the pair.
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

    /// Number of nodes.
    #[must_use]
    pub fn n_nodes(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Number of undirected links.
    #[must_use]
    pub fn n_links(&self) -> usize {
        self.neighbours.len() / 2
    }

    /// Sorted neighbours of `node`.
    #[must_use]
    pub fn neighbours(&self, node: usize) -> &[u32] {
        &self.neighbours[self.offsets[node]..self.offsets[node + 1]]
    }

    /// Number of neighbours of `node`.
    #[must_use]
    pub fn degree(&self, node: usize) -> usize {
        self.offsets[node + 1] - self.offsets[node]
    }

    /// All links `(i, j)` with `i < j`, sorted.
    pub fn links(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        (0..self.n_nodes())
            .flat_map(|i| self.neighbours(i).iter().filter(move |&&j| j as usize > i).map(move |&j| (i as u32, j)))
    }

    /// Whether `a` and `b` are linked.
    #[must_use]
    pub fn contains(&self, a: usize, b: u32) -> bool {
        self.neighbours(a).binary_search(&b).is_ok()
    }

    /// What ingest found and dropped.
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

    /// The offsets alone: the number of links is known to nobody before they are read.
    fn footprint(facts: &Facts) -> Result<u64, Invalid> {
        Ok(facts.get::<u64>("n_nodes")?.saturating_mul(8))
    }
}

#[cfg(test)]
mod tests;
