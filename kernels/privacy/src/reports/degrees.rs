//! Everyone's noisy degree.

use veilgraph_contract::{Artifact, Column, ColumnType, Facts, Invalid, Public, Zone, take};

use super::ReportFacts;

/// Everyone's noisy degree, in links. Who sent none, although degrees were asked for, is missing.
#[derive(Clone, Debug, PartialEq)]
pub struct NoisyDegrees {
    /// How the degrees were made.
    pub facts: ReportFacts,
    /// Number of nodes, missing ones included.
    pub n_nodes: usize,
    /// Who sent a degree, ascending.
    pub senders: Vec<u32>,
    /// The degree of each sender.
    pub degrees: Vec<f64>,
}

impl NoisyDegrees {
    /// The degree of every node `0, 1, ...`; `None` for a missing one.
    #[must_use]
    pub fn from_nodes(facts: ReportFacts, degrees: &[Option<f64>]) -> Self {
        let (senders, sent) =
            (0..).zip(degrees).filter_map(|(node, degree)| degree.map(|degree| (node, degree))).unzip();
        Self { facts, n_nodes: degrees.len(), senders, degrees: sent }
    }

    /// No degree was asked for.
    #[must_use]
    pub fn none(facts: ReportFacts, n_nodes: usize) -> Self {
        Self { facts, n_nodes, senders: Vec::new(), degrees: Vec::new() }
    }

    /// Whether degrees were asked for.
    #[must_use]
    pub fn were_sent(&self) -> bool {
        self.facts.budget.degree > 0.0
    }

    /// Nodes that sent nothing, ascending. Where no degree was asked for, nobody can be missed.
    #[must_use]
    pub fn missing(&self) -> Vec<u32> {
        if !self.were_sent() {
            return Vec::new();
        }
        let mut senders = self.senders.iter().copied().peekable();
        (0..self.n_nodes as u32).filter(|&node| senders.next_if_eq(&node).is_none()).collect()
    }
}

// Each degree is (epsilon_degree)-link-local-DP: see `count_noise::CountNoise`.
impl Public for NoisyDegrees {}

impl Artifact for NoisyDegrees {
    const NAME: &'static str = "noisy_degrees";
    const ZONE: Zone = Zone::Server;
    const IS_REPORT: bool = true;
    const COLUMNS: &'static [(&'static str, ColumnType)] = &[("node", ColumnType::U32), ("degree", ColumnType::F64)];

    fn facts(&self) -> Facts {
        self.facts.to_facts().with("n_nodes", self.n_nodes)
    }

    fn blocks(&self) -> Box<dyn Iterator<Item = Vec<Column>> + '_> {
        Box::new(std::iter::once(vec![Column::U32(self.senders.clone()), Column::F64(self.degrees.clone())]))
    }

    fn from_blocks(facts: &Facts, blocks: &mut dyn Iterator<Item = Vec<Column>>) -> Result<Self, Invalid> {
        let n_nodes = facts.get("n_nodes")?;
        let (mut senders, mut degrees) = (Vec::new(), Vec::new());
        for block in blocks {
            let mut columns = block.into_iter();
            senders.extend(take::<u32>(&mut columns)?);
            degrees.extend(take::<f64>(&mut columns)?);
        }
        if let Some(row) = degrees.iter().position(|degree| !degree.is_finite()) {
            return Err(Invalid(format!("node {}: its degree {} is not finite", senders[row], degrees[row])));
        }
        if !senders.is_sorted_by(|a, b| a < b) || senders.last().is_some_and(|&last| last as usize >= n_nodes) {
            return Err(Invalid(format!("the nodes do not ascend below {n_nodes}")));
        }
        let facts = ReportFacts::from_facts(facts)?;
        if facts.budget.degree == 0.0 && !degrees.is_empty() {
            return Err(Invalid(format!("{} nodes sent a degree without a budget for it", degrees.len())));
        }
        Ok(Self { facts, n_nodes, senders, degrees })
    }
}
