use std::collections::BTreeMap;

use veilgraph_contract::{HeldOut, NoParams, Private, Progress, Randomness, Stage};
use veilgraph_graph::{
    AdjacencyList, FeatureMatrix, Features, Labels, ModelPredictions, Nodes, Predictions, SparseMatrix, Split,
};
use veilgraph_nn::{Architecture, GridDescription, ModelWeights, NetworkOptions, Setting};
use veilgraph_privacy::{FeatureReportFacts, LabelReportFacts, NoisyFeatures, NoisyLabels};

use super::*;

fn rng(trial: u32) -> StageRng {
    StageRng::new(1, "audit", trial)
}

/// A path.
fn links(n_nodes: u32) -> AdjacencyList {
    AdjacencyList::from_pairs(n_nodes as usize, (1..n_nodes).map(|node| (node - 1, node))).expect("valid")
}

fn plant(canaries: usize, trial: u32) -> Result<(AdjacencyList, Canaries), Error> {
    let params = PlantParams { canaries, canaries_of: CanariesOf::Links };
    let (Private(graph), canaries) = PlantLinks::run((Private(links(100)),), &params, &rng(trial), &Progress::none())?;
    Ok((graph, canaries))
}

#[test]
fn coins_decide_links_and_no_node_is_in_two() {
    for (canaries, are_apart) in [(50, true), (400, false)] {
        let (graph, planted) = plant(canaries, 0).expect("plants");
        assert_eq!(planted.coins.len(), canaries);
        assert!(planted.coins.iter().all(|&(i, j, is_link)| graph.contains(i as usize, j) == is_link));
        let mut ends: Vec<u32> = planted.coins.iter().flat_map(|coin| [coin.0, coin.1]).collect();
        ends.sort_unstable();
        ends.dedup();
        assert_eq!(ends.len() == 2 * canaries, are_apart);
        // Links that no coin decides stay.
        let is_canary = |i: u32, j: u32| planted.coins.iter().any(|coin| (coin.0, coin.1) == (i, j));
        let kept = |of: &AdjacencyList| of.links().filter(|&(i, j)| !is_canary(i, j)).collect::<Vec<_>>();
        assert_eq!(kept(&graph), kept(&links(100)));
        assert_ne!(plant(canaries, 1).expect("plants").1, planted, "every trial plants its own");
    }
    for wrong in [0, 2_476] {
        assert!(plant(wrong, 0).expect_err("refused").to_string().contains("at most 2475"));
    }
}

#[test]
fn coins_decide_all_features_of_a_node() {
    let row = |node: u32| vec![(0, -1.0), (2, node as f32)];
    let features = || Features(SparseMatrix::from_rows(3, (0..10).map(row)).expect("valid"));
    for (range, ends) in [(Some([0.0, 1.0]), [0.0, 1.0]), (None, [-1.0, 9.0])] {
        let params = PlantFeaturesParams { canaries: 6, range };
        let (Private(Features(planted)), canaries) =
            PlantFeatures::run((Private(features()),), &params, &rng(0), &Progress::none()).expect("plants");
        let value = |node: u32, feature: u32| -> f32 {
            let (columns, values) = planted.row(node as usize);
            columns.iter().position(|&column| column == feature).map_or(0.0, |at| values[at])
        };
        for &(node, zero, is_upper) in &canaries.coins {
            assert_eq!(zero, 0);
            assert!((0..3).all(|feature| value(node, feature) == ends[usize::from(is_upper)]));
        }
        let others = (0..10).filter(|node| canaries.coins.iter().all(|coin| coin.0 != *node));
        others.for_each(|node| assert_eq!(value(node, 0), -1.0));
    }
    let params = PlantFeaturesParams { canaries: 11, range: None };
    let refused = PlantFeatures::run((Private(features()),), &params, &rng(0), &Progress::none()).map(|_| ());
    let error = refused.expect_err("refused");
    assert!(error.to_string().contains("at most 10"), "{error}");
}

