//! What an attack says about facts, as an artifact.

use veilgraph_contract::{Artifact, Column, ColumnType, Facts, Invalid, Zone, take};

use crate::record::Record;

/// Scores of facts: the larger, the likelier an attack takes the fact for true. A fact is a pair of numbers; see
/// [`Record`].
///
/// It is the auditor's, because the pairs may have been chosen by the true links, such as those of nodes of few links.
#[derive(Clone, Debug, PartialEq)]
pub struct PairScores {
    /// What the pairs are.
    pub record: Record,
    /// The graph has this many nodes.
    pub n_nodes: usize,
    /// Pairs `(row, column, score)`.
    pub pairs: Vec<(u32, u32, f64)>,
}

impl Artifact for PairScores {
    const NAME: &'static str = "pair_scores";
    const ZONE: Zone = Zone::Auditor;
    const COLUMNS: &'static [(&'static str, ColumnType)] =
        &[("row", ColumnType::U32), ("column", ColumnType::U32), ("score", ColumnType::F64)];

    fn facts(&self) -> Facts {
        Facts::default().with("record", self.record).with("n_nodes", self.n_nodes)
    }

    fn blocks(&self) -> Box<dyn Iterator<Item = Vec<Column>> + '_> {
        Box::new(std::iter::once(vec![
            Column::U32(self.pairs.iter().map(|pair| pair.0).collect()),
            Column::U32(self.pairs.iter().map(|pair| pair.1).collect()),
            Column::F64(self.pairs.iter().map(|pair| pair.2).collect()),
        ]))
    }

    fn from_blocks(facts: &Facts, blocks: &mut dyn Iterator<Item = Vec<Column>>) -> Result<Self, Invalid> {
        let (record, n_nodes): (Record, usize) = (facts.get("record")?, facts.get("n_nodes")?);
        let mut pairs = Vec::new();
        for block in blocks {
            let mut columns = block.into_iter();
            let (rows, of_rows): (Vec<u32>, Vec<u32>) = (take(&mut columns)?, take(&mut columns)?);
            let scores: Vec<f64> = take(&mut columns)?;
            pairs.extend(rows.into_iter().zip(of_rows).zip(scores).map(|((row, column), score)| (row, column, score)));
        }
        let is_wrong = |&(row, column, score): &(u32, u32, f64)| !record.has(n_nodes, row, column) || score.is_nan();
        match pairs.iter().position(is_wrong) {
            Some(at) => Err(Invalid(format!("row {at}: {:?} is no scored {record} of {n_nodes} nodes", pairs[at]))),
            None => Ok(Self { record, n_nodes, pairs }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores_are_read_back_or_refused() {
        let record = Record::Link;
        let scores =
            PairScores { record, n_nodes: 4, pairs: vec![(0, 1, 0.5), (0, 3, f64::NEG_INFINITY), (2, 3, -1.0)] };
        let read = |scores: &PairScores| PairScores::from_blocks(&scores.facts(), &mut scores.blocks());
        assert_eq!(read(&scores).expect("valid"), scores);
        for wrong in [(1, 1, 0.0), (3, 1, 0.0), (0, 4, 0.0), (0, 1, f64::NAN)] {
            let wrong = PairScores { record, n_nodes: 4, pairs: vec![wrong] };
            assert!(read(&wrong).expect_err("refused").to_string().contains("row 0"));
        }
    }
}
