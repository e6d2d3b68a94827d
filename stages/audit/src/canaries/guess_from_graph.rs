//! Guesses about links from reports, or from the graph that was built from them.

use serde::{Deserialize, Serialize};
use veilgraph_attack::{Canaries, PairScores, Record};
use veilgraph_contract::{Auditor, Draws, Invalid, Progress, Stage, StageRng};
use veilgraph_graph::{Links, WeightedGraph};
use veilgraph_privacy::{NoisyEntries, NoisyLinks};

use super::{about, same_size, scored};
use crate::Error;
use crate::reports::odds_of_entries;

mod reported_bits;

use reported_bits::ReportedBits;

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
    /// The first of lists, entries and graph counts.
    type Inputs = (Canaries, Option<WeightedGraph>, Option<NoisyLinks>, Option<NoisyEntries>);
    type Outputs = (PairScores,);
    type Error = Error;

    fn run(
        (canaries, graph, lists, entries): Self::Inputs,
        params: &GuessParams,
        _: &StageRng,
        _: &Progress,
    ) -> Result<Self::Outputs, Error> {
        about(&canaries, Record::Link)?;
        Ok((match (lists, entries, graph) {
            (Some(lists), ..) => {
                same_size(lists.n_nodes(), &canaries)?;
                let bits = ReportedBits::new(&lists, &canaries);
                scored(&canaries, |i, j| bits.odds(i, j))
            }
            (_, Some(entries), ..) => {
                same_size(entries.n_nodes, &canaries)?;
                let is_canary = |i, j| canaries.coins.binary_search_by_key(&(i, j), |coin| (coin.0, coin.1)).is_ok();
                let odds = odds_of_entries(&entries, is_canary);
                scored(&canaries, |i, j| odds.get(&(i, j)).copied().unwrap_or(0.0))
            }
            (.., Some(graph)) => {
                same_size(graph.n_nodes, &canaries)?;
                let odds = odds_by_directions(&graph, &canaries, params.epsilon);
                scored(&canaries, |i, j| odds[directions(&graph, i, j)])
            }
            _ => {
                return Err(Invalid("there are neither lists nor entries nor a graph to guess from".into()).into());
            }
        },))
    }
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
    canaries.coins.iter().for_each(|&(i, j, _)| of_canaries[directions(graph, i, j)] += 1.0);
    let cost = cost.min(f64::from(f32::MAX));
    [0, 1, 2].map(|number| {
        let other = (of_pairs[number] / n_pairs).max(LEAST);
        let link = (2.0 * of_canaries[number] / canaries.coins.len() as f64 - other).max(LEAST);
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
