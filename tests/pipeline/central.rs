//! Models of a trusted curator: what is charged, what leaves the owner's side, and what is refused.

use std::fs;

use serde_json::Value;

use crate::support::{Lab, TINY, rows};

/// The tiny graph with a learner of a curator.
fn tiny(train: &str) -> String {
    let graph = &TINY[..TINY.find("[privatize.links]").expect("a table")];
    format!("{graph}\n[train]\nepochs = 5\nhidden = 8\n{train}\n\n[evaluate]\nmetrics = [\"accuracy\"]\n")
}

fn lab(train: &str) -> Lab {
    Lab::with("config.toml", tiny(train))
}

fn refusal(lab: &Lab) -> String {
    let answer = lab.call(&["run", "config.toml"]);
    assert_ne!(answer.status, 0, "{}", answer.out);
    assert!(!answer.err.contains("panicked"), "{}", answer.err);
    answer.err
}

const ALL: &str = "task = [\"dp-mlp\", \"gap\", \"progap\", \"dp-sage\", \"dpar\"]\nepsilon = [2, inf]\nvectors = 20";

#[test]
fn every_learner_runs_and_is_charged_under_its_relation() {
    let lab = lab(ALL);
    let document = lab.json(&[]);
    let scores: Vec<&Value> = rows(&document["metrics"]).filter(|row| row["metric"] == "accuracy").collect();
    assert_eq!(scores.len(), 10);
    for score in scores {
        let costs: Vec<&Value> = rows(&score["costs"]).collect();
        assert_eq!(costs.len(), 1, "{score}");
        let cuts_lists = ["gap", "progap", "dp-sage"].contains(&score["model"].as_str().expect("a name"));
        assert_eq!(costs[0]["relation"], if cuts_lists { "own-data" } else { "node" }, "{score}");
        let has_claim = costs[0].get("claimed_epsilon").is_some();
        assert_eq!(has_claim, score["model"] == "dpar", "{score}");
        assert!(score["mean"].as_f64().expect("a number") > 0.1);
    }
    let ledger: Value = serde_json::from_str(&lab.call(&["ledger", "--json"]).out).expect("JSON");
    // Five learners with noise and five without, in two trials.
    assert_eq!(rows(&ledger).count(), 20);
    assert!(rows(&ledger).all(|row| row["model"] == "central" && row["target"] == "model"));
    // A second run makes nothing and charges nothing.
    assert_eq!(lab.ran(&[]), Vec::<String>::new());
    let again: Value = serde_json::from_str(&lab.call(&["ledger", "--json"]).out).expect("JSON");
    assert_eq!(rows(&again).count(), 20);
}

#[test]
fn both_countings_are_two_models() {
    let lab = lab("task = [\"dp-mlp\", \"dpar\"]\nepsilon = 2\nvectors = 5\naccounting = \"both\"\nsubgraph = 1.0");
    let document = lab.json(&[]);
    let costs = |model: &str| -> Vec<(String, String)> {
        let scores = rows(&document["metrics"]).filter(|row| row["metric"] == "accuracy" && row["model"] == model);
        scores
            .map(|row| &row["costs"][0])
            .map(|cost| (cost["epsilon"].to_string(), cost["claimed_epsilon"].to_string()))
            .collect()
    };
    // The perceptron has one counting; DPAR keeps its budget by the one or by the other.
    assert_eq!(costs("dp-mlp").len(), 1);
    let dpar = costs("dpar");
    assert_eq!(dpar.len(), 2, "{dpar:?}");
    assert!(dpar.iter().any(|cost| cost.0 == "2.0") && dpar.iter().any(|cost| cost.0 != "2.0"), "{dpar:?}");
}

/// A training holds its budget once, however often its process is killed.
#[test]
fn a_killed_training_goes_on_and_is_charged_once() {
    const LONG: &str = "task = \"dp-mlp\"\nepsilon = 2\nepochs = 40000";
    let text = tiny(LONG).replace("epochs = 5\n", "").replace("trials = 2", "trials = 1");
    let (lab, other) = (Lab::with("config.toml", &text), Lab::with("config.toml", &text));
    let run = ["run", "config.toml", "-v"];
    lab.kill_at_checkpoint(&[&run[..], &["--checkpoint-seconds", "0"]].concat(), "mlp");
    let answer = lab.call(&run);
    assert!(answer.status == 0 && answer.err.contains("goes on from its checkpoint"), "{}", answer.err);
    assert!(!lab.has_checkpoint("mlp"), "a finished task needs no checkpoint");
    let model = |lab: &Lab| {
        let document = lab.json(&[]);
        let trained = rows(&document["stages"]).filter(|row| row["stage"] == "train");
        trained.map(|row| row["outputs"]["released_model"]["digest"].to_string()).collect::<Vec<_>>()
    };
    assert_eq!(model(&lab), model(&other), "as if nobody had killed it");
    let ledger: Value = serde_json::from_str(&lab.call(&["ledger", "--json"]).out).expect("JSON");
    assert_eq!(rows(&ledger).count(), 1);
}

