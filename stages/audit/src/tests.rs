use veilgraph_attack::PairScores;
use veilgraph_attack::similarity::Distance;
use veilgraph_contract::{Artifact, Private, Progress, Randomness, Stage, StageRng};
use veilgraph_graph::{
    AdjacencyList, BitMatrix, Construction, FeatureMatrix, Features, Links, ModelPredictions, Nodes, Predictions,
    SparseMatrix, Split, WeightedGraph,
};
use veilgraph_nn::{Architecture, GridDescription, ModelWeights, NetworkOptions, Parameter, Setting};
use veilgraph_privacy::{FeatureReportFacts, NoisyFeatures};

use super::*;
use crate::targets::Pool;

/// A star of ten nodes beside a path of thirty.
fn truth() -> AdjacencyList {
    let star = (1..10).map(|leaf| (0, leaf));
    AdjacencyList::from_pairs(40, star.chain((10..39).map(|node| (node, node + 1)))).expect("valid")
}

/// Every fourth node is a test node.
fn nodes() -> Nodes {
    let splits = (0..40).map(|node| if node % 4 == 0 { Split::Test } else { Split::Train }).collect();
    Nodes { dataset: "star".into(), n_classes: 2, splits, nodes_from_links: false, class_names: Vec::new() }
}

fn graph() -> WeightedGraph {
    let links = truth().links().map(|(i, j)| (i, j, 1.0)).collect();
    WeightedGraph::undirected(Construction::Given, 40, links)
}

fn rng(trial: u32) -> StageRng {
    StageRng::new(1, "audit", trial)
}

/// Two models of one layer, of which the second has the lower loss.
fn weights() -> ModelWeights {
    let parameter =
        |name: &str, shape: [usize; 2], values: &[f32]| Parameter { name: name.into(), shape, values: values.to_vec() };
    let parameters = |sign: f32| {
        vec![
            parameter("layer1.weight", [2, 2], &[sign, 0.0, 0.5, -sign]),
            parameter("layer1.bias", [1, 2], &[0.1, 0.2]),
        ]
    };
    let setting = Setting { learning_rate: 0.1, weight_decay: 0.0, dropout: 0.0, initial_seed: 0 };
    let options = NetworkOptions { layers: 1, ..NetworkOptions::default() };
    let models = vec![(0, setting, 0.9), (1, setting, 0.3)];
    let description =
        GridDescription { architecture: Architecture::Gcn, options, n_classes: 2, models, class_names: Vec::new() };
    ModelWeights { description, models: vec![(0, parameters(0.0)), (1, parameters(1.0))] }
}

fn features() -> Features {
    Features(SparseMatrix::from_rows(2, (0..40).map(|node| vec![(node % 2, 1.0 + node as f32)])).expect("valid"))
}

fn linkteller(params: &LinkTellerParams) -> Result<<LinkTeller as Stage>::Outputs, Error> {
    let inputs = (nodes(), weights(), Some(features()), None, graph(), None, None, Private(truth()));
    LinkTeller::run(inputs, params, &rng(0), &Progress::none())
}

fn targets(targets: usize, pool: Pool) -> Targets {
    Targets { targets: Some(targets), pool }
}

#[test]
fn pools_are_of_nodes_by_their_links() {
    let drawn = |targets: Targets| targets.draw(&truth(), &nodes(), &rng(0)).expect("enough nodes");
    // The median node has two links: the inner ones of the path.
    assert_eq!(drawn(targets(39, Pool::Low)), (1..40).collect::<Vec<u32>>());
    assert_eq!(drawn(targets(10, Pool::Test)), (0..40).step_by(4).collect::<Vec<u32>>());
    assert_eq!(
        drawn(Targets::default()).len(),
        20,
        "half of a small pool, so that an attacker may learn from the rest"
    );
    let few = drawn(targets(5, Pool::All));
    assert!(few.len() == 5 && few.is_sorted());
    assert_eq!(few, drawn(targets(5, Pool::All)), "drawn by the trial alone");
    assert_ne!(few, targets(5, Pool::All).draw(&truth(), &nodes(), &rng(1)).expect("enough nodes"));
    for (wrong, words) in
        [(targets(2, Pool::High), "1 nodes of the pool `high`"), (targets(1, Pool::All), "at least 2")]
    {
        let error = wrong.draw(&truth(), &nodes(), &rng(0)).expect_err("refused").to_string();
        assert!(error.contains(words), "{error}");
    }
}

#[test]
fn a_single_layer_gives_all_links_away() {
    for direction in [Direction::Both, Direction::OneWay] {
        for output in [linkteller::Seen::Logits, linkteller::Seen::Probabilities] {
            let params = LinkTellerParams { targets: Some(40), direction, output, ..LinkTellerParams::default() };
            let (scores,) = linkteller(&params).expect("attacks");
            assert_eq!(scores.pairs.len(), 40 * 39 / 2);
            for &(i, j, score) in &scores.pairs {
                assert_eq!(score > 0.0, truth().contains(i as usize, j), "{i} {j} {score}");
            }
        }
    }
}