fn planted_labels(n_classes: usize) -> Result<(Labels, Canaries), Error> {
    let labels = Labels::new(n_classes, (0..40).map(|node| (2 * node, 0)).collect()).expect("valid");
    let params = PlantParams { canaries: 30, canaries_of: CanariesOf::Labels };
    let (Private(planted), canaries) = PlantLabels::run((Private(labels),), &params, &rng(0), &Progress::none())?;
    Ok((planted, canaries))
}

#[test]
fn coins_decide_labels_of_nodes_that_send_one() {
    let (labels, canaries) = planted_labels(3).expect("plants");
    assert_eq!((labels.classes().len(), canaries.coins.len()), (40, 30));
    for &(node, class, is_it) in &canaries.coins {
        let expected = if is_it { class } else { (class + 1) % 3 };
        assert_eq!(labels.class(node).map(u32::from), Some(expected));
    }
    assert!(planted_labels(1).expect_err("refused").to_string().contains("two classes"));
}

/// Labels of training nodes are as their coins say, and all others stay.
#[test]
fn coins_decide_labels_of_training_nodes() {
    let mut splits = vec![Split::Train; 40];
    splits.extend([Split::Validation; 10]);
    let (dataset, nodes_from_links) = (String::new(), false);
    let nodes = Nodes { dataset, n_classes: 3, splits, nodes_from_links, class_names: Vec::new() };
    let all: Vec<(u32, u16)> = (0..50).map(|node| (node, (node % 3) as u16)).collect();
    let labels = Labels::new(3, all.clone()).expect("valid");
    let plant = |canaries| {
        let params = PlantParams { canaries, canaries_of: CanariesOf::TrainingLabels };
        PlantTrainingLabels::run((nodes.clone(), Private(labels.clone())), &params, &rng(0), &Progress::none())
    };
    let (Private(planted), canaries) = plant(30).expect("plants");
    let coins: BTreeMap<u32, (u32, bool)> = canaries.coins.iter().map(|coin| (coin.0, (coin.1, coin.2))).collect();
    assert!(coins.len() == 30 && coins.values().any(|coin| coin.1) && coins.values().any(|coin| !coin.1));
    for (node, class) in all {
        let expected = coins.get(&node).map_or(u32::from(class), |&(stated, is_it)| {
            assert!(node < 40 && stated < 3, "node {node}");
            if is_it { stated } else { (stated + 1) % 3 }
        });
        assert_eq!(planted.class(node).map(u32::from), Some(expected), "node {node}");
    }
    assert!(coins.iter().any(|(node, coin)| coin.0 != node % 3), "drawn without a look at the label");
    let error = plant(41).map(|_| ()).expect_err("refused").to_string();
    assert!(error.contains("at most 40, the training nodes with a label"), "{error}");
}

/// A model that is surer of the class that a node had in training gives the coins away; a class of which it is surer anyway does
/// not.
#[test]
fn a_model_gives_away_what_it_was_trained_on() {
    let sure = [0.9, 0.8, 0.3, 0.2];
    let probabilities: Vec<f32> = sure.iter().flat_map(|&sure| [sure, 1.0 - sure]).collect();
    let predictions = |models: usize| {
        let model = |model| ModelPredictions { model, probabilities: probabilities.clone() };
        HeldOut(Predictions { n_classes: 2, settings: vec![], models: (0..models as u32).map(model).collect() })
    };
    let guess = |record, coins, models| {
        let canaries = Canaries { record, n_nodes: 4, coins };
        GuessFromModel::run((canaries, predictions(models)), &NoParams {}, &rng(0), &Progress::none())
    };
    let coins = vec![(0, 0, true), (1, 0, false), (2, 1, false), (3, 1, true)];
    let (scores,) = guess(Record::TrainingLabel, coins.clone(), 1).expect("guesses");
    let signs: Vec<bool> = scores.pairs.iter().map(|pair| pair.2 > 0.0).collect();
    assert_eq!(
        signs,
        [true, false, false, true],
        "nodes 0 and 1 are likelier of class 0 than of class 1, and node 0 by more"
    );
    assert!(guess(Record::Label, coins.clone(), 1).is_err(), "other coins");
    assert!(guess(Record::TrainingLabel, coins, 2).is_err(), "two models");
    assert!(guess(Record::TrainingLabel, vec![(0, 2, true)], 1).is_err(), "a class that it does not know");
}

