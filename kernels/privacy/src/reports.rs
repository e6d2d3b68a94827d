//! What the server receives.

use veilgraph_contract::{Artifact, Column, ColumnType, Facts, Invalid, Public, Zone, take};

use veilgraph_graph::{BitMatrix, Ones};

use crate::budget::Budget;
use crate::randomized_response::flip_probability;

/// Under which mechanism and budget the reports were made. The server learns it from the reports.
#[derive(Clone, Debug, PartialEq)]
pub struct ReportFacts {
    /// Name of the mechanism.
    pub mechanism: String,
    /// Whole budget of a node, in nats per list bit.
    pub epsilon: f64,
    /// Share spent on the degree.
    pub degree_fraction: f64,
    /// Both parts, in nats.
    pub budget: Budget,
    /// Noise on the degrees.
    pub degree_noise: String,
}

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

/// Everyone's noisy degree, in links; empty when no degree was sent.
#[derive(Clone, Debug, PartialEq)]
pub struct NoisyDegrees {
    /// How the degrees were made.
    pub facts: ReportFacts,
    /// Number of nodes.
    pub n_nodes: usize,
    /// One per node, or none at all.
    pub degrees: Vec<f64>,
}

impl ReportFacts {
    /// As facts of an artifact. Seeded noise is reproducible, hence not deployable.
    fn to_facts(&self) -> Facts {
        Facts::default()
            .with("mechanism", &self.mechanism)
            .with("epsilon", self.epsilon)
            .with("degree_fraction", self.degree_fraction)
            .with("epsilon_links", self.budget.links)
            .with("epsilon_degree", self.budget.degree)
            .with("degree_noise", &self.degree_noise)
            .with("randomness", "seeded")
            .with("deployable", false)
    }

    fn from_facts(facts: &Facts) -> Result<Self, Invalid> {
        Ok(Self {
            mechanism: facts.get("mechanism")?,
            epsilon: facts.get("epsilon")?,
            degree_fraction: facts.get("degree_fraction")?,
            budget: Budget { links: facts.get("epsilon_links")?, degree: facts.get("epsilon_degree")? },
            degree_noise: facts.get("degree_noise")?,
        })
    }
}

impl NoisyLinks {
    /// Reports of all nodes, one ascending list each.
    ///
    /// # Errors
    /// When a list is unsorted, out of range or holds the node itself; names the node.
    pub fn from_lists(facts: ReportFacts, lists: Vec<Vec<u32>>) -> Result<Self, Invalid> {
        let n_nodes = lists.len();
        let mut offsets = vec![0];
        let mut ones = Vec::with_capacity(lists.iter().map(Vec::len).sum());
        for (node, list) in lists.into_iter().enumerate() {
            if list.binary_search(&(node as u32)).is_ok() {
                return Err(own_bit(node));
            }
            if list.last().is_some_and(|&last| last as usize >= n_nodes) || !list.is_sorted_by(|a, b| a < b) {
                return Err(Invalid(format!(
                    "node {node}: its report is unsorted or names a node that does not exist"
                )));
            }
            ones.extend(list);
            offsets.push(ones.len());
        }
        Ok(Self { facts, lists: Lists::Sparse { offsets, ones } })
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

    /// Whether reports at this budget are kept as bits: one bit costs less than 32 bits for each one.
    #[must_use]
    pub fn are_dense(epsilon_links: f64) -> bool {
        epsilon_links > 0.0 && flip_probability(epsilon_links) > 1.0 / 32.0
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

    /// Ones that `node` reported, ascending.
    #[must_use]
    pub fn ones(&self, node: usize) -> ReportedOnes<'_> {
        match &self.lists {
            Lists::Sparse { offsets, ones } => ReportedOnes::Listed(ones[offsets[node]..offsets[node + 1]].iter()),
            Lists::Dense(bits) => ReportedOnes::Bits(bits.ones(node)),
        }
    }
}

fn own_bit(node: usize) -> Invalid {
    Invalid(format!("node {node}: its report sets its own bit"))
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

// Each list is (epsilon_links)-link-local-DP: see `randomized_response::noisy_list`.
impl Public for NoisyLinks {}

impl Artifact for NoisyLinks {
    const NAME: &'static str = "noisy_links";
    const ZONE: Zone = Zone::Server;
    const COLUMNS: &'static [(&'static str, ColumnType)] = &[("source", ColumnType::U32), ("target", ColumnType::U32)];

