//! Links that fair coins decide, and what an attacker guesses about the coins.

use std::collections::BTreeSet;

use rand::RngExt;
use serde::{Deserialize, Serialize};
use veilgraph_attack::{Canaries, PairScores};
use veilgraph_contract::{Auditor, Draws, Invalid, Owner, Private, Progress, Stage, StageRng};
use veilgraph_graph::{AdjacencyList, EstimatedFeatures, Features, WeightedGraph};
use veilgraph_nn::ModelWeights;
use veilgraph_posterior::{LinkEvidence, LinkModel, Posterior};

use crate::Error;
use crate::linkteller::attacked;

/// Decides some pairs of nodes by fair coins, before anything is released: a pair is linked afterwards if its coin says
/// so, whatever it was before.
///
/// All other links stay. A simulation alone does so, because the graph is no longer the true one.
pub struct PlantCanaries;

/// What [`PlantCanaries`] reads of `[audit]`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct PlantParams {
    /// How many pairs; none plants nothing.
    pub canaries: usize,
}

impl Stage for PlantCanaries {
    const STAGE: &'static str = "audit";
    const TASK: &'static str = "plant-canaries";
    const DRAWS: Draws = Draws::EveryTrial;
    type Side = Owner;
    type Params = PlantParams;
    type Inputs = (Private<AdjacencyList>,);
    type Outputs = (Private<AdjacencyList>, Canaries);
    type Error = Error;

    fn run(
        (Private(links),): Self::Inputs,
        params: &PlantParams,
        rng: &StageRng,
        _: &Progress,
    ) -> Result<Self::Outputs, Error> {
        let n_nodes = links.n_nodes();
        let n_pairs = n_nodes * n_nodes.saturating_sub(1) / 2;
        if params.canaries == 0 || 2 * params.canaries > n_pairs {
            return Err(Error::Canaries(params.canaries, n_pairs));
        }
        let mut stream = rng.fast_stream("canaries", 0);
        let mut chosen: BTreeSet<(u32, u32)> = BTreeSet::new();
        while chosen.len() < params.canaries {
            let (a, b) = (stream.random_range(0..n_nodes as u32), stream.random_range(0..n_nodes as u32));
            if a != b {
                chosen.insert((a.min(b), a.max(b)));
            }
        }
        let mut coins = rng.fast_stream("coins of canaries", 0);
        let pairs: Vec<(u32, u32, bool)> = chosen.iter().map(|&(i, j)| (i, j, coins.random())).collect();
        let others = links.links().filter(|pair| !chosen.contains(pair));
        let planted = pairs.iter().filter(|pair| pair.2).map(|&(i, j, _)| (i, j));
        let graph = AdjacencyList::from_pairs(n_nodes, others.chain(planted))?;
        let graph = graph.with_nodes_from_links(links.nodes_from_links());
        Ok((Private(graph), Canaries { n_nodes, pairs }))
    }
}

/// What the reports, or the graph built from them, say about each coin, as log odds of a link where the mechanism is
/// known.
pub struct GuessFromGraph;

/// What [`GuessFromGraph`] reads; the plan fills it in.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GuessParams {
    /// What the release claims to cost per link, in nats; infinite where nothing is protected.
    #[serde(with = "veilgraph_contract::nats")]
    pub epsilon: f64,
}

impl Stage for GuessFromGraph {
    const STAGE: &'static str = "audit";
    const TASK: &'static str = "guess-from-graph";
    const DRAWS: Draws = Draws::Never;
    type Side = Auditor;
    type Params = GuessParams;
    /// Probabilities, or else a graph.
    type Inputs = (Canaries, Option<WeightedGraph>, Option<LinkModel>, Option<LinkEvidence>);
    type Outputs = (PairScores,);
    type Error = Error;

    fn run(
        (canaries, graph, model, evidence): Self::Inputs,
        params: &GuessParams,
        _: &StageRng,
        _: &Progress,
    ) -> Result<Self::Outputs, Error> {
        let pairs = match (model, evidence, graph) {
            (Some(model), Some(evidence), _) => {
                let posterior = Posterior::new(&model, evidence)?;
                same_size(posterior.n_nodes(), &canaries)?;
                // The coin decides whatever the prior says, so the reports alone count.
                let odds = |i: u32, j: u32| posterior.evidence_logit(posterior.evidence().known(i, j));
                canaries.pairs.iter().map(|&(i, j, _)| (i, j, odds(i, j))).collect()
            }
            (.., Some(graph)) => {
                same_size(graph.n_nodes, &canaries)?;
                let whole = if graph.directed { 2.0 } else { 1.0 };
                // All of a link's weight is as much evidence as the release may give, and half of it is none.
                let cost = params.epsilon.min(f64::from(f32::MAX));
                let odds = |weight: f64| (2.0 * weight / whole - 1.0) * cost;
                let weights = weights_of(&graph, &canaries);
                canaries.pairs.iter().zip(weights).map(|(&(i, j, _), weight)| (i, j, odds(weight))).collect()
            }
            _ => return Err(Invalid("there are neither link probabilities nor a graph to guess from".into()).into()),
        };
        Ok((PairScores { n_nodes: canaries.n_nodes, pairs },))
    }
}

/// What a trained network says about each coin: the influence of both nodes on each other.
pub struct GuessFromNetwork;

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

    fn run(
        (canaries, weights, features, estimated, graph, model, evidence): Self::Inputs,
        params: &crate::LinkTellerParams,
        _: &StageRng,
        _: &Progress,
    ) -> Result<Self::Outputs, Error> {
        params.check()?;
        same_size(graph.n_nodes, &canaries)?;
        let ends = canaries.pairs.iter().flat_map(|&(i, j, _)| [i, j]);
        let nodes: Vec<u32> = ends.collect::<BTreeSet<u32>>().into_iter().collect();
        let influence = attacked(&weights, features.as_ref(), estimated.as_ref(), &graph, model, evidence)?;
        let moved = influence.of(&nodes, params.probe_scale, params.output.into());
        let place = |node: u32| nodes.binary_search(&node).unwrap_or_default();
        let score = |i: u32, j: u32| params.direction.of(&moved, place(i), place(j));
        let pairs = canaries.pairs.iter().map(|&(i, j, _)| (i, j, score(i, j))).collect();
        Ok((PairScores { n_nodes: canaries.n_nodes, pairs },))
    }
}

/// The weights of the canaries in a graph, both directions added up.
fn weights_of(graph: &WeightedGraph, canaries: &Canaries) -> Vec<f64> {
    let mut weights = vec![0.0; canaries.pairs.len()];
    for (source, target, weight) in graph.links() {
        let pair = (source.min(target), source.max(target));
        if let Ok(at) = canaries.pairs.binary_search_by_key(&pair, |&(i, j, _)| (i, j)) {
            weights[at] += f64::from(weight);
        }
    }
    weights
}

fn same_size(found: usize, canaries: &Canaries) -> Result<(), Invalid> {
    if found == canaries.n_nodes {
        Ok(())
    } else {
        Err(Invalid(format!("what is attacked is of {found} nodes, and the canaries are of {}", canaries.n_nodes)))
    }
}
