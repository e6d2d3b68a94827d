//! Mechanisms with a fault must be caught, in each of twenty trials, and the same ones without it must pass.

use std::collections::BTreeSet;

use veilgraph_attack::Canaries;
use veilgraph_audit::{
    CanariesOf, GuessFromDegrees, GuessFromModel, GuessFromPredictions, PlantLabels, PlantParams, PlantTrainingLabels,
};
use veilgraph_contract::{NoParams, Private, Stage};
use veilgraph_graph::{
    AdjacencyList, BitMatrix, Construction, Features, Labels, Nodes, SparseMatrix, Split, WeightedGraph,
};
use veilgraph_privacy::randomized_response::{RandomizedResponse, flip_probability};
use veilgraph_privacy::{NoisyDegrees, NoisyLabels, NoisyLinks};
use veilgraph_privatize::Local;
use veilgraph_privatize::labels::LocalLabels;
use veilgraph_privatize::links::blink::Blink;
use veilgraph_privatize::links::rr::Rr;
use veilgraph_train::Train;
use veilgraph_train_central::{DpMlp, TrainCentral};

use crate::support::{guess, is_caught, params, ring, rng, silent, with_coins};

const TRIALS: u32 = 20;
const NODES: u32 = 2_000;
const CANARIES: usize = 1_000;
/// What a bit of a list claims to cost in every fault below, and a label.
const CLAIMED: f64 = 1.0;

fn reported(links: &AdjacencyList, epsilon: f64, trial: u32) -> NoisyLinks {
    let epsilon = params(&format!("epsilon = {epsilon:?}"));
    let run = Local::<Rr>::run((Private(links.clone()),), &epsilon, &rng("privatize", trial), &silent());
    run.expect("reports").0.collect().expect("valid reports")
}

#[test]
fn half_of_the_flips_are_caught() {
    // The budget at which flips are half as likely.
    let weaker = (2.0 / flip_probability(CLAIMED) - 1.0).ln();
    for trial in 0..TRIALS {
        let (links, canaries) = with_coins(ring(NODES), CANARIES, trial);
        let honest = reported(&links, CLAIMED, trial);
        let facts = honest.facts.clone();
        assert!(!is_caught(guess(&canaries, Some(honest), None), canaries.clone(), 2.0 * CLAIMED), "trial {trial}");
        let mut faulty = reported(&links, weaker, trial);
        faulty.facts = facts;
        assert!(is_caught(guess(&canaries, Some(faulty), None), canaries, 2.0 * CLAIMED), "trial {trial}");
    }
}

/// All nodes draw the same flips, so that most nodes say which bits are flipped.
#[test]
fn a_shared_seed_is_caught() {
    for trial in 0..TRIALS {
        let (links, canaries) = with_coins(ring(NODES), CANARIES, trial);
        let facts = reported(&links, CLAIMED, trial).facts;
        let response = RandomizedResponse::new(CLAIMED, NODES as usize);
        let bits = BitMatrix::from_rows(NODES as usize, |node, row| {
            let mut same = rng("privatize", trial).stream("flips", 0);
            response.noisy_bits(node as u32, links.neighbours(node), &mut same, row);
        });
        let faulty = NoisyLinks::from_bits(facts, bits).expect("valid reports");
        assert!(is_caught(guess(&canaries, Some(faulty), None), canaries, 2.0 * CLAIMED), "trial {trial}");
    }
}

#[test]
fn a_leaked_degree_is_caught() {
    for trial in 0..TRIALS {
        let (links, canaries) = with_coins(ring(NODES), CANARIES, trial);
        let blink = params(&format!("epsilon = {CLAIMED:?}\ndegree_fraction = 0.2"));
        let run = Local::<Blink>::run((Private(links.clone()),), &blink, &rng("privatize", trial), &silent());
        let (_, honest) = run.expect("reports");
        let exact = (0..NODES as usize).map(|node| links.degree(node) as f64).collect();
        let faulty = NoisyDegrees { degrees: exact, ..honest.clone() };
        for (degrees, is_faulty) in [(honest, false), (faulty, true)] {
            let inputs = (canaries.clone(), degrees, Private(links.clone()));
            let (scores,) = GuessFromDegrees::run(inputs, &NoParams {}, &rng("audit", 0), &silent()).expect("guesses");
            assert_eq!(is_caught(scores, canaries.clone(), 2.0 * CLAIMED), is_faulty, "trial {trial}");
        }
    }
}