#[test]
fn a_released_model_without_its_row_is_refused() {
    let lab = lab("task = \"dp-mlp\"\nepsilon = 2");
    lab.json(&[]);
    for file in ["ledger.jsonl", "ledger.head"] {
        fs::remove_file(lab.path("artifacts/owner").join(file)).expect("removed");
    }
    let message = refusal(&lab);
    assert!(message.contains("lacks the release") && message.contains("train"), "{message}");
}

#[test]
fn features_labels_and_predictions_stay_with_owner_and_auditor() {
    let lab = lab("task = \"gap\"\nepsilon = 2");
    let document = lab.json(&[]);
    let stages: Vec<&Value> = rows(&document["stages"]).collect();
    let of = |stage: &str| stages.iter().find(|row| row["stage"] == stage).expect("a run");
    for artifact in ["features", "labels", "links"] {
        assert_eq!(of("ingest")["outputs"][artifact]["owner"], true, "{artifact}");
    }
    let outputs = of("train")["outputs"].as_object().expect("outputs");
    assert_eq!(outputs.keys().collect::<Vec<_>>(), ["held_out_predictions", "released_model"]);
    let found = lab.path("artifacts");
    let mut open = vec![found];
    while let Some(folder) = open.pop() {
        for item in std::fs::read_dir(folder).expect("readable") {
            let path = item.expect("readable").path();
            if path.is_dir() && !path.is_symlink() {
                open.push(path);
            } else if path.ends_with("held_out_predictions.parquet") {
                assert!(path.starts_with(lab.path("artifacts/auditor")), "{}", path.display());
            } else if path.ends_with("released_model.parquet") {
                assert!(!path.starts_with(lab.path("artifacts/owner")), "{}", path.display());
            }
        }
    }
}

#[test]
fn a_training_that_is_made_again_is_not_charged_again() {
    let lab = lab("task = \"dp-mlp\"\nepsilon = 2");
    let digests = |document: &Value| {
        let trained = rows(&document["stages"]).filter(|row| row["stage"] == "train");
        trained.map(|row| row["outputs"]["released_model"]["digest"].to_string()).collect::<Vec<_>>()
    };
    let first = digests(&lab.json(&[]));
    // As after a run that was killed between its charge and its end.
    for part in ["simulation", "auditor"] {
        let folder = lab.path(&format!("artifacts/{part}/train"));
        if folder.exists() {
            std::fs::remove_dir_all(folder).expect("removed");
        }
    }
    let second = digests(&lab.json(&[]));
    assert_eq!(first, second);
    let ledger: Value = serde_json::from_str(&lab.call(&["ledger", "--json"]).out).expect("JSON");
    assert_eq!(rows(&ledger).count(), 2);
}

#[test]
fn budgets_by_relation_bound_models() {
    let text = |budget: &str| {
        format!("{}\n[privacy]\nbudget = {budget}\n", tiny("task = \"dp-mlp\"\nepsilon = 2\ndp_delta = 1e-6"))
    };
    // Two trials cost 2 nats each.
    let message = refusal(&Lab::with("config.toml", text("{ node = 3 }")));
    assert!(message.contains("nats per node") && message.contains("--spend"), "{message}");
    let message = refusal(&Lab::with("config.toml", text("{ list-bit = 30 }")));
    assert!(message.contains("add node to its table"), "{message}");
    // No relation bounds another one.
    let message = refusal(&Lab::with("config.toml", text("{ edge = 30 }")));
    assert!(message.contains("add node to its table"), "{message}");
    assert_eq!(Lab::with("config.toml", text("{ node = 4 }")).ran(&[]).last().expect("a run"), "evaluate");
}

