//! Every node's noisy numbers of neighbours in groups that the server named.

use veilgraph_contract::{Artifact, Column, ColumnType, Facts, Invalid, Public, Zone, take};

use super::ReportFacts;

/// Every node's noisy number of neighbours in every group.
#[derive(Clone, Debug, PartialEq)]
pub struct NoisyCounts {
    /// How the counts were made.
    pub facts: ReportFacts,
    /// Number of groups.
    pub n_groups: usize,
    /// Row-major, `[n_nodes, n_groups]`.
    pub counts: Vec<f64>,
}

// Each row is (ε/2)-link-local-DP: a bit of the list moves one count by one, see `count_noise::CountNoise`.
impl Public for NoisyCounts {}

impl NoisyCounts {
    /// Number of nodes.
    #[must_use]
    pub fn n_nodes(&self) -> usize {
        self.counts.len() / self.n_groups.max(1)
    }

    /// Counts of one node, by group.
    #[must_use]
    pub fn of(&self, node: usize) -> &[f64] {
        &self.counts[node * self.n_groups..(node + 1) * self.n_groups]
    }
}

impl Artifact for NoisyCounts {
    const NAME: &'static str = "noisy_counts";
    const ZONE: Zone = Zone::Server;
    const IS_REPORT: bool = true;
    const COLUMNS: &'static [(&'static str, ColumnType)] =
        &[("node", ColumnType::U32), ("group", ColumnType::U32), ("count", ColumnType::F64)];

    fn facts(&self) -> Facts {
        self.facts.to_facts().with("n_groups", self.n_groups)
    }

    fn blocks(&self) -> Box<dyn Iterator<Item = Vec<Column>> + '_> {
        let cells = || (0..self.n_nodes() as u32).flat_map(|node| (0..self.n_groups as u32).map(move |g| (node, g)));
        let (nodes, groups) = (cells().map(|cell| cell.0).collect(), cells().map(|cell| cell.1).collect());
        Box::new(std::iter::once(vec![Column::U32(nodes), Column::U32(groups), Column::F64(self.counts.clone())]))
    }

    fn from_blocks(facts: &Facts, blocks: &mut dyn Iterator<Item = Vec<Column>>) -> Result<Self, Invalid> {
        let n_groups: usize = facts.get("n_groups")?;
        let mut counts = Vec::new();
        for block in blocks {
            let mut columns = block.into_iter();
            let (nodes, groups): (Vec<u32>, Vec<u32>) = (take(&mut columns)?, take(&mut columns)?);
            for ((node, group), count) in nodes.into_iter().zip(groups).zip(take::<f64>(&mut columns)?) {
                let at = (node as usize).checked_mul(n_groups).and_then(|first| first.checked_add(group as usize));
                if group as usize >= n_groups || at != Some(counts.len()) || !count.is_finite() {
                    return Err(Invalid(format!("row {}: ({node}, {group}, {count}) is out of order", counts.len())));
                }
                counts.push(count);
            }
        }
        if n_groups == 0 || counts.len() % n_groups != 0 {
            return Err(Invalid(format!("{} counts are not {n_groups} for every node", counts.len())));
        }
        Ok(Self { facts: ReportFacts::from_facts(facts)?, n_groups, counts })
    }
}