/// The labels stand in the features, as where a column of a table was not removed: a network learns from many noisy labels
/// what the column means, and says the true class.
#[test]
fn a_label_in_the_features_is_caught() {
    const SENDERS: u32 = 900;
    const CLASSES: u16 = 3;
    for trial in 0..TRIALS {
        let labels = Labels::new(CLASSES.into(), (0..SENDERS).map(|node| (node, (node % 3) as u16)).collect());
        let asked = PlantParams { canaries: 400, canaries_of: CanariesOf::Labels };
        let inputs = (Private(labels.expect("valid")),);
        let (Private(labels), canaries) =
            PlantLabels::run(inputs, &asked, &rng("audit", trial), &silent()).expect("plants");
        let class = |node: u32| u32::from(labels.class(node).unwrap_or(0));
        let leaking = |node: u32| vec![(class(node), 1.0)];
        // The number of a node says nothing about its coin.
        let silent_features = |node: u32| vec![(node % 3, 1.0)];
        let epsilon = params(&format!("epsilon = {CLAIMED:?}"));
        let run = LocalLabels::run((Private(labels.clone()),), &epsilon, &rng("privatize", trial), &silent());
        let (sent,) = run.expect("reports");
        assert!(is_caught_in_answers(features(SENDERS, leaking), sent.clone(), canaries.clone(), trial), "{trial}");
        assert!(!is_caught_in_answers(features(SENDERS, silent_features), sent, canaries, trial), "{trial}");
    }
}

/// A curator forgets the noise: what its model learns by heart is more than the 0.3 nats of a node that it claims.
#[test]
fn a_model_without_noise_is_caught() {
    const WORDS: u32 = 3_000;
    let row = |node: u32| -> Vec<(u32, f32)> {
        let words: BTreeSet<u32> = (1..=20).map(|k| (node * 7_919 * k + 31 * k * k) % WORDS).collect();
        words.into_iter().map(|word| (word, 1.0)).collect()
    };
    let rows: Vec<Vec<(u32, f32)>> = (0..NODES).map(row).collect();
    let features = SparseMatrix::from_rows(WORDS as usize, rows).expect("valid");
    let splits = (0..NODES).map(|node| if node % 4 == 0 { Split::Validation } else { Split::Train }).collect();
    let nodes =
        Nodes { dataset: "planted".into(), n_classes: 3, splits, nodes_from_links: false, class_names: Vec::new() };
    let labels = Labels::new(3, (0..NODES).map(|node| (node, (node % 3) as u16)).collect()).expect("valid");
    for trial in 0..TRIALS {
        let asked = PlantParams { canaries: CANARIES, canaries_of: CanariesOf::TrainingLabels };
        let inputs = (nodes.clone(), Private(labels.clone()));
        let planted = PlantTrainingLabels::run(inputs, &asked, &rng("audit", trial), &silent());
        let (Private(labels), canaries) = planted.expect("plants");
        for (epsilon, is_faulty) in [("0.3", false), ("inf", true)] {
            let curator = params(&format!(
                "epsilon = {epsilon}\ndp_delta = 1e-9\nepochs = 100\nhidden = 32\nlearning_rate = 0.02"
            ));
            let held =
                (nodes.clone(), Private(ring(NODES)), Private(Features(features.clone())), Private(labels.clone()));
            let trained = TrainCentral::<DpMlp>::run(held, &curator, &rng("train", trial), &silent());
            let inputs = (canaries.clone(), trained.expect("trains").1);
            let (scores,) = GuessFromModel::run(inputs, &NoParams {}, &rng("audit", 0), &silent()).expect("guesses");
            assert_eq!(is_caught(scores, canaries.clone(), 0.3), is_faulty, "trial {trial}");
        }
    }
}

fn features(n_nodes: u32, row: impl Fn(u32) -> Vec<(u32, f32)>) -> Features {
    Features(SparseMatrix::from_rows(3, (0..n_nodes).map(row)).expect("valid"))
}

/// Trains a perceptron on public features and noisy labels, and judges what it answers about the canaries.
fn is_caught_in_answers(features: Features, sent: NoisyLabels, canaries: Canaries, trial: u32) -> bool {
    let n_nodes = features.0.n_rows();
    let splits = (0..n_nodes).map(|node| if node % 4 == 0 { Split::Validation } else { Split::Train }).collect();
    let nodes =
        Nodes { dataset: "planted".into(), n_classes: 3, splits, nodes_from_links: false, class_names: Vec::new() };
    let graph = WeightedGraph::undirected(Construction::Given, n_nodes, Vec::new());
    let inputs = (nodes, Some(features), None, None, Some(sent), graph, None, None, None);
    let trained = Train::run(
        inputs,
        &params("model = \"mlp\"\nepochs = 100\nlearning_rate = 0.05"),
        &rng("train", trial),
        &silent(),
    );
    let (predictions, _, weights) = trained.expect("trains");
    let inputs = (canaries.clone(), predictions, weights);
    let (scores,) = GuessFromPredictions::run(inputs, &NoParams {}, &rng("audit", trial), &silent()).expect("guesses");
    is_caught(scores, canaries, CLAIMED)
}
