//! Links that fair coins decide, and what an attacker guesses about the coins.

use std::collections::BTreeSet;

use rand::RngExt;
use serde::{Deserialize, Serialize};
use veilgraph_attack::{Canaries, PairScores};
use veilgraph_contract::{Auditor, Draws, Invalid, Owner, Private, Progress, Stage, StageRng};
use veilgraph_graph::{AdjacencyList, EstimatedFeatures, Features, Links, WeightedGraph};
use veilgraph_nn::ModelWeights;
use veilgraph_posterior::{LinkEvidence, LinkModel, Posterior};
use veilgraph_privacy::NoisyLinks;

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

/// What the reports, or the graph built from them, say about each coin, as log odds of a link.
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
    /// The first of probabilities, lists and graph counts.
    type Inputs = (Canaries, Option<WeightedGraph>, Option<NoisyLinks>, Option<LinkModel>, Option<LinkEvidence>);
    type Outputs = (PairScores,);
    type Error = Error;

    fn run(
        (canaries, graph, lists, model, evidence): Self::Inputs,
        params: &GuessParams,
        _: &StageRng,
        _: &Progress,
    ) -> Result<Self::Outputs, Error> {
        let pairs = match (model, evidence, lists, graph) {
            (Some(model), Some(evidence), ..) => {
                let posterior = Posterior::new(&model, evidence)?;
                same_size(posterior.n_nodes(), &canaries)?;
                // The coin decides whatever degrees say, so what the reports and features say about the pair counts.
                let odds = |i: u32, j: u32| posterior.evidence_logit(posterior.evidence().known(i, j));
                canaries.pairs.iter().map(|&(i, j, _)| (i, j, odds(i, j))).collect()
            }
            (.., Some(lists), _) => {
                same_size(lists.n_nodes(), &canaries)?;
                canaries.pairs.iter().map(|&(i, j, _)| (i, j, odds_of_lists(&lists, i, j))).collect()
            }
            (.., Some(graph)) => {
                same_size(graph.n_nodes, &canaries)?;
                let odds = odds_by_directions(&graph, &canaries, params.epsilon);
                canaries.pairs.iter().map(|&(i, j, _)| (i, j, odds[directions(&graph, i, j)])).collect()
            }
            _ => {
                return Err(
                    Invalid("there are neither link probabilities nor lists nor a graph to guess from".into()).into()
                );
            }
        };
        Ok((PairScores { n_nodes: canaries.n_nodes, pairs },))
    }
}

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
        if nodes.len() > MOST_ENDS {
            return Err(Error::Ends(nodes.len(), MOST_ENDS));
        }
        let influence = attacked(&weights, features.as_ref(), estimated.as_ref(), &graph, model, evidence)?;
        let moved = influence.of(&nodes, params.probe_scale, params.output.into());
        let place = |node: u32| nodes.binary_search(&node).unwrap_or_default();
        let score = |i: u32, j: u32| params.direction.of(&moved, place(i), place(j));
        let pairs = canaries.pairs.iter().map(|&(i, j, _)| (i, j, score(i, j))).collect();
        Ok((PairScores { n_nodes: canaries.n_nodes, pairs },))
    }
}

/// Log odds of a link by what its ends report: each bit under randomized response is worth its budget, for or against.
/// Where a link stands in one list, it is that of the node with the larger number.
fn odds_of_lists(lists: &NoisyLinks, i: u32, j: u32) -> f64 {
    let facts = &lists.facts;
    let worth = facts.budget.links.min(f64::from(f32::MAX));
    let says = |node: u32, other: u32| if lists.ones(node as usize).any(|one| one == other) { worth } else { -worth };
    let is_in_both = facts.epsilon_edge > facts.epsilon || facts.epsilon.is_infinite();
    if is_in_both { says(i, j) + says(j, i) } else { says(i.max(j), i.min(j)) }
}

/// Log odds of a link for pairs that a graph links in no direction, in one, and in both.
///
/// Nearly all pairs of a graph are no links, so the share of all pairs with so many directions is that of a pair without
/// a link. Half of the canaries are links, so twice their share less that one is the share of a link. No coin is read.
/// No odds exceed the claimed cost, in nats.
fn odds_by_directions(graph: &WeightedGraph, canaries: &Canaries, cost: f64) -> [f64; 3] {
    /// Less than the share of one pair, where there is none.
    const LEAST: f64 = 1e-9;
    let n_pairs = graph.n_nodes as f64 * (graph.n_nodes as f64 - 1.0) / 2.0;
    let mut of_pairs = [0.0; 3];
    for (source, target, _) in graph.links() {
        match directions(graph, source, target) {
            // Such a pair comes twice, but for an undirected link, which comes once.
            2 if graph.directed => of_pairs[2] += 0.5,
            found => of_pairs[found] += 1.0,
        }
    }
    of_pairs[0] = n_pairs - of_pairs[1] - of_pairs[2];
    let mut of_canaries = [0.0; 3];
    canaries.pairs.iter().for_each(|&(i, j, _)| of_canaries[directions(graph, i, j)] += 1.0);
    let cost = cost.min(f64::from(f32::MAX));
    [0, 1, 2].map(|number| {
        let other = (of_pairs[number] / n_pairs).max(LEAST);
        let link = (2.0 * of_canaries[number] / canaries.pairs.len() as f64 - other).max(LEAST);
        libm::log(link / other).clamp(-cost, cost)
    })
}

/// In how many directions a graph links two nodes; an undirected link counts as both.
fn directions(graph: &WeightedGraph, i: u32, j: u32) -> usize {
    let has = |source: u32, target: u32| match &graph.links {
        Links::Bits(bits) => bits.contains(source as usize, target),
        Links::Listed(links) => links.binary_search_by_key(&(source, target), |&(i, j, _)| (i, j)).is_ok(),
    };
    if graph.directed {
        usize::from(has(i, j)) + usize::from(has(j, i))
    } else {
        2 * usize::from(has(i.min(j), i.max(j)))
    }
}

fn same_size(found: usize, canaries: &Canaries) -> Result<(), Invalid> {
    if found == canaries.n_nodes {
        Ok(())
    } else {
        Err(Invalid(format!("what is attacked is of {found} nodes, and the canaries are of {}", canaries.n_nodes)))
    }
}
