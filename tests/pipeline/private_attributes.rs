//! Private features and labels: what leaves the nodes, what it costs, and what the server makes of it.

use std::fs;
use std::path::PathBuf;

use serde_json::Value;

use crate::support::{BLINK_TABLES, Lab, TINY, digests, rows};

/// Links, features and labels private together.
const EVERYTHING: &str = r#"
[privatize.features]
mechanism = "multi-bit"
epsilon = 3.0

[privatize.labels]
mechanism = "randomized-response"
epsilon = 2.0

[estimate.features]
hops = 2
"#;

/// The tiny experiment with further tables; `normalize` leaves features in the range that mechanisms declare.
fn tiny(tables: &str) -> String {
    let links = TINY.replace("[ingest.synthetic]", "[ingest]\nnormalize = \"none\"\n\n[ingest.synthetic]");
    format!("{links}{tables}")
}

/// The tables that make a deployment of everything private.
const DEPLOYMENT: &str = "[privacy]\nrandomness = \"os\"\npopulation = \"members\"\n\
                          budget = { list-bit = 6, node-features = 3, label = 2 }\n";

/// Links, features and labels private together, released once.
fn deployment_of_everything() -> String {
    let clipped = EVERYTHING.replace("epsilon = 3.0", "epsilon = 3.0\nclip = true");
    format!("{}{DEPLOYMENT}", tiny(&clipped).replace("trials = 2", ""))
}

fn ledger(lab: &Lab) -> Vec<Value> {
    let answer = lab.call(&["ledger", "--json"]);
    serde_json::from_str::<Value>(&answer.out).expect("JSON").as_array().expect("rows").clone()
}

/// All files of the store outside the owner's part.
fn files_beside_the_owner(lab: &Lab) -> Vec<PathBuf> {
    let (mut open, mut files) = (vec![lab.path("artifacts")], Vec::new());
    while let Some(folder) = open.pop() {
        for item in fs::read_dir(folder).expect("readable") {
            let path = item.expect("readable").path();
            if path.is_symlink() || path == lab.path("artifacts/owner") {
                continue;
            }
            if path.is_dir() { open.push(path) } else { files.push(path) }
        }
    }
    files
}

#[test]
fn raw_features_and_labels_never_reach_the_server() {
    let lab = Lab::with("config.toml", tiny(EVERYTHING));
    let document = lab.json(&["--set", "train.labels=drop", "--set", "train.label_hops=2"]);
    for raw in ["features.parquet", "labels.parquet", "links.parquet"] {
        assert!(lab.path("artifacts/owner").exists());
        let elsewhere: Vec<PathBuf> =
            files_beside_the_owner(&lab).into_iter().filter(|path| path.ends_with(raw)).collect();
        assert!(elsewhere.is_empty(), "{elsewhere:?}");
    }
    let stages: Vec<&Value> = rows(&document["stages"]).collect();
    let ingest = stages.iter().find(|row| row["stage"] == "ingest").expect("ingest");
    for (artifact, is_owned) in [("features", true), ("labels", true), ("links", true), ("nodes", false)] {
        assert_eq!(ingest["outputs"][artifact]["owner"], is_owned, "{artifact}");
    }
    assert!(stages.iter().any(|row| row["stage"] == "train"), "networks are trained on the reports");
    // The server's side redoes its part where there is no owner's folder.
    fs::remove_dir_all(lab.path("artifacts/owner/ingest")).expect("removed");
    let arguments = ["--side", "server", "--simulation", "--until", "train", "--set", "train.labels=drop"];
    let again = lab.json(&[&arguments[..], &["--set", "train.label_hops=2"]].concat());
    assert!(rows(&again["stages"]).filter(|row| row["stage"] == "train").all(|row| row["status"] != "ran"));
    let other = lab.json(&[&arguments[..], &["--set", "train.label_hops=3"]].concat());
    assert!(rows(&other["stages"]).filter(|row| row["stage"] == "train").all(|row| row["status"] == "ran"));
}

/// What trained networks say about the nodes, by trial.
fn predictions(document: &Value) -> Vec<String> {
    let is_trained = |name: &str| name.ends_with(" predictions") || name.ends_with(" curve");
    let found: Vec<String> =
        digests(document).into_iter().filter(|(name, _)| is_trained(name)).map(|(_, digest)| digest).collect();
    assert_eq!(found.len(), 4, "predictions and curves of two trials");
    found
}

