//! Facts that were decided by fair coins, as an artifact.

use veilgraph_contract::{Artifact, Column, ColumnType, Facts, Invalid, Zone, take};

use crate::record::Record;

/// Facts, each with the side on which its coin fell.
///
/// It is the auditor's: the coins are what an attacker guesses.
#[derive(Clone, Debug, PartialEq)]
pub struct Canaries {
    /// What the coins decided.
    pub record: Record,
    /// The graph has this many nodes.
    pub n_nodes: usize,
    /// Facts `(row, column, is_true)`, ascending, none twice.
    pub coins: Vec<(u32, u32, bool)>,
}

impl Artifact for Canaries {
    const NAME: &'static str = "canaries";
    const ZONE: Zone = Zone::Auditor;
    const COLUMNS: &'static [(&'static str, ColumnType)] =
        &[("row", ColumnType::U32), ("column", ColumnType::U32), ("is_true", ColumnType::U8)];

    fn facts(&self) -> Facts {
        Facts::default().with("record", self.record).with("n_nodes", self.n_nodes)
    }

    fn blocks(&self) -> Box<dyn Iterator<Item = Vec<Column>> + '_> {
        Box::new(std::iter::once(vec![
            Column::U32(self.coins.iter().map(|coin| coin.0).collect()),
            Column::U32(self.coins.iter().map(|coin| coin.1).collect()),
            Column::U8(self.coins.iter().map(|coin| u8::from(coin.2)).collect()),
        ]))
    }

    fn from_blocks(facts: &Facts, blocks: &mut dyn Iterator<Item = Vec<Column>>) -> Result<Self, Invalid> {
        let (record, n_nodes): (Record, usize) = (facts.get("record")?, facts.get("n_nodes")?);
        let mut coins: Vec<(u32, u32, bool)> = Vec::new();
        for block in blocks {
            let mut columns = block.into_iter();
            let (rows, of_rows): (Vec<u32>, Vec<u32>) = (take(&mut columns)?, take(&mut columns)?);
            let sides: Vec<u8> = take(&mut columns)?;
            coins
                .extend(rows.into_iter().zip(of_rows).zip(sides).map(|((row, column), side)| (row, column, side != 0)));
        }
        let is_fact = |&(row, column, _): &(u32, u32, bool)| record.has(n_nodes, row, column);
        let ascend = coins.is_sorted_by(|a, b| (a.0, a.1) < (b.0, b.1));
        if ascend && coins.iter().all(is_fact) {
            Ok(Self { record, n_nodes, coins })
        } else {
            Err(Invalid(format!(
                "these are no canaries ({record}) of {n_nodes} nodes: one is repeated, or no such fact"
            )))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn canaries_are_read_back_or_refused() {
        let read = |record: Record, coins: Vec<(u32, u32, bool)>| {
            let canaries = Canaries { record, n_nodes: 4, coins };
            Canaries::from_blocks(&canaries.facts(), &mut canaries.blocks()).map(|read| read == canaries)
        };
        assert!(read(Record::Link, vec![(0, 1, true), (0, 3, false), (2, 3, true)]).expect("valid"));
        assert!(read(Record::Label, vec![(0, 6, true), (3, 0, false)]).expect("valid"));
        for wrong in [vec![(1, 1, true)], vec![(0, 4, true)], vec![(0, 1, true), (0, 1, false)]] {
            assert!(read(Record::Link, wrong).is_err());
        }
        assert!(read(Record::Features, vec![(0, 1, true)]).is_err());
        assert!(read(Record::Label, vec![(4, 1, true)]).is_err());
    }
}
