use veilgraph_contract::{Artifact, Randomness};
use veilgraph_graph::{FeatureMatrix, Propagation, Rescale, SparseMatrix};
use veilgraph_privacy::LabelReportFacts;

use super::*;

pub(super) fn inputs() -> (Nodes, Features, Labels, WeightedGraph) {
    let splits = (0..30).map(|node| [Split::Train, Split::Validation, Split::Test][node % 3]).collect();
    let nodes =
        Nodes { dataset: "tiny".into(), n_classes: 2, splits, nodes_from_links: false, class_names: Vec::new() };
    let features = SparseMatrix::from_rows(3, (0..30).map(|node| vec![((node % 2) as u32, 1.0)])).expect("valid");
    let labels = (0..30).filter(|node| node % 3 != 2).map(|node| (node, (node % 2) as u16)).collect();
    let links = (0..28).map(|i| (i, i + 2, 1.0)).collect();
    let graph = WeightedGraph::undirected(Construction::Hard, 30, links);
    (nodes, Features(features), Labels::new(2, labels).expect("valid"), graph)
}

fn run(params: &Params) -> Result<<Train as Stage>::Outputs, Error> {
    let (nodes, features, labels, graph) = inputs();
    let rng = StageRng::new(1, "train", 0);
    Train::run(
        (nodes, Some(features), None, Some(labels), None, graph, None, None, None),
        params,
        &rng,
        &Progress::none(),
    )
}

fn grid() -> Params {
    Params {
        epochs: 30,
        learning_rate: OneOrMany::Many(vec![0.1, 0.01]),
        dropout: OneOrMany::Many(vec![0.0, 0.5]),
        ..Params::default()
    }
}

#[test]
fn every_setting_of_the_grid_is_a_model() {
    let (predictions, curves, weights) = run(&grid()).expect("trains");
    assert_eq!(predictions.settings.len(), 4);
    assert_eq!(predictions.models.iter().map(|model| model.model).collect::<Vec<_>>(), [0, 1, 2, 3]);
    assert_eq!(curves.epoch.len(), 4 * 30);
    assert_eq!(weights.models.len(), 4);
    let again = Predictions::from_blocks(&predictions.facts(), &mut predictions.blocks()).expect("round trip");
    assert_eq!(again, predictions);
    let again = Curves::from_blocks(&curves.facts(), &mut curves.blocks()).expect("round trip");
    assert_eq!(again, curves);
    let again = ModelWeights::from_parts(&weights.facts(), &mut weights.blocks(), weights.attachment().as_deref());
    assert_eq!(again.expect("round trip").models, weights.models);
}

/// A test node's links change no parameter and every answer, as the network is applied to the whole graph.
#[test]
fn inductive_training_sees_no_link_of_a_test_node() {
    let trained = |with_test_links: bool, inductive: bool| {
        let (nodes, features, labels, graph) = inputs();
        let is_seen = |node: u32| with_test_links || nodes.splits[node as usize] != Split::Test;
        let graph = graph.among(is_seen);
        let params = Params { inductive, epochs: 20, ..Params::default() };
        let inputs = (nodes, Some(features), None, Some(labels), None, graph, None, None, None);
        let (predictions, _, weights) =
            Train::run(inputs, &params, &StageRng::new(1, "train", 0), &Progress::none()).expect("trains");
        (predictions.models[0].probabilities.clone(), weights.models)
    };
    let (answers, weights) = trained(true, true);
    assert_eq!(weights, trained(false, true).1);
    assert_eq!(weights, trained(false, false).1);
    assert_ne!(weights, trained(true, false).1);
    assert_ne!(answers, trained(false, true).0);
}

#[test]
fn inductive_training_needs_listed_links() {
    let (nodes, features, labels, graph) = inputs();
    let graph = WeightedGraph { construction: Construction::Learned, ..graph };
    let params = Params { inductive: true, ..Params::default() };
    let inputs = (nodes, Some(features), None, Some(labels), None, graph, None, None, None);
    let error = Train::run(inputs, &params, &StageRng::new(1, "train", 0), &Progress::none()).expect_err("refused");
    assert!(error.to_string().contains("inductive"), "{error}");
}