#[test]
fn an_infinite_budget_gives_the_bytes_of_public_data() {
    let of = |tables: &str, sets: &[&str]| {
        let lab = Lab::with("config.toml", tiny(tables));
        let sets: Vec<&str> = sets.iter().flat_map(|set| ["--set", set]).collect();
        predictions(&lab.json(&[&sets[..], &["--until", "train"]].concat()))
    };
    let private = |mechanism: &str| {
        format!(
            "[privatize.features]\nmechanism = \"{mechanism}\"\nepsilon = inf\n[privatize.labels]\n\
             mechanism = \"randomized-response\"\nepsilon = inf\n"
        )
    };
    // Blink with features and labels that everybody knows.
    let blink = of("", &[]);
    for mechanism in ["one-bit", "laplace", "piecewise", "multi-bit", "gaussian", "non-private"] {
        assert_eq!(of(&private(mechanism), &[]), blink, "{mechanism}");
    }
    // LPGNN over links that everybody knows, and over Blink's links at an infinite budget.
    let lpgnn = ["train.labels=drop", "train.label_hops=2"];
    let public = of(EVERYTHING, &[&lpgnn[..], &["privatize.links.mechanism=public"]].concat());
    let blink = of(EVERYTHING, &[&lpgnn[..], &["privatize.links.epsilon=inf", "construct.variant=hard"]].concat());
    assert_eq!(blink, public);
    assert_ne!(public, of(EVERYTHING, &lpgnn), "at a finite budget the links differ");
}

/// Solitude learns its links with the model, so that features are scored without the average over them. JSON has no infinity.
#[test]
fn features_beside_learned_links_are_scored_and_an_infinite_budget_is_written() {
    let lab = Lab::with("config.toml", tiny(EVERYTHING).replace(BLINK_TABLES, "").replace("hops = 2", "hops = 0"));
    let solitude = "privatize.links={mechanism=\"solitude\",epsilon=inf}";
    let document = lab.json(&["--set", solitude, "--set", "evaluate.metrics=[\"feature-error\"]"]);
    let scored: Vec<&Value> = rows(&document["metrics"]).collect();
    let names: Vec<&str> = scored.iter().map(|row| row["metric"].as_str().expect("a name")).collect();
    assert_eq!(names, ["feature_mae"]);
    assert_eq!((&scored[0]["epsilon"], &scored[0]["epsilon_edge"]), (&"inf".into(), &"inf".into()));
}

#[test]
fn every_relation_has_its_rows_and_is_charged_once() {
    let lab = Lab::with("config.toml", tiny(EVERYTHING));
    let plan = lab.call(&["plan", "config.toml"]).out;
    for words in ["6 per node's features", "4 per label", "10 per node's features and label"] {
        assert!(plan.contains(words), "`{words}` is not in {plan}");
    }
    lab.json(&[]);
    let charged = ledger(&lab);
    let total = |relation: &str| -> f64 {
        let rows = charged.iter().filter(|row| row["relation"] == relation && row["trial"] == 0);
        rows.map(|row| row["epsilon"].as_f64().expect("a number")).sum()
    };
    let found = ["list-bit", "edge", "node-features", "label", "node-attrs"].map(total);
    assert_eq!(found, [6.0, 12.0, 3.0, 2.0, 5.0]);
    lab.json(&["--set", "train.epochs=21", "--set", "estimate.features.hops=3"]);
    assert_eq!(ledger(&lab), charged, "what the server does with reports costs nothing");
    // Public links and a control without information cost nothing either.
    let free = Lab::with("config.toml", tiny(EVERYTHING));
    free.json(&["--set", "privatize.links.mechanism=public", "--set", "privatize.features.message=constant"]);
    let rows = ledger(&free);
    assert!(rows.iter().all(|row| row["target"] != "link"), "no row for links that are public");
    let features = rows.iter().filter(|row| row["target"] == "feature");
    assert!(features.clone().count() > 0 && features.clone().all(|row| row["epsilon"] == 0.0));
}