#[test]
fn a_model_that_protects_links_alone_says_what_it_does_not_protect() {
    let text = |budget: &str| {
        let train = "task = \"gap\"\nlevel = \"edge\"\nepsilon = 2\ndp_delta = 1e-6";
        format!("{}\n[privacy]\nbudget = {budget}\n", tiny(train))
    };
    let message = refusal(&Lab::with("config.toml", text("{ edge = 4 }")));
    assert!(message.contains("about features"), "{message}");
    let open = "{ edge = 4, node-features = inf, label = inf }";
    let lab = Lab::with("config.toml", text(open));
    let document = lab.json(&[]);
    let costs = rows(&rows(&document["metrics"]).next().expect("a score")["costs"]).cloned().collect::<Vec<_>>();
    let of =
        |relation: &str| costs.iter().find(|cost| cost["relation"] == relation).expect("a cost")["epsilon"].clone();
    assert_eq!((of("edge"), of("node-features"), of("label")), (2.0.into(), "inf".into(), "inf".into()));
}

/// At 99 %, one bound in a hundred may exceed the true cost; the seed is fixed.
#[test]
fn canaries_bound_what_a_model_costs() {
    const CANARIES: f64 = 400.0;
    let audit = "[audit]\nattacks = [\"canary-model\"]\ncanaries = 400\ncanaries_of = \"training-labels\"\n";
    let text = tiny(ALL).replace("epochs = 5", "epochs = 200").replace("hidden = 8", "hidden = 32") + audit;
    let text = text.replace("trials = 2", "trials = 1").replace("nodes = 120", "nodes = 1000");
    let text = text.replace("features = 40", "features = 2000").replace("words = 6", "words = 20");
    let lab = Lab::with("config.toml", text.replace("epsilon = [2, inf]", "epsilon = [0.5, inf]\ndp_delta = 1e-9"));
    let document = lab.json(&[]);
    let of = |metric: &str, model: &str, epsilon: &str| {
        let is_it = |row: &&Value| {
            row["metric"] == metric && row["model"] == model && row["choices"]["train.epsilon"] == *epsilon
        };
        let found: Vec<f64> =
            rows(&document["metrics"]).filter(is_it).map(|row| row["mean"].as_f64().expect("a number")).collect();
        assert_eq!(found.len(), 1, "{metric} {model} {epsilon}");
        found[0]
    };
    for model in ["dp-mlp", "gap", "progap", "dp-sage", "dpar"] {
        assert_eq!(of("canaries", model, "0.5"), CANARIES, "{model}");
        assert_eq!(of("canary_guesses", model, "0.5"), CANARIES, "{model}: how many are guessed was fixed before");
        assert!(of("epsilon_lower_bound", model, "0.5") <= 0.5, "{model}");
    }
    // Without noise a perceptron learns many of its training labels by heart.
    assert!(of("epsilon_lower_bound", "dp-mlp", "inf") > 0.3, "{}", of("canary_right_guesses", "dp-mlp", "inf"));
    assert!(lab.ran(&[]).is_empty(), "everything is fresh");
}

#[test]
fn what_no_model_can_be_asked_is_refused() {
    for (audit, expected) in [
        ("attacks = [\"canary-model\"]", "set [audit] canaries"),
        ("attacks = [\"canary-model\"]\ncanaries = 10", "canaries_of = \"training-labels\""),
        ("attacks = [\"canary-reports\"]\ncanaries = 10\ncanaries_of = \"training-labels\"", "choose \"canary-model\""),
        ("attacks = [\"linkteller\"]", "none is trained here"),
        (
            "attacks = [\"canary-model\"]\ncanaries = 1000\ncanaries_of = \"training-labels\"",
            "the training nodes with a label",
        ),
    ] {
        let message = refusal(&Lab::with("config.toml", tiny("task = \"dp-mlp\"\nepsilon = 2") + "[audit]\n" + audit));
        assert!(message.contains(expected), "{audit}: {message}");
    }
    for (audit, expected) in [
        ("attacks = [\"canary-model\"]\ncanaries = 10", "no part of the config has these"),
        ("attacks = [\"canary-reports\"]\ncanaries = 10\ncanaries_of = \"training-labels\"", "choose \"canary-model\""),
        (
            "attacks = [\"canary-model\"]\ncanaries = 10\ncanaries_of = \"training-labels\"",
            "audits models of a curator",
        ),
    ] {
        let message = refusal(&Lab::with("config.toml", format!("{TINY}\n[audit]\n{audit}\n")));
        assert!(message.contains(expected), "{audit}: {message}");
    }
}

#[test]
fn a_budget_of_nodes_asked_of_a_local_mechanism_is_answered_with_what_a_node_costs() {
    let lab = Lab::with("config.toml", format!("{TINY}\n[privacy]\nbudget = {{ node = 8 }}\n"));
    let message = refusal(&lab);
    assert!(message.contains("by group privacy a node costs up to 2 (n - 1) times"), "{message}");
}

