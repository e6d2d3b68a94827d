//! Features that fair coins decide.

use rand::RngExt;
use serde::{Deserialize, Serialize};
use veilgraph_attack::{Canaries, Record};
use veilgraph_contract::{Draws, Owner, Private, Progress, Stage, StageRng};
use veilgraph_graph::{Features, SparseMatrix};

use super::chosen;
use crate::Error;

/// Decides all features of some nodes by fair coins, before anything is released: they lie at the upper end of the range
/// if the coin says so, and at the lower one otherwise.
pub struct PlantFeatures;

/// What [`PlantFeatures`] reads; the plan fills in the range that the mechanism declares.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlantFeaturesParams {
    /// How many nodes.
    pub canaries: usize,
    /// Least and largest value of a feature; those of the data where the mechanism takes them.
    pub range: Option<[f64; 2]>,
}

impl Stage for PlantFeatures {
    const STAGE: &'static str = "audit";
    const TASK: &'static str = "plant-features";
    const DRAWS: Draws = Draws::EveryTrial;
    type Side = Owner;
    type Params = PlantFeaturesParams;
    type Inputs = (Private<Features>,);
    type Outputs = (Private<Features>, Canaries);
    type Error = Error;

    fn run(
        (Private(Features(features)),): Self::Inputs,
        params: &PlantFeaturesParams,
        rng: &StageRng,
        _: &Progress,
    ) -> Result<Self::Outputs, Error> {
        let n_nodes = features.n_rows();
        let nodes = chosen((0..n_nodes as u32).collect(), params.canaries, "the nodes", rng)?;
        let ends = params.range.map_or_else(|| features.ends(), |range| range.map(|end| end as f32));
        if ends[0] >= ends[1] {
            return Err(Error::OneValue(ends[0]));
        }
        let mut stream = rng.fast_stream("coins of canaries", 0);
        let coins: Vec<(u32, u32, bool)> = nodes.iter().map(|&node| (node, 0, stream.random())).collect();
        let constant = |value: f32| -> Vec<(u32, f32)> {
            // Zeros are not listed.
            if value == 0.0 { Vec::new() } else { (0..features.n_columns() as u32).map(|k| (k, value)).collect() }
        };
        let mut decided = coins.iter().peekable();
        let rows = (0..n_nodes).map(|node| {
            if let Some(&(_, _, is_upper)) = decided.next_if(|coin| coin.0 as usize == node) {
                return constant(ends[usize::from(is_upper)]);
            }
            let (columns, values) = features.row(node);
            columns.iter().copied().zip(values.iter().copied()).collect()
        });
        let planted = SparseMatrix::from_rows(features.n_columns(), rows)?;
        Ok((Private(Features(planted)), Canaries { record: Record::Features, n_nodes, coins }))
    }
}
