use veilgraph_graph::Split;

use super::*;
use crate::{PredictBeliefs, PredictMajority};

/// Six nodes of two classes: two for training, two for validation, two for the test.
fn data(validation: Split) -> (Nodes, Labels) {
    let splits = vec![Split::Train, Split::Train, validation, validation, Split::Test, Split::Test];
    let nodes = Nodes { dataset: "six".into(), n_classes: 2, splits, nodes_from_links: false, class_names: Vec::new() };
    (nodes, Labels::new(2, vec![(0, 1), (1, 1), (2, 0), (3, 1)]).expect("valid"))
}

/// Every node is of its class (the parity of its number) with this probability.
fn sure(probability: f32) -> Vec<f32> {
    let row = |node: usize| {
        if node.is_multiple_of(2) { [probability, 1.0 - probability] } else { [1.0 - probability, probability] }
    };
    (0..6).flat_map(row).collect()
}

fn blend(network: Vec<f32>, beliefs: Vec<f32>, validation: Split) -> (Predictions, Curves) {
    let (nodes, labels) = data(validation);
    let models = vec![ModelPredictions { model: 3, probabilities: network }];
    let predictions = Predictions { n_classes: 2, settings: vec![String::new(); 4], models };
    let beliefs = ClassBeliefs::new(2, beliefs).expect("sums to 1");
    let rng = StageRng::new(0, "blend", 0);
    Blend::run((nodes, labels, predictions, beliefs), &NoParams {}, &rng, &Progress::none()).expect("blended")
}

/// Whoever is right on validation nodes is kept as it is, and two that are equally right give their mean.
#[test]
fn validation_labels_choose_the_weight() {
    let close = |found: &[f32], expected: &[f32]| found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-5);
    let (network, _) = blend(sure(0.9), sure(0.2), Split::Validation);
    assert!(close(&network.models[0].probabilities, &sure(0.9)));
    let (beliefs, curves) = blend(sure(0.3), sure(0.8), Split::Validation);
    assert!(close(&beliefs.models[0].probabilities, &sure(0.8)));
    assert_eq!((beliefs.models[0].model, beliefs.settings.len()), (3, 4), "the grid stays");
    let loss = curves.kept_validation_loss(3);
    assert!((loss + f64::ln(0.8)).abs() < 1e-5, "{loss}");
    assert_eq!(curves.validation_accuracy, [1.0]);
    let none = blend(sure(0.6), sure(0.7), Split::None).0;
    assert!(close(&none.models[0].probabilities, &sure(0.6)), "without validation labels the network stays");
}

#[test]
fn beliefs_and_majority_are_predictions_of_one_model() {
    let (nodes, labels) = data(Split::Validation);
    let rng = StageRng::new(0, "beliefs", 0);
    let beliefs = ClassBeliefs::new(2, sure(0.75)).expect("sums to 1");
    let inputs = (nodes.clone(), labels.clone(), beliefs.clone());
    let (believed, curves) = PredictBeliefs::run(inputs, &NoParams {}, &rng, &Progress::none()).expect("predicted");
    assert_eq!(believed.models[0].probabilities, sure(0.75));
    assert!((curves.kept_validation_loss(0) + f64::ln(0.75)).abs() < 1e-6);
    let (majority, _) = PredictMajority::run((nodes.clone(), labels.clone()), &NoParams {}, &rng, &Progress::none())
        .expect("predicted");
    // Both training nodes are of class 1; one node more of each class is counted.
    assert_eq!(majority.models[0].probabilities[..2], [0.25, 0.75]);
    assert_eq!(majority.models[0].classes(2), [1; 6]);
    let other = ClassBeliefs::new(2, vec![0.5; 4]).expect("sums to 1");
    assert!(PredictBeliefs::run((nodes, labels, other), &NoParams {}, &rng, &Progress::none()).is_err());
}