#[test]
fn attacks_that_make_no_sense_are_refused() {
    let default = LinkTellerParams { targets: Some(10), ..LinkTellerParams::default() };
    for scale in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let error = linkteller(&LinkTellerParams { probe_scale: scale, ..default.clone() }).expect_err("refused");
        assert!(error.to_string().contains("probe_scale"), "{error}");
    }
    let error = linkteller(&LinkTellerParams { targets: Some(41), ..default.clone() }).expect_err("refused");
    assert!(error.to_string().contains("at most 40"), "{error}");
    let small = AdjacencyList::from_pairs(30, [(0, 1)]).expect("valid");
    let inputs = (nodes(), weights(), Some(features()), None, graph(), None, None, Private(small));
    let error = LinkTeller::run(inputs, &default, &rng(0), &Progress::none()).expect_err("another graph");
    assert!(error.to_string().contains("30"), "{error}");
    let inputs = (nodes(), weights(), None, None, graph(), None, None, Private(truth()));
    let error = LinkTeller::run(inputs, &default, &rng(0), &Progress::none()).expect_err("no features");
    assert!(error.to_string().contains("features"), "{error}");
}

#[test]
fn likeness_is_that_of_the_best_model() {
    let answers = |turn: usize| -> Vec<f32> {
        (0..40).flat_map(|node| [0.0, 1.0, 0.25, 0.75][(node + turn) % 2 * 2..][..2].to_vec()).collect()
    };
    let models = vec![
        ModelPredictions { model: 0, probabilities: vec![0.5; 80] },
        ModelPredictions { model: 1, probabilities: answers(0) },
    ];
    let predictions = Predictions { n_classes: 2, settings: vec![String::new(); 2], models };
    for distance in [Distance::Euclidean, Distance::Manhattan] {
        let name: posterior_similarity::DistanceName = distance.name().to_owned().try_into().expect("a name");
        let params = PosteriorSimilarityParams { targets: Some(40), pool: Pool::All, distance: name };
        let inputs = (nodes(), predictions.clone(), weights(), Private(truth()));
        let (scores,) = PosteriorSimilarity::run(inputs, &params, &rng(0), &Progress::none()).expect("attacks");
        let alike = |&(i, j, score): &(u32, u32, f64)| (score == 0.0) == (i % 2 == j % 2);
        assert!(scores.pairs.iter().all(alike), "{}", distance.name());
    }
}

/// A graph without probabilities: what it has of both directions.
#[test]
fn reported_links_are_scored_by_both_directions() {
    let mut bits = BitMatrix::from_rows(40, |_, _| {});
    bits.set(3, 7);
    bits.set(7, 3);
    bits.set(9, 8);
    let directed =
        |links: Links| WeightedGraph { construction: Construction::Given, n_nodes: 40, directed: true, links };
    bits.set(20, 9);
    let listed = Links::Listed(vec![(3, 7, 1.0), (7, 3, 1.0), (9, 8, 1.0), (20, 9, 1.0)]);
    for graph in [directed(Links::Bits(bits)), directed(listed)] {
        let inputs = (nodes(), Some(graph), None, None, None, None, Private(truth()));
        let (scores,) = Reports::run(inputs, &targets(40, Pool::All), &rng(0), &Progress::none()).expect("attacks");
        for &(i, j, score) in &scores.pairs {
            let expected = match (i, j) {
                (3, 7) => 2.0,
                (8, 9) | (9, 20) => 1.0,
                // Node 9 is a neighbour of both.
                (8, 20) => 0.25,
                _ => 0.0,
            };
            assert_eq!(score, expected, "{i} {j}");
        }
        let again = veilgraph_attack::PairScores::from_blocks(&scores.facts(), &mut scores.blocks());
        assert_eq!(again.expect("valid"), scores);
    }
    let inputs = (nodes(), None, None, None, None, None, Private(truth()));
    let error = Reports::run(inputs, &targets(40, Pool::All), &rng(0), &Progress::none()).expect_err("nothing to read");
    assert!(error.to_string().contains("graph"), "{error}");
}

/// Each feature is held by one half of the nodes. The floor knows no node, whatever it reports.
#[test]
fn the_frequency_of_a_feature_tells_nothing_of_one_node() {
    let rows = (0..8).map(|node| vec![(node % 2, 1.0)]);
    let entries = SparseMatrix::from_rows(2, rows.collect::<Vec<_>>()).expect("valid");
    let reports = FeatureMatrix::Sparse { fill: 0.0, entries };
    let facts = FeatureReportFacts {
        mechanism: String::new(),
        epsilon: f64::INFINITY,
        dp_delta: 0.0,
        range: [0.0, 1.0],
        offset: 0.0,
        scale: 1.0,
        sound: true,
        randomness: Randomness::Seeded,
    };
    let reported = || (NoisyFeatures { facts: facts.clone(), reports: reports.clone() },);
    let params = AttributesParams { targets: Some(5) };
    let (own,) = ReportedFeatures::run(reported(), &params, &rng(0), &Progress::none()).expect("attacks");
    let (floor,) = FrequentFeatures::run(reported(), &params, &rng(0), &Progress::none()).expect("attacks");
    let facts_of = |scores: &PairScores| scores.pairs.iter().map(|pair| (pair.0, pair.1)).collect::<Vec<_>>();
    assert_eq!(facts_of(&own), facts_of(&floor), "both guess the same");
    assert!(own.pairs.iter().all(|&(node, feature, score)| score == f64::from(u8::from(node % 2 == feature))));
    assert!(floor.pairs.iter().all(|pair| pair.2 == 0.5));
}