/// What a model does not read is no part of its key; what it reads comes back as it was.
#[test]
fn parameters_are_written_without_what_the_model_does_not_read() {
    let written = |params: &Params| toml::Value::try_from(params).expect("a table");
    let paper = Params { sage_norm: SageNorm::Paper, gat_double_weight: false, ..Params::default() };
    for (model, reads) in [
        (Architecture::Gcn, None),
        (Architecture::Mlp, None),
        (Architecture::GraphSage, Some("sage_norm")),
        (Architecture::Gat, Some("gat_double_weight")),
    ] {
        let (default, paper) = (Params { model, ..Params::default() }, Params { model, ..paper.clone() });
        assert_eq!(written(&default) == written(&paper), reads.is_none(), "{model:?}");
        for name in ["sage_norm", "gat_double_weight"] {
            assert_eq!(written(&paper).get(name).is_some(), reads == Some(name), "{model:?}: {name}");
        }
    }
    let whole = Params {
        model: Architecture::GraphSage,
        sage_norm: SageNorm::Paper,
        patience: Some(7),
        links: Some(LinkLearning { sparsity: 0.5, ..LinkLearning::default() }),
        ..grid()
    };
    let gat = Params { model: Architecture::Gat, gat_double_weight: false, ..Params::default() };
    for params in [Params::default(), grid(), whole, gat] {
        let again: Params = written(&params).try_into().expect("round trip");
        assert_eq!(again, params);
        let text = serde_json::to_string(&params).expect("JSON");
        assert_eq!(serde_json::from_str::<Params>(&text).expect("round trip"), params);
    }
    let later = ["links", "activation", "heads", "labels", "label_hops", "min_epochs"];
    assert!(later.iter().all(|name| written(&Params::default()).get(name).is_none()));
    let newer = Params {
        model: Architecture::Gat,
        activation: Unit::Selu,
        heads: 4,
        labels: LabelUse::Drop,
        label_hops: 2,
        min_epochs: 10,
        ..Params::default()
    };
    assert_eq!(written(&newer).try_into::<Params>().expect("round trip"), newer);
    assert_eq!(written(&newer)["labels"].as_str(), Some("drop"));
}

#[test]
fn the_weights_are_safetensors_with_the_shapes_of_the_table() {
    let (_, _, weights) = run(&Params { epochs: 3, ..Params::default() }).expect("trains");
    let file = weights.attachment().expect("a file");
    let tensors = safetensors::SafeTensors::deserialize(&file).expect("safetensors");
    assert_eq!(tensors.tensor("model0.layer1.weight").expect("named").shape(), [3, 16]);
    assert_eq!(tensors.names().len(), weights.models[0].1.len());
}

#[test]
fn one_failed_model_does_not_stop_the_others() {
    let params = Params { learning_rate: OneOrMany::Many(vec![f64::MAX, 0.01]), epochs: 5, ..Params::default() };
    let (predictions, ..) = run(&params).expect("one model trains");
    assert_eq!(predictions.models.iter().map(|model| model.model).collect::<Vec<_>>(), [1]);
    let all_fail = Params { learning_rate: OneOrMany::One(f64::MAX), epochs: 5, ..Params::default() };
    assert!(matches!(run(&all_fail), Err(Error::AllFailed(Failure::Diverged(_)))));
}

#[test]
fn hyperparameters_out_of_range_are_named() {
    for (params, field) in [
        (Params { learning_rate: OneOrMany::One(0.0), ..Params::default() }, "learning_rate"),
        (Params { weight_decay: OneOrMany::One(-1.0), ..Params::default() }, "weight_decay"),
        (Params { dropout: OneOrMany::One(1.0), ..Params::default() }, "dropout"),
        (Params { dropout: OneOrMany::Many(vec![]), ..Params::default() }, "dropout"),
        (Params { epochs: 0, ..Params::default() }, "epochs"),
        (Params { hidden: 0, ..Params::default() }, "hidden"),
    ] {
        let error = run(&params).expect_err(field);
        assert!(error.to_string().contains(field), "{error}");
    }
}