#[test]
fn budgets_bound_every_relation() {
    let refused = |budget: &str, words: &[&str]| {
        let lab = Lab::with("config.toml", format!("{}\n[privacy]\nbudget = {budget}\n", tiny(EVERYTHING)));
        let answer = lab.call(&["run", "config.toml", "--until", "privatize"]);
        assert_eq!(answer.status, 1, "{budget}: {}", answer.out);
        words.iter().for_each(|word| assert!(answer.err.contains(word), "`{word}` is not in {}", answer.err));
        assert!(ledger(&lab).is_empty(), "nothing is charged where the whole does not fit");
    };
    // Two trials cost twice.
    refused("{ list-bit = 12, node-features = 5, label = 4 }", &["6 nats per node's features", "0 of 5", "--spend"]);
    refused("{ list-bit = 12, node-features = 6, label = 3 }", &["4 nats per label", "0 of 3"]);
    refused("{ list-bit = 12, node-attrs = 9 }", &["10 nats per node's features and label"]);
    refused("{ list-bit = 12, node-features = 6 }", &["does not bound releases about labels", "label or node-attrs"]);
    refused("12", &["does not bound releases about features", "node-features or node-attrs"]);
    for enough in ["{ list-bit = 12, node-features = 6, label = 4 }", "{ edge = 24, node-attrs = 10 }"] {
        let lab = Lab::with("config.toml", format!("{}\n[privacy]\nbudget = {enough}\n", tiny(EVERYTHING)));
        let answer = lab.call(&["run", "config.toml", "--until", "privatize"]);
        assert_eq!(answer.status, 0, "{enough}: {}", answer.err);
    }
}

#[test]
fn a_deployment_of_everything_is_drawn_once() {
    let text = deployment_of_everything();
    let lab = Lab::with("config.toml", &text);
    let run = |sets: &[&str]| lab.call(&[&["run", "config.toml", "--until", "train"], sets].concat());
    let first = run(&[]);
    assert_eq!(first.status, 0, "{}", first.err);
    let charged = ledger(&lab);
    assert!(charged.iter().all(|row| row["deployable"] == true), "{charged:?}");
    assert_eq!(run(&["--set", "train.epochs=21"]).status, 0, "the releases are found again");
    assert_eq!(ledger(&lab), charged);
    let second = run(&["--set", "privatize.features.epsilon=1"]);
    assert!(second.status == 1 && second.err.contains("exceed the budget"), "{}", second.err);
    // Another range is another release, and so is one whose delta protects nobody.
    let wider = run(&["--set", "privatize.features.range=[0.0, 2.0]"]);
    assert!(wider.status == 1 && wider.err.contains("exceed the budget"), "{}", wider.err);
    let gaussian = ["--set", "privatize.features.mechanism=gaussian", "--set", "privatize.features.dp_delta=0.5"];
    let open =
        run(&[&gaussian[..], &["--set", "privacy.budget={ list-bit = 9, node-features = 9, label = 9 }"]].concat());
    assert!(open.status == 1 && open.err.contains("dp_delta of 0.5"), "{}", open.err);
    // Scores of classes are computed from private labels, so nobody gets them unasked.
    assert!(!lab.path("artifacts/auditor/runs/tiny/scores.csv").exists());
    for (set, word) in [
        ("privatize.features.epsilon=inf", "choose a finite epsilon"),
        ("privatize.features.range=data", "declare a range"),
        ("privatize.labels.epsilon=inf", "choose a finite epsilon"),
        ("privatize.labels.epsilon=25", "at most 20 nats"),
        ("privatize.features.clip=false", "set clip = true"),
        ("privatize.links.mechanism=[\"blink\", \"public\"]", "either public or protected"),
    ] {
        let answer = run(&["--set", set]);
        assert!(answer.status == 2 && answer.err.contains(word), "{set}: {}", answer.err);
    }
    assert_eq!(ledger(&lab), charged);
}

#[test]
fn references_need_no_features_and_know_their_graph() {
    let free = "[privatize.features]\nmechanism = \"feature-free\"\n[estimate.features]\n\
                substitute = [\"propagation-profile\", \"random\", \"constant\", \"one-hot-degree\"]\nhops = 2\n";
    let lab = Lab::with("config.toml", tiny(free));
    let document = lab.json(&["--set", "privatize.links.mechanism=[\"public\", \"blink\"]"]);
    let scored = rows(&document["metrics"]).filter(|score| score["metric"] == "accuracy");
    assert_eq!(scored.count(), 8, "four substitutes over two graphs");
    assert!(ledger(&lab).iter().all(|row| row["target"] != "feature"), "nothing is asked about features");
    let soft = lab.call(&["plan", "config.toml", "--set", "construct.variant=soft"]);
    assert!(soft.status == 2 && soft.err.contains("one-hot-degree counts listed links"), "{}", soft.err);
}

