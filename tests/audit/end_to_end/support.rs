//! Data for audits, and one call for each stage.

use veilgraph_attack::{Canaries, PairScores, Record};
use veilgraph_audit::{CanariesOf, GuessFromGraph, GuessParams, PlantLinks, PlantParams};
use veilgraph_contract::{Private, Progress, Relation, Stage, StageRng};
use veilgraph_evaluate::{CanaryParams, Cell, EvaluateCanaries, EvaluateRankedCanaries, RelationCost};
use veilgraph_graph::AdjacencyList;
use veilgraph_privacy::{NoisyEntries, NoisyLinks};

pub(crate) fn rng(stage: &str, trial: u32) -> StageRng {
    StageRng::new(1, stage, trial)
}

pub(crate) fn silent() -> Progress<'static> {
    Progress::none()
}

/// Parameters as a config writes them.
pub(crate) fn params<P: serde::de::DeserializeOwned>(text: &str) -> P {
    toml::from_str(text).expect("a valid table")
}

/// A ring of `n_nodes`, in which every node also knows the one that is seven further on.
pub(crate) fn ring(n_nodes: u32) -> AdjacencyList {
    let links = (0..n_nodes).flat_map(|node| [(node, (node + 1) % n_nodes), (node, (node + 7) % n_nodes)]);
    AdjacencyList::from_pairs(n_nodes as usize, links).expect("nodes of the ring")
}

/// The graph with links that coins decide.
pub(crate) fn with_coins(links: AdjacencyList, canaries: usize, trial: u32) -> (AdjacencyList, Canaries) {
    let asked = PlantParams { canaries, canaries_of: CanariesOf::Links };
    let (Private(planted), canaries) =
        PlantLinks::run((Private(links),), &asked, &rng("audit", trial), &silent()).expect("plants");
    (planted, canaries)
}

/// What reported lists or entries say about the coins.
pub(crate) fn guess(canaries: &Canaries, lists: Option<NoisyLinks>, entries: Option<NoisyEntries>) -> PairScores {
    let inputs = (canaries.clone(), None, lists, entries);
    let params = GuessParams { epsilon: f64::INFINITY };
    GuessFromGraph::run(inputs, &params, &rng("audit", 0), &silent()).expect("guesses").0
}

/// What a score is about whose facts cost this much.
fn costing(record: Record, epsilon: f64) -> CanaryParams {
    let of_curator = (record == Record::TrainingLabel).then_some(Relation::Node);
    let costs = record.relation().or(of_curator).map(|relation| RelationCost {
        relation,
        epsilon,
        dp_delta: 0.0,
        sound: true,
        claimed_epsilon: None,
    });
    let cell = Cell { epsilon_edge: epsilon, costs: costs.into_iter().collect(), ..Cell::default() };
    CanaryParams { cell, trial: 0, epsilon_read: None }
}

/// Whether guesses are too good for what the ledger claims; the gate is the one that fails a run.
pub(crate) fn is_caught(scores: PairScores, canaries: Canaries, claimed: f64) -> bool {
    let params = costing(canaries.record, claimed);
    let is_ranked = canaries.record == Record::TrainingLabel;
    let (inputs, rng) = ((scores, canaries), rng("evaluate", 0));
    let judged = if is_ranked {
        EvaluateRankedCanaries::run(inputs, &params, &rng, &silent())
    } else {
        EvaluateCanaries::run(inputs, &params, &rng, &silent())
    };
    match judged {
        Ok(_) => false,
        Err(veilgraph_evaluate::Error::Violation { .. }) => true,
        Err(error) => panic!("{error}"),
    }
}
