//! Pairs of a row block that may be links of the graph.

use veilgraph_contract::{Artifact, Column, ColumnType, Facts, Invalid, Public, Zone, take};

/// A pair `i < j` and the probability that it is linked.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LikelyPair {
    /// The lower node.
    pub i: u32,
    /// The higher node.
    pub j: u32,
    /// The probability, not yet rounded to the weight of a link.
    pub probability: f64,
}

/// Pairs of a row block that may be links of the graph, in ascending order.
#[derive(Clone, Debug, PartialEq)]
pub struct LikelyPairs {
    /// Number of nodes of the graph.
    pub n_nodes: usize,
    /// The pairs.
    pub pairs: Vec<LikelyPair>,
}

// Pairs and probabilities are a function of the noisy reports alone.
impl Public for LikelyPairs {}

impl Artifact for LikelyPairs {
    const NAME: &'static str = "likely_pairs";
    const ZONE: Zone = Zone::Server;
    const COLUMNS: &'static [(&'static str, ColumnType)] =
        &[("i", ColumnType::U32), ("j", ColumnType::U32), ("probability", ColumnType::F64)];

    fn facts(&self) -> Facts {
        Facts::default().with("n_nodes", self.n_nodes)
    }

    fn blocks(&self) -> Box<dyn Iterator<Item = Vec<Column>> + '_> {
        Box::new(self.pairs.chunks(1 << 18).map(|pairs| {
            vec![
                Column::U32(pairs.iter().map(|pair| pair.i).collect()),
                Column::U32(pairs.iter().map(|pair| pair.j).collect()),
                Column::F64(pairs.iter().map(|pair| pair.probability).collect()),
            ]
        }))
    }

    fn from_blocks(facts: &Facts, blocks: &mut dyn Iterator<Item = Vec<Column>>) -> Result<Self, Invalid> {
        let (n_nodes, mut pairs): (usize, Vec<LikelyPair>) = (facts.get("n_nodes")?, Vec::new());
        for block in blocks {
            let mut columns = block.into_iter();
            let (i, j): (Vec<u32>, Vec<u32>) = (take(&mut columns)?, take(&mut columns)?);
            let probabilities: Vec<f64> = take(&mut columns)?;
            for ((i, j), probability) in i.into_iter().zip(j).zip(probabilities) {
                let is_after = pairs.last().is_none_or(|last| (last.i, last.j) < (i, j));
                if i >= j || j as usize >= n_nodes || !is_after || !(0.0..=1.0).contains(&probability) {
                    return Err(Invalid(format!("pair ({i}, {j}) with {probability} is out of order or range")));
                }
                pairs.push(LikelyPair { i, j, probability });
            }
        }
        Ok(Self { n_nodes, pairs })
    }
}
