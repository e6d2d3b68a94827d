//! Pairs whose links were decided by fair coins, as an artifact.

use veilgraph_contract::{Artifact, Column, ColumnType, Facts, Invalid, Zone, take};

/// Pairs of nodes, each with the side on which its coin fell.
///
/// It is the auditor's: the coins are what an attacker guesses.
#[derive(Clone, Debug, PartialEq)]
pub struct Canaries {
    /// The graph has this many nodes.
    pub n_nodes: usize,
    /// Pairs `(i, j, is_link)` with `i < j`, ascending.
    pub pairs: Vec<(u32, u32, bool)>,
}

impl Artifact for Canaries {
    const NAME: &'static str = "canaries";
    const ZONE: Zone = Zone::Auditor;
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
        let mut pairs: Vec<(u32, u32, bool)> = Vec::new();
        for block in blocks {
            let mut columns = block.into_iter();
            let (i, j): (Vec<u32>, Vec<u32>) = (take(&mut columns)?, take(&mut columns)?);
            let coins: Vec<u8> = take(&mut columns)?;
            pairs.extend(i.into_iter().zip(j).zip(coins).map(|((i, j), coin)| (i, j, coin != 0)));
        }
        let is_pair = |&(i, j, _): &(u32, u32, bool)| i < j && (j as usize) < n_nodes;
        let ascend = pairs.is_sorted_by(|a, b| (a.0, a.1) < (b.0, b.1));
        if ascend && pairs.iter().all(is_pair) {
            Ok(Self { n_nodes, pairs })
        } else {
            Err(Invalid(format!("these are no canaries of {n_nodes} nodes: a pair is repeated, or none at all")))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn canaries_are_read_back_or_refused() {
        let read = |pairs: Vec<(u32, u32, bool)>| {
            let canaries = Canaries { n_nodes: 4, pairs };
            Canaries::from_blocks(&canaries.facts(), &mut canaries.blocks()).map(|read| read == canaries)
        };
        assert!(read(vec![(0, 1, true), (0, 3, false), (2, 3, true)]).expect("valid"));
        for wrong in [vec![(1, 1, true)], vec![(0, 4, true)], vec![(0, 1, true), (0, 1, false)]] {
            assert!(read(wrong).is_err());
        }
    }
}
