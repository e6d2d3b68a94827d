//! Everyone's noisy list.

use std::ops::Range;

use rayon::prelude::*;
use veilgraph_contract::{Artifact, Column, ColumnType, Facts, Invalid, Public, Streamed, Zone, take};
use veilgraph_graph::{BitMatrix, Ones};

use super::{ReportFacts, lying_share};
use crate::randomized_response::flip_probability;

/// Everyone's noisy list.
#[derive(Clone, Debug, PartialEq)]
pub struct NoisyLinks {
    /// How the lists were made.
    pub facts: ReportFacts,
    lists: Lists,
}

/// Lists of ones where they are few, bits where they are many.
#[derive(Clone, Debug, PartialEq)]
enum Lists {
    Sparse { offsets: Vec<usize>, ones: Vec<u32> },
    Dense(BitMatrix),
}

/// Ones of a report, ascending.
pub enum ReportedOnes<'a> {
    /// From a list.
    Listed(std::slice::Iter<'a, u32>),
    /// From bits.
    Bits(Ones<'a>),
}

impl NoisyLinks {
    /// Reports of all nodes, one ascending list each.
    ///
    /// # Errors
    /// When a list is unsorted, out of range or holds the node itself; names the node.
    pub fn from_lists(facts: ReportFacts, lists: &[Vec<u32>]) -> Result<Self, Invalid> {
        let mut builder = Builder::new(lists.len());
        for (node, list) in lists.iter().enumerate() {
            list.iter().try_for_each(|&one| builder.push(node as u32, one))?;
        }
        Ok(Self { facts, lists: builder.finish() })
    }

    /// Reports of all nodes as bits.
    ///
    /// # Errors
    /// When a node reports a link to itself.
    pub fn from_bits(facts: ReportFacts, bits: BitMatrix) -> Result<Self, Invalid> {
        match (0..bits.n_rows()).find(|&node| bits.contains(node, node as u32)) {
            Some(node) => Err(own_bit(node)),
            None => Ok(Self { facts, lists: Lists::Dense(bits) }),
        }
    }

    /// Reports that are made while they are written: `draw(node)` is the ascending list of a node.
    #[must_use]
    pub fn streamed(
        facts: &ReportFacts,
        n_nodes: usize,
        draw: impl Fn(usize) -> Vec<u32> + Send + Sync + 'static,
    ) -> Streamed<Self> {
        let nodes = nodes_per_block(facts, n_nodes);
        let make = move |block: usize| columns(block * nodes..((block + 1) * nodes).min(n_nodes), &draw);
        Streamed::new(all_facts(facts, n_nodes), n_nodes.div_ceil(nodes), make)
    }

    /// Whether reports at this budget are kept as bits.
    ///
    /// Above one flip in 64, two planes of n² bits take less memory and time than listed ones and their pairing
    /// (docs/benchmarks/links.md).
    #[must_use]
    pub fn are_dense(epsilon_links: f64) -> bool {
        epsilon_links > 0.0 && flip_probability(epsilon_links) > 1.0 / 64.0
    }

    /// Number of nodes.
    #[must_use]
    pub fn n_nodes(&self) -> usize {
        match &self.lists {
            Lists::Sparse { offsets, .. } => offsets.len() - 1,
            Lists::Dense(bits) => bits.n_rows(),
        }
    }

    /// The reports as bits, if they are kept so.
    #[must_use]
    pub fn bits(&self) -> Option<&BitMatrix> {
        match &self.lists {
            Lists::Sparse { .. } => None,
            Lists::Dense(bits) => Some(bits),
        }
    }

    /// The bits themselves.
    ///
    /// # Errors
    /// Gives the reports back if they are kept as lists.
    pub fn into_bits(self) -> Result<BitMatrix, Box<Self>> {
        match self.lists {
            Lists::Sparse { .. } => Err(Box::new(self)),
            Lists::Dense(bits) => Ok(bits),
        }
    }

    /// Ones that `node` reported, ascending.
    #[must_use]
    pub fn ones(&self, node: usize) -> ReportedOnes<'_> {
        match &self.lists {
            Lists::Sparse { offsets, ones } => ReportedOnes::Listed(ones[offsets[node]..offsets[node + 1]].iter()),
            Lists::Dense(bits) => ReportedOnes::Bits(bits.ones(node)),
        }
    }
}

/// Lists while they arrive, ordered by node.
struct Builder {
    n_nodes: usize,
    offsets: Vec<usize>,
    ones: Vec<u32>,
}

impl Builder {
    fn new(n_nodes: usize) -> Self {
        Self { n_nodes, offsets: vec![0], ones: Vec::new() }
    }

    fn push(&mut self, node: u32, one: u32) -> Result<(), Invalid> {
        let unsorted = || Invalid(format!("node {node}: its report is unsorted or names a node that does not exist"));
        let row = self.offsets.len() - 1;
        if node == one {
            return Err(own_bit(node as usize));
        }
        if one.max(node) as usize >= self.n_nodes || (node as usize) < row {
            return Err(unsorted());
        }
        self.offsets.resize(node as usize + 1, self.ones.len());
        let start = self.offsets[node as usize];
        if self.ones[start..].last().is_some_and(|&last| last >= one) {
            return Err(unsorted());
        }
        self.ones.push(one);
        Ok(())
    }