#[test]
fn reports_about_attributes_are_worth_what_they_cost() {
    let canaries = |record| Canaries { record, n_nodes: 3, coins: vec![(0, 0, true), (1, 0, false), (2, 0, false)] };
    let guess = |canaries, features, labels| {
        GuessFromAttributes::run((canaries, features, labels), &NoParams {}, &rng(0), &Progress::none())
    };
    let labels = Labels::new(3, vec![(0, 0), (1, 1), (2, 2)]).expect("valid");
    let randomness = Randomness::Seeded;
    let facts = LabelReportFacts { mechanism: String::new(), epsilon: 2.0, truth_probability: 0.7, randomness };
    let sent = NoisyLabels { facts, labels };
    let (scores,) = guess(canaries(Record::Label), None, Some(sent)).expect("guesses");
    // The stated class, the other one, and neither.
    assert_eq!(scores.pairs.iter().map(|pair| pair.2).collect::<Vec<f64>>(), [2.0, -2.0, 0.0]);

    // Two of four features are reported, each a bit whose estimate lies beyond the range.
    let rows = [[(0, 1.0), (3, 1.0)], [(1, -1.0), (2, -1.0)], [(0, 1.0), (1, -1.0)]];
    let entries = SparseMatrix::from_rows(4, rows.map(|row| row.to_vec())).expect("valid");
    let reports = FeatureMatrix::Sparse { fill: 0.0, entries };
    let facts = FeatureReportFacts {
        mechanism: String::new(),
        epsilon: 3.0,
        dp_delta: 0.0,
        range: [0.0, 1.0],
        offset: 0.5,
        scale: 1.7,
        sound: true,
        randomness,
    };
    let (scores,) = guess(canaries(Record::Features), Some(NoisyFeatures { facts, reports }), None).expect("guesses");
    assert_eq!(scores.pairs.iter().map(|pair| pair.2).collect::<Vec<f64>>(), [3.0, -3.0, 0.0]);
    assert!(guess(canaries(Record::Link), None, None).is_err());
}

#[test]
fn answers_guess_classes_and_learn_features() {
    let probabilities = vec![0.9, 0.1, 0.2, 0.8, 0.6, 0.4, 0.7, 0.3];
    let predictions =
        Predictions { n_classes: 2, settings: vec![], models: vec![ModelPredictions { model: 0, probabilities }] };
    let setting = Setting { learning_rate: 0.1, weight_decay: 0.0, dropout: 0.0, initial_seed: 0 };
    let options = NetworkOptions::default();
    let models = vec![(0, setting, 0.1)];
    let description =
        GridDescription { architecture: Architecture::Mlp, options, n_classes: 2, models, class_names: Vec::new() };
    let weights = ModelWeights { description, models: vec![(0, Vec::new())] };
    let guess = |record, coins| {
        let inputs = (Canaries { record, n_nodes: 4, coins }, predictions.clone(), weights.clone());
        GuessFromPredictions::run(inputs, &NoParams {}, &rng(0), &Progress::none()).map(|(scores,)| scores.pairs)
    };
    let coins = vec![(0, 0, true), (1, 0, false), (2, 0, true), (3, 1, false)];
    let of_labels = guess(Record::Label, coins).expect("guesses");
    let signs: Vec<bool> = of_labels.iter().map(|pair| pair.2 > 0.0).collect();
    assert_eq!(signs, [true, false, true, false]);
    // The coins of nodes 0 and 2 are told: an answer of the first class is a sign of the upper end.
    let coins = vec![(0, 0, true), (1, 0, false), (2, 0, false), (3, 0, true)];
    let of_features = guess(Record::Features, coins).expect("guesses");
    assert_eq!(of_features.iter().map(|pair| pair.0).collect::<Vec<u32>>(), [1, 3]);
    assert!(of_features[1].2 > of_features[0].2);
    assert!(guess(Record::Link, vec![(0, 1, true)]).is_err());
    assert!(guess(Record::Label, vec![(4, 0, true)]).expect_err("refused").to_string().contains("node 4"));
}