/// The most frequent class follows from the labels, so that features and links that are swept have one such floor.
#[test]
fn the_most_frequent_class_is_one_floor_of_all_budgets() {
    let lab = Lab::with("config.toml", tiny("[privatize.features]\nmechanism = \"multi-bit\"\nepsilon = [1.0, 3.0]\n"));
    let document =
        lab.json(&["--set", "train.task=[\"classify\", \"majority\"]", "--set", "privatize.links.epsilon=[2, 6]"]);
    let scored = |model: &str| {
        let is_asked = |score: &&Value| score["metric"] == "accuracy" && score["model"] == model;
        rows(&document["metrics"]).filter(is_asked).count()
    };
    assert_eq!((scored("gcn"), scored("majority")), (4, 1), "{}", document["metrics"]);
}

#[test]
fn links_are_predicted_that_the_graph_does_not_have() {
    let learned = "[privatize.features]\nmechanism = \"one-bit\"\n";
    let config = tiny(learned)
        .replace("epsilon = 6.0", "mechanism = \"public\"\nhold_out_links = { validation = 0.1, test = 0.2 }")
        .replace("mechanism = \"one-bit\"", "mechanism = \"one-bit\"\nepsilon = [1.0, 9.0]")
        .replace(BLINK_TABLES, "")
        .replace("epochs = 20", "task = \"link-prediction\"\nepochs = 300\nembedding = 8\nweight_decay = 1e-3");
    let lab = Lab::with("config.toml", &config);
    let document = lab.json(&[]);
    let scores: Vec<f64> = rows(&document["metrics"])
        .filter(|score| score["metric"] == "link_prediction_auc")
        .map(|score| score["mean"].as_f64().expect("a number"))
        .collect();
    // 46 held-out links and as many other pairs in two trials: chance alone reaches 0.62 once in a hundred times.
    assert!(scores.len() == 2 && scores[1] > 0.62, "{scores:?}");
    let held_out = rows(&document["stages"]).find(|row| row["function"] == "public").expect("published");
    let path = held_out["outputs"]["held_out_links"]["path"].as_str().expect("a path");
    assert!(path.contains("artifacts/auditor/"), "{path}");
    let whole = lab.call(&["run", "config.toml", "--set", "privatize.links={mechanism=\"public\"}"]);
    assert!(whole.status == 2 && whole.err.contains("hold_out_links"), "{}", whole.err);
}

/// A split by classes follows from private labels, which no cost covers, so that only a simulation may have it.
#[test]
fn a_deployment_refuses_a_split_that_follows_from_private_labels() {
    let everything = deployment_of_everything();
    let (_, labels) = everything.split_once("[privatize.labels]").expect("a table");
    let (labels, _) = labels.split_once("[estimate.features]").expect("the next table");
    let public_labels = everything.replace(&format!("[privatize.labels]{labels}"), "");
    let by_class = "ingest.split={ train_per_class = 5, validation = 10, test = 10, seed = 1 }";
    let stratified = "ingest.split={ train = 0.5, validation = 0.25, test = 0.25, seed = 1, stratified = true }";
    for split in [by_class, stratified] {
        let plan = |text: &str| Lab::with("config.toml", text).call(&["plan", "config.toml", "--set", split]);
        let answer = plan(&everything);
        assert!(answer.status == 2 && answer.err.contains("must not follow from private labels"), "{}", answer.err);
        let answer = plan(&public_labels);
        let words = "must not follow from private labels of test nodes";
        assert!(answer.status == 2 && answer.err.contains(words), "{}", answer.err);
        let answer = plan(&everything.replace(DEPLOYMENT, ""));
        assert_eq!(answer.status, 0, "a simulation may: {}", answer.err);
    }
    let shares = stratified.replace(", stratified = true", "");
    let answer = Lab::with("config.toml", &everything).call(&["plan", "config.toml", "--set", &shares]);
    assert_eq!(answer.status, 0, "{}", answer.err);
}

/// Links, features and labels of one cell cost something each, and `plan` says what.
#[test]
fn a_plan_says_what_each_release_of_a_cell_costs() {
    let lab = Lab::with("config.toml", tiny(EVERYTHING));
    let answer = lab.call(&["plan", "config.toml"]);
    for line in [
        "cost of one release [blink]: 6 nats per list bit, 12 per undirected link",
        "cost of one release [features-multi-bit]: ",
        "cost of one release [labels-randomized-response]: ",
    ] {
        assert!(answer.out.contains(line), "{line}: {}", answer.out);
    }
}