    fn finish(mut self) -> Lists {
        self.offsets.resize(self.n_nodes + 1, self.ones.len());
        Lists::Sparse { offsets: self.offsets, ones: self.ones }
    }
}

fn own_bit(node: usize) -> Invalid {
    Invalid(format!("node {node}: its report sets its own bit"))
}

/// Nodes whose lists make one row group: some 262,144 ones, small enough for fast memory.
fn nodes_per_block(facts: &ReportFacts, n_nodes: usize) -> usize {
    // A node that lies may set all bits of its list.
    let ones_per_node = (flip_probability(facts.budget.links) + facts.lying_share) * n_nodes as f64;
    (262_144.0 / ones_per_node.max(1.0)).clamp(1.0, 65_536.0) as usize
}

/// Rows of a range of nodes.
fn columns(nodes: Range<usize>, list: impl Fn(usize) -> Vec<u32> + Send + Sync) -> Vec<Column> {
    let lists: Vec<Vec<u32>> = nodes.clone().into_par_iter().map(list).collect();
    let rows = lists.iter().map(Vec::len).sum();
    let (mut sources, mut targets) = (Vec::with_capacity(rows), Vec::with_capacity(rows));
    for (node, list) in nodes.zip(lists) {
        sources.resize(sources.len() + list.len(), node as u32);
        targets.extend(list);
    }
    vec![Column::U32(sources), Column::U32(targets)]
}

fn all_facts(facts: &ReportFacts, n_nodes: usize) -> Facts {
    facts.to_facts().with("n_nodes", n_nodes)
}

impl Iterator for ReportedOnes<'_> {
    type Item = u32;

    fn next(&mut self) -> Option<u32> {
        match self {
            Self::Listed(ones) => ones.next().copied(),
            Self::Bits(ones) => ones.next(),
        }
    }
}

// Each list is (epsilon_links)-link-local-DP: see `randomized_response::RandomizedResponse::noisy_list`.
impl Public for NoisyLinks {}

impl Artifact for NoisyLinks {
    const NAME: &'static str = "noisy_links";
    const ZONE: Zone = Zone::Server;
    const IS_REPORT: bool = true;
    const COLUMNS: &'static [(&'static str, ColumnType)] = &[("source", ColumnType::U32), ("target", ColumnType::U32)];

    fn facts(&self) -> Facts {
        all_facts(&self.facts, self.n_nodes())
    }

    fn blocks(&self) -> Box<dyn Iterator<Item = Vec<Column>> + '_> {
        let (n_nodes, nodes) = (self.n_nodes(), nodes_per_block(&self.facts, self.n_nodes()));
        let ranges = (0..n_nodes).step_by(nodes).map(move |first| first..(first + nodes).min(n_nodes));
        Box::new(ranges.map(|range| columns(range, |node| self.ones(node).collect())))
    }

    fn from_blocks(facts: &Facts, blocks: &mut dyn Iterator<Item = Vec<Column>>) -> Result<Self, Invalid> {
        let n_nodes = facts.get("n_nodes")?;
        let report = ReportFacts::from_facts(facts)?;
        let dense = Self::are_dense(report.budget.links);
        let mut bits = BitMatrix::from_rows(if dense { n_nodes } else { 0 }, |_, _| {});
        let mut lists = Builder::new(n_nodes);
        for block in blocks {
            let mut columns = block.into_iter();
            let sources: Vec<u32> = take(&mut columns)?;
            let targets: Vec<u32> = take(&mut columns)?;
            for (source, target) in sources.into_iter().zip(targets) {
                if source.max(target) as usize >= n_nodes {
                    return Err(Invalid(format!("node {} does not exist", source.max(target))));
                }
                if dense { bits.set(source as usize, target) } else { lists.push(source, target)? }
            }
        }
        if dense { Self::from_bits(report, bits) } else { Ok(Self { facts: report, lists: lists.finish() }) }
    }

    /// Bits, and the same transposed when they are paired; or the ones that noise alone makes.
    fn footprint(facts: &Facts, _: u64) -> Result<u64, Invalid> {
        let n: f64 = facts.get("n_nodes")?;
        let epsilon_links = facts.get("epsilon_links")?;
        let bytes_per_pair = match epsilon_links {
            0.0 => 0.0,
            epsilon if Self::are_dense(epsilon) => 0.25,
            // A node that lies may set all bits of its list.
            epsilon => 4.0 * (flip_probability(epsilon) + lying_share(facts)?),
        };
        // Bits need no offsets; lists have one for each node.
        Ok((n * n * bytes_per_pair + if bytes_per_pair == 0.25 { 0.0 } else { 8.0 * n }) as u64)
    }
}