/// Labels of which every node kept the truth with probability 0.8, features with a fill, and every new parameter.
#[test]
fn private_features_and_labels_train_and_their_model_is_read_back() {
    let (nodes, features, labels, graph) = inputs();
    let (nodes, graph) = (|| nodes.clone(), || graph.clone());
    let values = FeatureMatrix::Sparse { fill: 0.5, entries: features.0.clone() };
    let propagation = Propagation { hops: 2, rescale: Rescale::RootMeanSquare, ..Propagation::default() };
    let estimated = EstimatedFeatures { values, propagation };
    let facts = LabelReportFacts {
        mechanism: "randomized-response".into(),
        epsilon: 4.0_f64.ln(),
        truth_probability: 0.8,
        randomness: Randomness::Seeded,
    };
    let noisy = NoisyLabels { facts, labels: labels.clone() };
    let rng = StageRng::new(1, "train", 0);
    for (labels_use, model) in [
        (LabelUse::Plain, Architecture::GraphSage),
        (LabelUse::Forward, Architecture::Gat),
        (LabelUse::Drop, Architecture::Gcn),
    ] {
        let params = Params {
            model,
            labels: labels_use,
            label_hops: 2,
            activation: Unit::Selu,
            heads: 2,
            epochs: 20,
            ..Params::default()
        };
        let inputs = (nodes(), None, Some(estimated.clone()), None, Some(noisy.clone()), graph(), None, None, None);
        let (predictions, _, weights) = Train::run(inputs, &params, &rng, &Progress::none()).expect("trains");
        let saved = SavedModel::parse(&weights.attachment().expect("a file"), None).expect("valid");
        let found = predict(&saved, &estimated, &graph(), None, None).expect("the same graph");
        assert_eq!(found, predictions.models[0], "bit for bit");
    }
    for (public, estimated, labels, noisy, word) in [
        (None, None, Some(labels.clone()), None, "features"),
        (Some(features.clone()), Some(estimated), Some(labels.clone()), None, "features"),
        (Some(features.clone()), None, None, None, "labels"),
        (Some(features), None, Some(labels), Some(noisy), "labels"),
    ] {
        let inputs = (nodes(), public, estimated, labels, noisy, graph(), None, None, None);
        let error = Train::run(inputs, &Params::default(), &rng, &Progress::none()).expect_err(word);
        assert!(error.to_string().contains(word), "{error}");
    }
}

#[test]
fn a_soft_graph_needs_its_posterior() {
    let (nodes, features, labels, _) = inputs();
    let soft = WeightedGraph::undirected(Construction::Soft, 30, Vec::new());
    let rng = StageRng::new(1, "train", 0);
    let inputs = (nodes, Some(features), None, Some(labels), None, soft, None, None, None);
    let result = Train::run(inputs, &Params::default(), &rng, &Progress::none());
    assert!(result.expect_err("nothing to train on").to_string().contains("link_model"));
}

#[test]
#[cfg(not(feature = "cuda"))]
fn cuda_is_refused_with_the_remedy_where_it_was_not_compiled() {
    let error = run(&Params { device: Device::Cuda, ..Params::default() }).expect_err("no CUDA");
    assert!(error.to_string().contains("--features cuda"), "{error}");
}

/// A saved model is what was trained; one that lies about itself is refused, whatever it says.
#[test]
fn a_saved_model_is_read_back_or_refused() {
    let (predictions, _, mut weights) = run(&grid()).expect("trains");
    let (_, features, _, graph) = inputs();
    let bytes = |weights: &ModelWeights| weights.attachment().expect("a file");
    for model in 0..4 {
        let saved = SavedModel::parse(&bytes(&weights), Some(model)).expect("valid");
        assert_eq!((model, saved.parameters.clone()), weights.models[model as usize]);
        let found = predict(&saved, &features, &graph, None, None).expect("the same graph");
        assert_eq!(found, predictions.models[model as usize], "bit for bit");
    }
    let good = weights.description.clone();
    let lies: [fn(&mut GridDescription); 5] = [
        |grid| grid.options.layers = usize::MAX,
        |grid| grid.options.layers = 0,
        |grid| grid.options.hidden = 0,
        |grid| grid.n_classes = 0,
        |grid| grid.models.clear(),
    ];
    for lie in lies {
        weights.description = good.clone();
        lie(&mut weights.description);
        SavedModel::parse(&bytes(&weights), None).expect_err("a lie");
    }
    // Sizes that can be, but are not those of the parameters.
    let changes: [fn(&mut GridDescription); 2] = [|grid| grid.options.hidden = 17, |grid| grid.n_classes = 3];
    for change in changes {
        weights.description = good.clone();
        change(&mut weights.description);
        let saved = SavedModel::parse(&bytes(&weights), None).expect("it can be");
        predict(&saved, &features, &graph, None, None).expect_err("other shapes");
    }
    let whole = bytes(&weights);
    for end in [0, 1, 8, 9, 100, whole.len() / 2, whole.len() - 1] {
        SavedModel::parse(&whole[..end], None).expect_err("cut short");
    }
}
