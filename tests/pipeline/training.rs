//! Long trainings, and what becomes of trained models.

use std::fs;

use veilgraph_graph::Predictions;
use veilgraph_store::read_table;

use crate::support::{Lab, digests};

/// A training that takes seconds: enough to be killed in.
const LONG: [&str; 6] = ["run", "config.toml", "--set", "train.epochs=6000", "--set", "trials=1"];

#[test]
fn a_killed_training_goes_on_from_its_last_checkpoint() {
    let (lab, other) = (Lab::tiny(), Lab::tiny());
    lab.kill_at_checkpoint(&[&LONG[..], &["-v", "--checkpoint-seconds", "0"]].concat(), "models-0-1");
    let answer = lab.call(&[&LONG[..], &["-v"]].concat());
    assert_eq!(answer.status, 0, "{}", answer.err);
    assert!(answer.err.contains("goes on from its checkpoint"), "{}", answer.err);
    assert!(!lab.has_checkpoint("models-0-1"), "a finished task needs no checkpoint");
    let whole = ["--set", "train.epochs=6000", "--set", "trials=1", "--checkpoint-seconds", "1000"];
    let trained = |lab: &Lab| -> Vec<(String, String)> {
        digests(&lab.json(&whole)).into_iter().filter(|(name, _)| name.contains("train")).collect()
    };
    assert_eq!(trained(&lab).len(), 4);
    assert_eq!(trained(&lab), trained(&other), "as if nobody had killed it");
}

/// Third column of a table of predictions: the class of each node.
fn classes(text: &str) -> Vec<u16> {
    let class = |line: &str| line.split(',').nth(2).and_then(|class| class.parse().ok()).expect("a class");
    text.lines().skip(1).map(class).collect()
}

#[test]
fn a_saved_model_predicts_what_its_training_predicted() {
    for variant in ["hybrid", "soft"] {
        let lab = Lab::tiny();
        let set = format!("construct.variant=\"{variant}\"");
        let sets = ["--set", &set, "--set", "train.layers=3", "--set", "train.dropout=[0.0, 0.5]", "--set", "trials=1"];
        lab.json(&sets);
        let model = "artifacts/simulation/runs/tiny/train/trial-0/model.safetensors";
        for number in ["0", "1"] {
            let answer =
                lab.call(&[&["predict", model, "config.toml", "--number", number, "--to", number], &sets[..]].concat());
            assert_eq!(answer.status, 0, "{}", answer.err);
            let predictions: Predictions =
                read_table(&lab.path("artifacts/simulation/runs/tiny/train/trial-0/predictions.parquet"))
                    .expect("valid");
            let trained = predictions.models[number.parse::<usize>().expect("a number")].classes(3);
            let text = fs::read_to_string(lab.path(&format!("{number}/trial-0.csv"))).expect("a table");
            assert_eq!(classes(&text), trained, "{variant}, model {number}");
        }
    }
}

#[test]
fn a_model_is_refused_where_it_does_not_fit() {
    let lab = Lab::tiny();
    lab.json(&["--set", "trials=1"]);
    let model = "artifacts/simulation/runs/tiny/train/trial-0/model.safetensors";
    let charged = lab.call(&["ledger", "--json"]).out;
    for (arguments, problem) in [
        (&["--set", "ingest.synthetic.features=50"][..], "40 features, this graph has 50"),
        (&["--number", "7"][..], "holds no model 7; it holds 0"),
        (&["--to", "artifacts"][..], "exists already"),
        (&["--set", "privatize.links.mechanism=solitude"][..], "a saved model does not hold them"),
        (&["--set", "privatize.links.mechanism=no-links", "--set", "construct.variant=similar"], "constructs no graph"),
    ] {
        let to = if arguments[0] == "--to" { &[][..] } else { &["--to", "out"][..] };
        let answer = lab.call(&[&["predict", model, "config.toml"], to, arguments].concat());
        assert!(answer.status == 1 && answer.err.contains(problem), "{}", answer.err);
        assert!(!lab.path("out").exists(), "nothing half-written");
        assert_eq!(lab.call(&["ledger", "--json"]).out, charged, "nothing was released");
    }
    let answer = lab.call(&["predict", "config.toml", "config.toml", "--to", "out"]);
    assert!(answer.status == 1 && answer.err.contains("model.safetensors"), "{}", answer.err);
}

const SPLIT: &str = "ingest.split={train = 0.01, validation = 0.5, test = 0.25, seed = 1}";

#[test]
fn a_class_without_training_nodes_is_named() {
    let lab = Lab::tiny();
    let answer = lab.call(&["run", "config.toml", "--set", SPLIT, "--set", "trials=1"]);
    assert!(answer.status == 1 && answer.err.contains("has no node among the"), "{}", answer.err);
}
