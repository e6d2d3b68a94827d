//! Groups of nodes that the server names and asks every node about.

use veilgraph_contract::{Artifact, Column, ColumnType, Facts, Invalid, Public, Zone, take};

/// Which group the server put each node into.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Groups {
    /// Group of node `0, 1, ...`.
    pub of: Vec<u32>,
    /// Number of groups; some may be empty.
    pub n_groups: usize,
}

// Made by the server itself, from what it was sent.
impl Public for Groups {}

impl Groups {
    /// Number of nodes of each group.
    #[must_use]
    pub fn sizes(&self) -> Vec<usize> {
        let mut sizes = vec![0; self.n_groups];
        self.of.iter().for_each(|&group| sizes[group as usize] += 1);
        sizes
    }
}

impl Artifact for Groups {
    const NAME: &'static str = "groups";
    const ZONE: Zone = Zone::Server;
    const COLUMNS: &'static [(&'static str, ColumnType)] = &[("node", ColumnType::U32), ("group", ColumnType::U32)];

    fn facts(&self) -> Facts {
        Facts::default().with("n_nodes", self.of.len()).with("n_groups", self.n_groups)
    }

    fn blocks(&self) -> Box<dyn Iterator<Item = Vec<Column>> + '_> {
        let nodes = (0..self.of.len() as u32).collect();
        Box::new(std::iter::once(vec![Column::U32(nodes), Column::U32(self.of.clone())]))
    }

    fn from_blocks(facts: &Facts, blocks: &mut dyn Iterator<Item = Vec<Column>>) -> Result<Self, Invalid> {
        let (n_nodes, n_groups): (usize, usize) = (facts.get("n_nodes")?, facts.get("n_groups")?);
        let (mut nodes, mut of) = (Vec::new(), Vec::new());
        for block in blocks {
            let mut columns = block.into_iter();
            nodes.extend(take::<u32>(&mut columns)?);
            of.extend(take::<u32>(&mut columns)?);
        }
        if nodes.len() != n_nodes || (0..).zip(&nodes).any(|(expected, &node)| node != expected) {
            return Err(Invalid(format!("the nodes are not 0 to {n_nodes}")));
        }
        // As many groups as nodes at most, so that a wrong number cannot take all memory.
        if n_groups > n_nodes || of.iter().any(|&group| group as usize >= n_groups) {
            return Err(Invalid(format!("a node lies in none of the {n_groups} groups")));
        }
        Ok(Self { of, n_groups })
    }
}
