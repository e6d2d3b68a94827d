//! Graphs from link probabilities, one row block at a time: the graph that [`Construct`](super::Construct) would have
//! made, to the last byte.
//!
//! A hard graph has the pairs that each row block selects. A hybrid one takes four steps. The known pairs of each row
//! block are counted by their logits. All counts together give a threshold: the most likely pairs reach it, and few
//! others do. The pairs of each row block that reach it are selected. Where the selected pairs are merged, those that do
//! not belong to the most likely ones are left out.

mod likely_pairs;
mod rank;

use std::collections::BTreeSet;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use veilgraph_contract::{Blocks, Draws, Invalid, NoParams, Progress, Server, Stage, StageRng, Stored, Streamed, take};
use veilgraph_graph::{Construction, LinkPieces, WeightedGraph};
use veilgraph_posterior::{LikelyThreshold, LinkEvidence, LinkModel, LogitCounts, Posterior, RowBlock, sigmoid};

use super::{Params, is_likely};
use crate::Error;

pub use likely_pairs::{LikelyPair, LikelyPairs};

/// Counts the known pairs of a row block by their logits.
pub struct CountKnownPairs;

/// Finds from the counts of all row blocks which logit the most likely pairs have at least.
pub struct FindThreshold;

/// Selects the pairs of a row block that may be links of the graph: those that reach the threshold, or, where none
/// is given, those that are more likely linked than not.
pub struct SelectPairs;

/// Makes the graph of the pairs that were selected from all row blocks.
pub struct MergeGraph;

/// What decides how many pairs are the most likely ones.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ThresholdParams {
    /// How many entries a hybrid graph keeps, as a multiple of those expected, ΣP.
    pub edge_multiple: f64,
}

impl From<&Params> for ThresholdParams {
    fn from(params: &Params) -> Self {
        Self { edge_multiple: params.edge_multiple }
    }
}

impl Stage for CountKnownPairs {
    const STAGE: &'static str = "construct";
    const TASK: &'static str = "count-rows";
    const DRAWS: Draws = Draws::Never;
    type Side = Server;
    type Params = RowBlock;
    type Inputs = (LinkModel, Stored<LinkEvidence>);
    type Outputs = (LogitCounts,);
    type Error = Error;

    fn run(
        (model, evidence): Self::Inputs,
        block: &RowBlock,
        _: &StageRng,
        _: &Progress,
    ) -> Result<Self::Outputs, Error> {
        Ok((of_rows(&model, &evidence, *block)?.logit_counts(),))
    }
}

impl Stage for FindThreshold {
    const STAGE: &'static str = "construct";
    const TASK: &'static str = "threshold";
    const DRAWS: Draws = Draws::Never;
    type Side = Server;
    type Params = ThresholdParams;
    type Inputs = (LinkModel, Vec<Stored<LogitCounts>>);
    type Outputs = (LikelyThreshold,);
    type Error = Error;

    fn run(
        (model, counts): Self::Inputs,
        params: &ThresholdParams,
        _: &StageRng,
        _: &Progress,
    ) -> Result<Self::Outputs, Error> {
        let mut sum = LogitCounts::none();
        for stored in counts {
            sum = sum.plus(&stored.load()?);
        }
        let n_bins = u8::try_from(model.bin_logits.len()).map_err(|error| Invalid(error.to_string()))?;
        let posterior = Posterior::new(&model, LinkEvidence::nothing(model.beta.len(), n_bins))?;
        Ok((posterior.likely_threshold(&sum, params.edge_multiple),))
    }
}

impl Stage for SelectPairs {
    const STAGE: &'static str = "construct";
    const TASK: &'static str = "select-rows";
    const DRAWS: Draws = Draws::Never;
    type Side = Server;
    type Params = RowBlock;
    type Inputs = (LinkModel, Stored<LinkEvidence>, Option<LikelyThreshold>);
    type Outputs = (LikelyPairs,);
    type Error = Error;

