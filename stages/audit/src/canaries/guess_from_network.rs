//! Guesses about links from a trained network.

use std::collections::BTreeSet;

use veilgraph_attack::{Canaries, PairScores, Record};
use veilgraph_contract::{Auditor, Draws, Progress, Stage, StageRng};
use veilgraph_graph::{EstimatedFeatures, Features, WeightedGraph};
use veilgraph_nn::ModelWeights;
use veilgraph_posterior::{LinkEvidence, LinkModel};

use super::{about, same_size, scored};
use crate::Error;
use crate::linkteller::attacked;

/// What a trained network says about each coin: the influence of both nodes on each other.
pub struct GuessFromNetwork;

/// Most ends of canaries whose influence on each other is kept: a number for each two takes 3 gibibytes.
const MOST_ENDS: usize = 20_000;

impl Stage for GuessFromNetwork {
    const STAGE: &'static str = "audit";
    const TASK: &'static str = "guess-from-network";
    const DRAWS: Draws = Draws::Never;
    type Side = Auditor;
    type Params = crate::LinkTellerParams;
    type Inputs = (
        Canaries,
        ModelWeights,
        Option<Features>,
        Option<EstimatedFeatures>,
        WeightedGraph,
        Option<LinkModel>,
        Option<LinkEvidence>,
    );
    type Outputs = (PairScores,);
    type Error = Error;

    fn check_params(params: &crate::LinkTellerParams) -> Result<(), Error> {
        params.check()
    }

    fn run(
        (canaries, weights, features, estimated, graph, model, evidence): Self::Inputs,
        params: &crate::LinkTellerParams,
        _: &StageRng,
        _: &Progress,
    ) -> Result<Self::Outputs, Error> {
        params.check()?;
        about(&canaries, Record::Link)?;
        same_size(graph.n_nodes, &canaries)?;
        let ends = canaries.coins.iter().flat_map(|&(i, j, _)| [i, j]);
        let nodes: Vec<u32> = ends.collect::<BTreeSet<u32>>().into_iter().collect();
        if nodes.len() > MOST_ENDS {
            return Err(Error::Ends(nodes.len(), MOST_ENDS));
        }
        let influence = attacked(&weights, features.as_ref(), estimated.as_ref(), &graph, model, evidence)?;
        let moved = influence.of(&nodes, params.probe_scale, params.output.into());
        let place = |node: u32| nodes.binary_search(&node).unwrap_or_default();
        Ok((scored(&canaries, |i, j| params.direction.of(&moved, place(i), place(j))),))
    }
}