    fn facts(&self) -> Facts {
        self.facts.to_facts().with("n_nodes", self.n_nodes())
    }

    fn blocks(&self) -> Box<dyn Iterator<Item = Vec<Column>> + '_> {
        const NODES: usize = 1024;
        Box::new((0..self.n_nodes()).step_by(NODES).map(|first| {
            let nodes = first..(first + NODES).min(self.n_nodes());
            let (sources, targets) = nodes.flat_map(|node| self.ones(node).map(move |one| (node as u32, one))).unzip();
            vec![Column::U32(sources), Column::U32(targets)]
        }))
    }

    fn from_blocks(facts: &Facts, blocks: &mut dyn Iterator<Item = Vec<Column>>) -> Result<Self, Invalid> {
        let n_nodes = facts.get("n_nodes")?;
        let report = ReportFacts::from_facts(facts)?;
        let dense = Self::are_dense(report.budget.links);
        let mut bits = BitMatrix::from_rows(if dense { n_nodes } else { 0 }, |_, _| {});
        let mut lists = vec![Vec::new(); if dense { 0 } else { n_nodes }];
        for block in blocks {
            let mut columns = block.into_iter();
            let sources: Vec<u32> = take(&mut columns)?;
            let targets: Vec<u32> = take(&mut columns)?;
            for (source, target) in sources.into_iter().zip(targets) {
                if source.max(target) as usize >= n_nodes {
                    return Err(Invalid(format!("node {} does not exist", source.max(target))));
                }
                if dense { bits.set(source as usize, target) } else { lists[source as usize].push(target) }
            }
        }
        if dense { Self::from_bits(report, bits) } else { Self::from_lists(report, lists) }
    }
}

// Each degree is (epsilon_degree)-link-local-DP: see `degree_noise::noisy_degree`.
impl Public for NoisyDegrees {}

impl Artifact for NoisyDegrees {
    const NAME: &'static str = "noisy_degrees";
    const ZONE: Zone = Zone::Server;
    const COLUMNS: &'static [(&'static str, ColumnType)] = &[("node", ColumnType::U32), ("degree", ColumnType::F64)];

    fn facts(&self) -> Facts {
        self.facts.to_facts().with("n_nodes", self.n_nodes)
    }

    fn blocks(&self) -> Box<dyn Iterator<Item = Vec<Column>> + '_> {
        let nodes = (0..self.degrees.len() as u32).collect();
        Box::new(std::iter::once(vec![Column::U32(nodes), Column::F64(self.degrees.clone())]))
    }

    fn from_blocks(facts: &Facts, blocks: &mut dyn Iterator<Item = Vec<Column>>) -> Result<Self, Invalid> {
        let n_nodes = facts.get("n_nodes")?;
        let mut degrees = Vec::new();
        for block in blocks {
            let mut columns = block.into_iter().skip(1);
            degrees.extend(take::<f64>(&mut columns)?);
        }
        if let Some(node) = degrees.iter().position(|degree| !degree.is_finite()) {
            return Err(Invalid(format!("node {node}: its degree {} is not finite", degrees[node])));
        }
        if !degrees.is_empty() && degrees.len() != n_nodes {
            return Err(Invalid(format!("{} nodes sent a degree, {n_nodes} exist", degrees.len())));
        }
        Ok(Self { facts: ReportFacts::from_facts(facts)?, n_nodes, degrees })
    }
}
