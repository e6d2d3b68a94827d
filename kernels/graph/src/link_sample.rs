//! This module holds pairs of nodes that are known to be linked, or known not to be.

use veilgraph_contract::{Artifact, Column, ColumnType, Facts, Invalid, Public, Zone, take};

/// Lists pairs of nodes on which link prediction is judged: some are links, and as many are not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkSample {
    /// The graph has this many nodes.
    pub n_nodes: usize,
    /// The pairs `(i, j, is_link)` have `i < j`.
    pub pairs: Vec<(u32, u32, bool)>,
}

// A stage function of the owner's side releases it only where links are declared public; see `privatize::links::public`.
impl Public for LinkSample {}

impl Artifact for LinkSample {
    const NAME: &'static str = "validation_links";
    const HELD_OUT_NAME: &'static str = "held_out_links";
    const ZONE: Zone = Zone::Server;
    const COLUMNS: &'static [(&'static str, ColumnType)] =
        &[("i", ColumnType::U32), ("j", ColumnType::U32), ("is_link", ColumnType::U8)];

    fn facts(&self) -> Facts {
        Facts::default().with("n_nodes", self.n_nodes)
    }

    fn blocks(&self) -> Box<dyn Iterator<Item = Vec<Column>> + '_> {
        Box::new(std::iter::once(vec![
            Column::U32(self.pairs.iter().map(|pair| pair.0).collect()),
            Column::U32(self.pairs.iter().map(|pair| pair.1).collect()),
            Column::U8(self.pairs.iter().map(|pair| u8::from(pair.2)).collect()),
        ]))
    }

    fn from_blocks(facts: &Facts, blocks: &mut dyn Iterator<Item = Vec<Column>>) -> Result<Self, Invalid> {
        let n_nodes: usize = facts.get("n_nodes")?;
        let mut pairs = Vec::new();
        for block in blocks {
            let mut columns = block.into_iter();
            let (i, j): (Vec<u32>, Vec<u32>) = (take(&mut columns)?, take(&mut columns)?);
            let is_link: Vec<u8> = take(&mut columns)?;
            for ((i, j), is_link) in i.into_iter().zip(j).zip(is_link) {
                if i >= j || j as usize >= n_nodes || is_link > 1 {
                    return Err(Invalid(format!(
                        "row {}: ({i}, {j}, {is_link}) is no pair of {n_nodes} nodes",
                        pairs.len()
                    )));
                }
                pairs.push((i, j, is_link == 1));
            }
        }
        Ok(Self { n_nodes, pairs })
    }
}