#[test]
fn what_no_curator_can_do_is_refused() {
    let cases = [
        ("task = [\"gap\", \"classify\"]\nepsilon = 2", "[[compare]]"),
        ("task = \"dp-mlp\"", "epsilon"),
        ("task = \"dp-mlp\"\nepsilon = 2\ndp_delta = 0.01", "allow_weak_delta"),
        ("task = \"dpar\"\nepsilon = 2\nvectors = 1000", "vectors = 1000"),
        ("task = \"dpar\"\nepsilon = 2\nvector_share = 1.5", "vector_share = 1.5"),
        ("task = \"dp-mlp\"\nepsilon = 2\nhops = 2", "hops"),
        ("task = \"dp-mlp\"\nepsilon = 2\nclip = 1e-9", "clip = 0.000000001 is not from"),
        ("task = \"dpar\"\nepsilon = 2\nvectors = 3\nsubgraph = 0.01", "subgraph = 0.01 of"),
        ("task = \"dpar\"\nepsilon = 2\nvectors = 3\nteleport = 1e-6", "teleport = 0.000001 is below"),
    ];
    for (train, expected) in cases {
        let lab = lab(train);
        let message = refusal(&lab);
        assert!(message.contains(expected), "{train}: {message}");
        assert!(!lab.path("artifacts/owner/ledger.jsonl").exists(), "{train}: it was charged before it was refused");
    }
    let wide = lab("task = \"gap\"\nepsilon = 2");
    let answer = wide.call(&["run", "config.toml", "--set", "train.hidden=60000"]);
    assert!(answer.status == 1 && answer.err.contains("at most 268435456 are trained"), "{}", answer.err);
    assert!(!wide.path("artifacts/owner/ledger.jsonl").exists(), "it was charged before it was refused");
    let without_features =
        tiny("task = \"dp-mlp\"\nepsilon = 2").replace("features = 40", "features = 0").replace("words = 6\n", "");
    let message = refusal(&Lab::with("config.toml", without_features));
    assert!(message.contains("features and labels"), "{message}");
    let deployed = format!(
        "{}\n[privacy]\nrandomness = \"os\"\npopulation = \"we\"\nbudget = {{ node = 9 }}\n",
        tiny("task = \"dp-mlp\"\nepsilon = 2")
    );
    let message = refusal(&Lab::with("config.toml", deployed));
    assert!(message.contains("floating point") || message.contains("deployment"), "{message}");
}

/// A model whose answers are no numbers would be scored as one that always says the first class.
#[test]
fn a_model_that_answers_with_no_numbers_is_refused() {
    for task in ["dp-mlp", "gap", "progap", "dp-sage", "dpar"] {
        let vectors = if task == "dpar" { "vectors = 20\n" } else { "" };
        let message = refusal(&lab(&format!("task = \"{task}\"\nepsilon = 2\nlearning_rate = 1e20\n{vectors}")));
        assert!(message.contains("lower the learning rate"), "{task}: {message}");
    }
}

#[test]
fn the_report_draws_accuracy_by_what_a_node_costs_and_by_what_is_stated() {
    let lab = lab("task = [\"dp-mlp\", \"dpar\", \"gap\"]\nepsilon = [1, 8, inf]\nvectors = 20");
    lab.json(&[]);
    let answer = lab.call(&["report", "config.toml"]);
    assert_eq!(answer.status, 0, "{}", answer.err);
    let page = std::fs::read_to_string(lab.path(answer.out.trim())).expect("the page");
    let (_, costs) = page.split_once("What it costs: ").expect("a sentence about costs");
    let (costs, _) = costs.split_once('<').expect("its end");
    assert!(costs.contains("own data, which does not hold as executed, or was never checked"), "{costs}");
    let mut found: Vec<String> = Vec::new();
    let mut open = vec![lab.path("artifacts")];
    while let Some(folder) = open.pop() {
        for item in std::fs::read_dir(folder).expect("readable") {
            let path = item.expect("readable").path();
            if path.is_dir() && !path.is_symlink() {
                open.push(path);
            } else {
                found.push(path.file_name().expect("a name").to_string_lossy().into_owned());
            }
        }
    }
    for figure in ["central-node.svg", "central-node-claimed.svg", "central-own-data.svg"] {
        assert!(found.iter().any(|name| name.ends_with(figure)), "{figure}: {found:?}");
    }
}
