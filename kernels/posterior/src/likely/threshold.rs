//! This module holds the bound above which a pair may be one of the most likely ones.

use veilgraph_contract::{Artifact, Column, ColumnType, Facts, Invalid, Public, Zone, take};

/// Says how many pairs are the most likely ones, and how likely each of them is at least.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LikelyThreshold {
    /// The number of most likely pairs, or fewer where too few pairs reach the logit; pairs that are tied with the last of them
    /// are added.
    pub rank: u64,
    /// Every one of them reaches this logit, and few other pairs do.
    pub logit: f64,
}

// The threshold is a function of the noisy reports alone.
impl Public for LikelyThreshold {}

impl Artifact for LikelyThreshold {
    const NAME: &'static str = "likely_threshold";
    const ZONE: Zone = Zone::Server;
    const COLUMNS: &'static [(&'static str, ColumnType)] = &[("logit", ColumnType::F64)];

    fn facts(&self) -> Facts {
        Facts::default().with("rank", self.rank)
    }

    fn blocks(&self) -> Box<dyn Iterator<Item = Vec<Column>> + '_> {
        Box::new(std::iter::once(vec![Column::F64(vec![self.logit])]))
    }

    fn from_blocks(facts: &Facts, blocks: &mut dyn Iterator<Item = Vec<Column>>) -> Result<Self, Invalid> {
        let mut logits = Vec::new();
        for block in blocks {
            logits.extend(take::<f64>(&mut block.into_iter())?);
        }
        match logits[..] {
            [logit] if !logit.is_nan() => Ok(Self { rank: facts.get("rank")?, logit }),
            _ => Err(Invalid(format!("{} thresholds where one was expected", logits.len()))),
        }
    }
}
