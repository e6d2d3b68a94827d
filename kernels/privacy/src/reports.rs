//! What the server receives.

use veilgraph_contract::{Artifact, Column, ColumnType, Facts, Invalid, Public, Zone, take};

use crate::budget::Budget;

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

/// Everyone's noisy list: the ones of each row, ascending.
#[derive(Clone, Debug, PartialEq)]
pub struct NoisyLinks {
    /// How the lists were made.
    pub facts: ReportFacts,
    offsets: Vec<usize>,
    ones: Vec<u32>,
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
    pub fn new(facts: ReportFacts, lists: Vec<Vec<u32>>) -> Result<Self, Invalid> {
        let n_nodes = lists.len();
        let mut offsets = vec![0];
        let mut ones = Vec::with_capacity(lists.iter().map(Vec::len).sum());
        for (node, list) in lists.into_iter().enumerate() {
            if list.contains(&(node as u32)) {
                return Err(Invalid(format!("node {node}: its report sets its own bit")));
            }
            if list.last().is_some_and(|&last| last as usize >= n_nodes) || !list.is_sorted_by(|a, b| a < b) {
                return Err(Invalid(format!(
                    "node {node}: its report is unsorted or names a node that does not exist"
                )));
            }
            ones.extend(list);
            offsets.push(ones.len());
        }
        Ok(Self { facts, offsets, ones })
    }

    /// Number of nodes.
    #[must_use]
    pub fn n_nodes(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Ones that `node` reported, ascending.
    #[must_use]
    pub fn ones(&self, node: usize) -> &[u32] {
        &self.ones[self.offsets[node]..self.offsets[node + 1]]
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
            let last = (first + NODES).min(self.n_nodes());
            let sources = (first..last).flat_map(|node| vec![node as u32; self.ones(node).len()]).collect();
            vec![Column::U32(sources), Column::U32(self.ones[self.offsets[first]..self.offsets[last]].to_vec())]
        }))
    }

    fn from_blocks(facts: &Facts, blocks: &mut dyn Iterator<Item = Vec<Column>>) -> Result<Self, Invalid> {
        let mut lists = vec![Vec::new(); facts.get("n_nodes")?];
        for block in blocks {
            let mut columns = block.into_iter();
            let sources: Vec<u32> = take(&mut columns)?;
            let targets: Vec<u32> = take(&mut columns)?;
            for (source, target) in sources.into_iter().zip(targets) {
                let list = lists.get_mut(source as usize);
                list.ok_or_else(|| Invalid(format!("node {source} does not exist")))?.push(target);
            }
        }
        Self::new(ReportFacts::from_facts(facts)?, lists)
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