    fn run(
        (model, evidence, threshold): Self::Inputs,
        block: &RowBlock,
        _: &StageRng,
        _: &Progress,
    ) -> Result<Self::Outputs, Error> {
        let posterior = of_rows(&model, &evidence, *block)?;
        let accept = |logit| threshold.map_or(is_likely(logit), |threshold| logit >= threshold.logit);
        let mut pairs = Vec::new();
        posterior.visit_pairs_of(block.rows(posterior.n_nodes()), accept, |i, j, logit| {
            pairs.push(LikelyPair { i, j, probability: sigmoid(logit) });
        });
        pairs.sort_unstable_by_key(|pair| (pair.i, pair.j));
        Ok((LikelyPairs { n_nodes: posterior.n_nodes(), pairs },))
    }
}

impl Stage for MergeGraph {
    const STAGE: &'static str = "construct";
    const TASK: &'static str = "merge-rows";
    const DRAWS: Draws = Draws::Never;
    type Side = Server;
    type Params = NoParams;
    type Inputs = (Vec<Stored<LikelyPairs>>, Option<LikelyThreshold>);
    type Outputs = (Streamed<WeightedGraph>,);
    type Error = Error;

    fn run((pairs, threshold): Self::Inputs, _: &NoParams, _: &StageRng, _: &Progress) -> Result<Self::Outputs, Error> {
        let sizes: Result<BTreeSet<usize>, Invalid> =
            pairs.iter().map(|stored| stored.facts().get("n_nodes")).collect();
        let sizes = sizes?;
        let (Some(&n_nodes), 1) = (sizes.first(), sizes.len()) else {
            return Err(
                Invalid(format!("row blocks of one graph were expected, not of graphs of {sizes:?} nodes")).into()
            );
        };
        let selected = Selected(Arc::new(pairs));
        let (construction, least) = match threshold {
            None => (Construction::Hard, 0.0),
            // Ties are decided on the probability itself, and all kept.
            Some(LikelyThreshold { rank, .. }) => {
                (Construction::Hybrid, rank::largest(|| selected.probabilities(), rank)?.unwrap_or(f64::INFINITY))
            }
        };
        let links = move || selected.links(construction, least);
        Ok((WeightedGraph::streamed(construction, n_nodes, links),))
    }
}

/// What is believed of the pairs of a row block; nothing is known of all others.
fn of_rows(model: &LinkModel, evidence: &Stored<LinkEvidence>, block: RowBlock) -> Result<Posterior, Invalid> {
    let rows = block.rows(model.beta.len());
    Posterior::new(model, LinkEvidence::of_rows(evidence, rows)?)
}

/// The pairs that were selected from all row blocks, where they are stored.
#[derive(Clone)]
struct Selected(Arc<Vec<Stored<LikelyPairs>>>);

impl Selected {
    /// All pairs, one row block after the other.
    fn blocks(&self) -> Blocks {
        let stored = self.0.clone();
        Box::new((0..stored.len()).flat_map(move |row_block| stored[row_block].rows(0..u32::MAX)))
    }

    /// The probabilities of all pairs.
    fn probabilities(&self) -> impl Iterator<Item = Result<Vec<f64>, Invalid>> + use<> {
        self.blocks().map(|block| take(&mut block?.into_iter().skip(2)))
    }

    /// The links: those of the pairs that are at least this likely.
    fn links(&self, construction: Construction, least: f64) -> LinkPieces {
        let mut last = None;
        Box::new(self.blocks().map(move |block| {
            let mut columns = block?.into_iter();
            let (i, j): (Vec<u32>, Vec<u32>) = (take(&mut columns)?, take(&mut columns)?);
            let probabilities: Vec<f64> = take(&mut columns)?;
            for pair in i.iter().zip(&j).map(|(&i, &j)| (i, j)) {
                if last.is_some_and(|last| last >= pair) {
                    return Err(Invalid(format!("the pair {pair:?} of a row block is out of order")));
                }
                last = Some(pair);
            }
            let pairs = i.into_iter().zip(j).zip(probabilities).filter(|&(_, probability)| probability >= least);
            let weight = |probability: f64| if construction == Construction::Hard { 1.0 } else { probability as f32 };
            Ok(pairs.map(|((i, j), probability)| (i, j, weight(probability))).collect())
        }))
    }
}

#[cfg(test)]
mod tests;
