//! What the server itself believes about each pair.

use std::collections::BTreeMap;

use veilgraph_attack::PairScores;
use veilgraph_contract::{Auditor, Draws, Invalid, Private, Progress, Stage, StageRng};
use veilgraph_graph::{AdjacencyList, Nodes, WeightedGraph};
use veilgraph_posterior::{LinkEvidence, LinkModel, Posterior};
use veilgraph_privacy::{NoisyEntries, NoisyLinks};

use crate::Error;
use crate::targets::{Targets, check_number, same_size, scored};

/// Scores pairs by the link probabilities of the server; where there are none, by the reported entries or lists; and where
/// there are none either, by the released graph.
///
/// Graph, model and predictions follow from the reports. The server's own belief is therefore what an attack on any of
/// them is compared with. Without probabilities, a pair's score is how many of its ends report the link, or the weight of
/// both its directions. Pairs of equal sums are told apart by their common neighbours: linked nodes often have some.
///
/// # Source
/// The best test of a pair is its likelihood ratio: Neyman, Pearson (1933); for Blink, equation 13 of Zhu, Tan, Xiao
/// (2023). Common neighbours: Liben-Nowell, Kleinberg (2007), The link prediction problem for social networks.
pub struct Reports;

/// What the attack reads of `[audit]`.
pub type Params = Targets;

impl Stage for Reports {
    const STAGE: &'static str = "audit";
    const TASK: &'static str = "reports";
    const DRAWS: Draws = Draws::EveryTrial;
    type Side = Auditor;
    type Params = Params;
    /// The first of probabilities, entries, lists and graph counts.
    type Inputs = (
        Nodes,
        Option<WeightedGraph>,
        Option<NoisyLinks>,
        Option<NoisyEntries>,
        Option<LinkModel>,
        Option<LinkEvidence>,
        Private<AdjacencyList>,
    );
    type Outputs = (PairScores,);
    type Error = Error;

    fn check_params(params: &Params) -> Result<(), Error> {
        check_number(params.targets)
    }

    fn run(
        (nodes, graph, lists, entries, model, evidence, Private(truth)): Self::Inputs,
        params: &Params,
        rng: &StageRng,
        _: &Progress,
    ) -> Result<Self::Outputs, Error> {
        let targets = params.draw(&truth, &nodes, rng)?;
        let scores = match (model, evidence, entries, lists, graph) {
            (Some(model), Some(evidence), ..) => {
                let posterior = Posterior::new(&model, evidence)?;
                same_size(posterior.n_nodes(), &truth)?;
                let logit = |a: usize, b: usize| {
                    let (i, j) = (targets[a], targets[b]);
                    posterior.logit(i, j, posterior.evidence().known(i, j))
                };
                scored(truth.n_nodes(), &targets, logit)
            }
            (_, _, Some(entries), ..) => {
                same_size(entries.n_nodes, &truth)?;
                let is_target = |node: u32| targets.binary_search(&node).is_ok();
                let odds = odds_of_entries(&entries, |i, j| is_target(i) && is_target(j));
                let odds = |a: usize, b: usize| odds.get(&(targets[a], targets[b])).copied();
                // Pairs whose entries are not kept have smaller ones than all others.
                scored(truth.n_nodes(), &targets, |a, b| odds(a, b).unwrap_or(f64::NEG_INFINITY))
            }
            (.., Some(lists), _) => {
                same_size(lists.n_nodes(), &truth)?;
                let nodes = 0..lists.n_nodes() as u32;
                let reported = nodes.flat_map(|node| lists.ones(node as usize).map(move |one| (node, one, 1.0)));
                let weights = weights_between(lists.n_nodes(), reported, &targets);
                scored(truth.n_nodes(), &targets, |a, b| weights[a * targets.len() + b])
            }
            (.., Some(graph)) => {
                same_size(graph.n_nodes, &truth)?;
                let weights = weights_between(graph.n_nodes, graph.links(), &targets);
                scored(truth.n_nodes(), &targets, |a, b| weights[a * targets.len() + b])
            }
            _ => {
                return Err(
                    Invalid("there are neither link probabilities nor reports nor a graph to attack".into()).into()
                );
            }
        };
        Ok((scores,))
    }
}

/// Log odds of a link by the noisy entries of both ends, for every wanted pair whose entries are kept: an entry with
/// Laplace noise is worth its budget at most.
pub(crate) fn odds_of_entries(
    entries: &NoisyEntries,
    is_wanted: impl Fn(u32, u32) -> bool,
) -> BTreeMap<(u32, u32), f64> {
    let most = entries.facts.budget.links.min(f64::from(f32::MAX));
    let worth = |entry: f32| most * (2.0 * f64::from(entry) - 1.0).clamp(-1.0, 1.0);
    let wanted = entries.pairs.iter().filter(|pair| is_wanted(pair.0, pair.1));
    wanted.map(|&(i, j, of_i, of_j)| ((i, j), worth(of_i) + worth(of_j))).collect()
}

/// The scores of pairs of targets by these links, row-major `[targets, targets]`: the weights of both directions added up,
/// and a share below the smallest step between two reported links that grows with the common neighbours.
fn weights_between(n_nodes: usize, links: impl Iterator<Item = (u32, u32, f32)>, targets: &[u32]) -> Vec<f64> {
    let n_targets = targets.len();
    let mut place = vec![usize::MAX; n_nodes];
    targets.iter().enumerate().for_each(|(at, &node)| place[node as usize] = at);
    let mut weights = vec![0.0; n_targets * n_targets];
    // Neighbours of every target in either direction, as bits.
    let stride = n_nodes.div_ceil(64);
    let mut neighbours = vec![0_u64; n_targets * stride];
    let mut meet = |a: usize, other: u32, weight: f64| {
        if a != usize::MAX {
            neighbours[a * stride + other as usize / 64] |= 1 << (other % 64);
            if place[other as usize] != usize::MAX {
                weights[a * n_targets + place[other as usize]] += weight;
            }
        }
    };
    for (source, target, weight) in links {
        meet(place[source as usize], target, weight.into());
        meet(place[target as usize], source, weight.into());
    }
    let row = |a: usize| &neighbours[a * stride..(a + 1) * stride];
    for a in 0..n_targets {
        for b in 0..n_targets {
            let both = row(a).iter().zip(row(b)).map(|(a, b)| (a & b).count_ones()).sum::<u32>();
            weights[a * n_targets + b] += 0.5 * f64::from(both) / f64::from(both + 1);
        }
    }
    weights
}
