//! Better links from the same reports: methods side by side in one config, and what they refuse.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::support::{Lab, rows};

const COMPARE: &str = r#"
name = "compare"
trials = 2
references = []
[ingest.synthetic]
nodes = 400
classes = 3
mean_degree = 6.0
features = 60
words = 8
[privatize.links]
epsilon = 3
degree_fraction = 0.1
[estimate]
method = "published"
[train]
epochs = 5
[[compare]]
name = "published"
[[compare]]
name = "best"
privatize.links.degree_fraction = "auto-with-bits"
estimate.method = "best"
construct.edge_multiple = [1, 2]
"#;

/// The lines of [`COMPARE`] above its first table.
const HEAD: &str = "name = \"compare\"\ntrials = 2\nreferences = []\n";

fn run(text: &str, arguments: &[&str]) -> (Lab, Value) {
    let lab = Lab::with("compare.toml", text);
    let answer = lab.call(&[&["--quiet", "run", "compare.toml", "--json"], arguments].concat());
    assert_eq!(answer.status, 0, "{}", answer.err);
    (lab, serde_json::from_str(&answer.out).expect("JSON"))
}

fn score(document: &Value, estimate: &str, metric: &str) -> f64 {
    let found = rows(&document["metrics"]).find(|row| row["estimate"] == estimate && row["metric"] == metric);
    found.and_then(|row| row["mean"].as_f64()).unwrap_or_else(|| panic!("no {metric} of {estimate}"))
}

/// Twice the standard error of a difference of average precisions is below 0.05 here (two trials of 1200 links).
#[test]
fn the_best_method_finds_links_better_than_the_published_one() {
    let (lab, document) = run(COMPARE, &[]);
    let [published, best] = ["published", "best"].map(|name| score(&document, name, "average_precision"));
    assert!(best > published + 0.05, "average precision {best}, published {published}");
    let [published, best] = ["published", "best"].map(|name| score(&document, name, "log_loss_per_link"));
    assert!(best < published, "log loss {best}, published {published}");
    for multiple in ["best, edge_multiple-1", "best, edge_multiple-2"] {
        assert!(score(&document, multiple, "accuracy") > 0.0);
    }
    let kept = ["best, edge_multiple-1", "best, edge_multiple-2"].map(|name| score(&document, name, "graph_entries"));
    assert!((kept[1] / kept[0] - 2.0).abs() < 0.05, "{kept:?}");
    let planned = lab.call(&["--quiet", "plan", "compare.toml"]).out;
    assert!(planned.contains(" are fresh, 0 would run, and 0 after them"), "{planned}");
    let shown = lab.call(&["show", "compare/similarity/best/similar_pairs", "--head", "1"]);
    assert!(shown.status == 0 && shown.out.contains("bin"), "{}{}", shown.out, shown.err);
}

/// The features of this graph say little of links beyond classes, so what is learned is small or dropped, and the method
/// stays ahead. Twice the standard error of a difference of average precisions is below 0.05 here.
#[test]
fn a_learned_score_is_read_off_features_and_refused_without_them() {
    let learned = "estimate = { method = \"best\", learned_score = true }";
    let text = COMPARE.replace("estimate.method = \"best\"", learned);
    let (_, document) = run(&text, &[]);
    let [published, best] = ["published", "best"].map(|name| score(&document, name, "average_precision"));
    assert!(best > published + 0.05, "average precision {best}, published {published}");
    let lab = Lab::with("compare.toml", text.replace("features = 60", "features = 0"));
    let answer = lab.call(&["run", "compare.toml"]);
    assert!(answer.status == 2 && answer.err.contains("remove learned_score"), "{}", answer.err);
    assert!(!lab.has_entries());
}

/// What the tasks of a stage function of `estimate` are made from, by their manifests.
fn recipes(lab: &Lab, document: &Value, function: &str) -> Vec<Value> {
    let recipe = |row: &Value| -> Value {
        let path = row["outputs"]["link_model"]["path"].as_str().expect("a path");
        let manifest = fs::read(lab.path(path).with_file_name("manifest.json")).expect("a manifest");
        serde_json::from_slice::<Value>(&manifest).expect("JSON")["recipe"].clone()
    };
    let is_wanted = |row: &&Value| row["stage"] == "estimate" && row["function"] == function;
    rows(&document["stages"]).filter(is_wanted).map(recipe).collect()
}

/// Where the prior has blocks and the server holds features and labels, the score is learned whether or not that is said, by
/// one task. Where it is not learned, the task reads no features, and the parameters of other priors are what they were.
#[test]
fn a_score_is_learned_by_default_from_public_features_alone() {
    let base = COMPARE.split("[[compare]]").next().expect("a beginning");
    let text = format!(
        "{base}[[compare]]\nname = \"published\"\n[[compare]]\nname = \"best\"\nestimate.method = \"best\"\n\
         [[compare]]\nname = \"learned\"\nestimate = {{ method = \"best\", learned_score = true }}\n\
         [[compare]]\nname = \"without\"\nestimate = {{ method = \"best\", learned_score = false }}\n"
    );
    let links = ["--set", "evaluate.metrics=[\"link-error\"]", "--set", "trials=1"];
    let (lab, document) = run(&text, &links);
    let learns =
        |recipe: &Value| (recipe["params"]["learned_score"].clone(), recipe["inputs"].get("features").is_some());
    let mut best: Vec<(Value, bool)> = recipes(&lab, &document, "posterior-with-classes").iter().map(learns).collect();
    best.sort_by_key(|(_, reads_features)| *reads_features);
    assert_eq!(best, [(Value::Bool(false), false), (Value::Bool(true), true)]);
    let published: Vec<(Value, bool)> = recipes(&lab, &document, "posterior").iter().map(learns).collect();
    assert_eq!(published, [(Value::Bool(false), false)]);
    // Private features are no public ones.
    let private = base.replace("[estimate]\nmethod = \"published\"\n", "");
    let noisy = ["--set", "privatize.features={mechanism=\"one-bit\", epsilon=3.0}"];
    let (lab, document) = run(&private, &[&links[..], &noisy[..]].concat());
    let private: Vec<(Value, bool)> = recipes(&lab, &document, "posterior-with-classes").iter().map(learns).collect();
    assert_eq!(private, [(Value::Bool(false), false)]);
}

#[test]
fn a_graph_without_features_falls_back_and_says_so() {
    let text = COMPARE.replace("features = 60", "features = 0");
    let lab = Lab::with("compare.toml", text);
    let answer = lab.call(&["run", "compare.toml", "--json"]);
    assert_eq!(answer.status, 0, "{}", answer.err);
    assert!(
        answer.err.contains("the server holds no features, so the prior uses degrees and classes"),
        "{}",
        answer.err
    );
    let document: Value = serde_json::from_str(&answer.out).expect("JSON");
    assert!(score(&document, "best", "average_precision") > 0.0);
}

#[test]
fn withheld_features_are_read_by_no_stage() {
    let withheld = format!("references = []\n[privacy]\nfeatures = \"withheld\"\n{}", COMPARE.replacen(HEAD, "", 1));
    let lab = Lab::with("compare.toml", &withheld);
    let answer = lab.call(&["run", "compare.toml", "--set", "estimate.prior=beta-model+features"]);
    assert_eq!(answer.status, 2, "{}", answer.err);
    for part in ["compare.toml:3", "does not hold", "prior = \"beta-model\""] {
        assert!(answer.err.contains(part), "{part}: {}", answer.err);
    }
    assert!(!lab.has_entries());
    // Without features, links and classes are still believed together.
    for prior in ["beta-model", "blocks"] {
        let (_, document) = run(&withheld, &["--set", &format!("estimate.prior={prior}")]);
        assert!(rows(&document["metrics"]).all(|row| row["metric"] != "accuracy"), "nothing is trained on features");
        assert!(score(&document, "best", "average_precision") > 0.0);
    }
}

#[test]
fn alternatives_that_make_no_sense_are_named() {
    let cases = [
        ("[[compare]]\nname = \"best\"\nestimate.metod = \"best\"\n", "metod"),
        ("[[compare]]\nestimate.method = \"best\"\n", "every [[compare]] needs a name"),
        ("[[compare]]\nname = \"more\"\ntrials = 3\n", "`trials` of `more`"),
        ("compare = 3\n", "compare"),
    ];
    for (text, expected) in cases {
        let base = "[privatize.links]\nepsilon = 1\n";
        let whole = if text.starts_with("[[") { format!("{base}{text}") } else { format!("{text}{base}") };
        let lab = Lab::with("compare.toml", whole);
        let answer = lab.call(&["run", "compare.toml"]);
        assert_eq!(answer.status, 2, "{text}: {}", answer.err);
        assert!(answer.err.contains(expected), "{text}: {}", answer.err);
        assert!(!lab.has_entries());
    }
}

/// A star and a complete graph: no beta model has their noisy degrees, and their budgets used to end the process.
#[test]
fn extreme_graphs_have_estimates_at_every_budget() {
    let star: String = (1..200).map(|leaf| format!("0,{leaf}\n")).collect();
    let complete: String = (0..40).flat_map(|i| (0..i).map(move |j| format!("{i},{j}\n"))).collect();
    for (name, edges) in [("star", star), ("complete", complete)] {
        let lab = Lab::with(
            "config.toml",
            "name = \"extreme\"\ntrials = 1\n[ingest]\nedges = \"edges.csv\"\n[privatize.links]\n\
             epsilon = [0.05, 0.3, 0.5, 1.0, 2.0, 3.0, 8.0]\n[estimate]\nmethod = [\"best\", \"published\"]\n\
             [evaluate]\nmetrics = [\"link-error\"]\n",
        );
        lab.write("edges.csv", edges);
        for fraction in ["0.1", "\"auto-with-bits\""] {
            let document = lab.json(&["--set", &format!("privatize.links.degree_fraction={fraction}")]);
            let errors: Vec<f64> = rows(&document["metrics"])
                .filter(|row| row["metric"] == "mae")
                .filter_map(|row| row["mean"].as_f64())
                .collect();
            assert!(
                errors.len() >= 14 && errors.iter().all(|mae| (0.0..0.6).contains(mae)),
                "{name} {fraction}: {errors:?}"
            );
        }
    }
}

/// Labels and features of a few nodes: on graphs with few or all links, at budgets from next to none to infinite.
#[test]
fn extreme_graphs_with_labels_have_estimates_and_networks() {
    let star: String = (1..40).map(|leaf| format!("0,{leaf}\n")).collect();
    let complete: String = (0..30).flat_map(|i| (0..i).map(move |j| format!("{i},{j}\n"))).collect();
    let path: String = (1..50).map(|node| format!("{},{node}\n", node - 1)).collect();
    for (name, n_nodes, edges) in [("star", 40, star), ("complete", 30, complete), ("path", 50, path)] {
        for (n_classes, split) in
            [(2, "{train=0.5, validation=0.2, test=0.3}"), (3, "{train=0.6, validation=0.1, test=0.3}")]
        {
            let lab = Lab::with(
                "config.toml",
                format!(
                    "name = \"extreme\"\ntrials = 1\nreferences = []\n[ingest]\nedges = \"edges.csv\"\nlabels = \"labels.csv\"\n\
                     split = {split}\n[privatize.links]\nepsilon = [0.05, 1.0, 3.0, 20.0, inf]\n\
                     degree_fraction = \"auto-with-bits\"\n[estimate]\nmethod = \"best\"\n\
                     [train]\ntask = \"beliefs\"\n"
                ),
            );
            lab.write("edges.csv", &edges);
            let labels: String = (0..n_nodes).map(|node| format!("{node},{}\n", node % n_classes)).collect();
            lab.write("labels.csv", format!("id,target\n{labels}"));
            let document = lab.json(&[]);
            let of = |metric: &str| -> Vec<f64> {
                let found = rows(&document["metrics"]).filter(|row| row["metric"] == metric);
                found.filter_map(|row| row["mean"].as_f64()).collect()
            };
            let (errors, accuracies) = (of("mae"), of("accuracy"));
            assert!(errors.len() == 5 && errors.iter().all(|mae| (0.0..0.6).contains(mae)), "{name}: {errors:?}");
            assert!(
                accuracies.len() == 5 && accuracies.iter().all(|accuracy| (0.0..=1.0).contains(accuracy)),
                "{name}, {n_classes} classes: {accuracies:?}"
            );
        }
    }
}

/// Floors need no report, cost nothing, and a blend is at least as good on validation nodes as the network alone.
#[test]
fn floors_and_blends_stand_beside_networks() {
    let floors = r#"
[[compare]]
name = "majority"
privatize.links.mechanism = "no-links"
train = { task = "majority" }
[[compare]]
name = "features-only"
privatize.links.mechanism = "no-links"
train = { task = "beliefs" }
[[compare]]
name = "similar"
privatize.links.mechanism = "no-links"
construct.variant = "similar"
[[compare]]
name = "beliefs"
privatize.links.degree_fraction = "auto-with-bits"
estimate.method = "best"
train = { task = "beliefs" }
[[compare]]
name = "blended"
privatize.links.degree_fraction = "auto-with-bits"
estimate.method = "best"
train.blend = [false, true]
"#;
    let informative = COMPARE.replace("words = 8", "words = 8\ntopic_share = 0.9").replace("epochs = 5", "epochs = 60");
    let text = format!("{}{floors}", informative.split("[[compare]]").next().expect("a beginning"));
    let (lab, document) = run(&text, &[]);
    let majority = score(&document, "majority", "accuracy");
    for better in ["features-only", "similar", "beliefs"] {
        assert!(score(&document, better, "accuracy") > majority, "{better} beats the most frequent class");
    }
    let loss = |blend: &str| score(&document, &format!("blended, blend-{blend}"), "validation_loss");
    assert!(loss("true") <= loss("false"), "{} {}", loss("true"), loss("false"));
    for floor in ["majority", "features-only", "similar"] {
        let row = rows(&document["metrics"]).find(|row| row["estimate"] == floor).expect("a score");
        assert_eq!(row["epsilon"].as_f64(), Some(0.0), "{floor} costs nothing");
    }
    let shown = lab.call(&["show", "compare/estimate/beliefs,trial-0/class_beliefs", "--head", "1"]);
    assert!(shown.status == 0 && shown.out.contains("probabilities"), "{}{}", shown.out, shown.err);
}

#[test]
fn what_has_no_beliefs_or_no_features_is_refused() {
    let cases = [
        ("train.task=beliefs", "train.task", "nothing is (mechanism \"blink\")"),
        ("train.blend=true", "train.blend", "[estimate] prior = \"blocks\""),
        ("construct.variant=similar", "construct.variant", "belongs to mechanism = \"no-links\""),
        ("estimate.centred_ridge=1", "estimate", "set [estimate] match = true"),
        ("estimate.learned_score=true", "estimate", "set [estimate] prior = \"blocks\""),
    ];
    for (set, field, remedy) in cases {
        let lab = Lab::with("compare.toml", COMPARE.split("[[compare]]").next().expect("a beginning"));
        let answer = lab.call(&["run", "compare.toml", "--set", set]);
        assert_eq!(answer.status, 2, "{set}: {}", answer.err);
        assert!(answer.err.contains(field) && answer.err.contains(remedy), "{set}: {}", answer.err);
        assert!(!lab.has_entries());
    }
}

/// Reports at a smaller budget are those at a larger one with further noise, and every release is charged as if alone.
#[test]
fn nested_reports_lose_with_every_step() {
    let check = "[[check]]\nscore = \"average_precision\"\nno_worse_with = \"epsilon\"\nfail = true\n";
    let base = COMPARE.split("[[compare]]").next().expect("a beginning");
    let nested = base.replace("epsilon = 3\n", "epsilon = [1, 2, 4]\nnested = true\n");
    let more = ["--set", "evaluate.metrics=[\"link-error\"]"];
    let (lab, document) = run(&format!("{nested}{check}"), &more);
    assert_eq!(document["checks"][0]["passed"], true, "{}", document["checks"]);
    let digest = |document: &Value, label: &str| -> String {
        let found = rows(&document["stages"]).find(|row| row["stage"] == "privatize" && row["label"] == label);
        found.unwrap_or_else(|| panic!("no {label}"))["outputs"]["noisy_links"]["digest"].to_string()
    };
    let (_, alone) = run(&nested.replace("nested = true", "nested = false"), &more);
    let is_alone = |epsilon: &str| {
        let label = format!("epsilon-{epsilon},trial-0");
        digest(&document, &label) == digest(&alone, &label)
    };
    assert!(is_alone("4") && !is_alone("2") && !is_alone("1"), "the largest budget has nothing above it");
    let ledger: Value = serde_json::from_str(&lab.call(&["ledger", "--json"]).out).expect("JSON");
    let charged = rows(&ledger).filter(|row| row["relation"] == "list-bit" && row["trial"] == 0);
    let total: f64 = charged.filter_map(|row| row["epsilon"].as_f64()).sum();
    assert!((total - 7.0).abs() < 1e-9, "1, 2 and 4 nats: {total}");
    for (set, words) in [
        ("privatize.links.missing_share=0.1", "all report as they should"),
        ("privatize.links.nested=[[1]]", "nested is true or false"),
    ] {
        let lab = Lab::with("compare.toml", &nested);
        let answer = lab.call(&["run", "compare.toml", "--set", set]);
        assert!(answer.status == 2 && answer.err.contains(words), "{set}: {}", answer.err);
    }
}

/// A network that reads beliefs has one feature more for each class.
#[test]
fn networks_read_beliefs_beside_features() {
    let text =
        COMPARE.replace("construct.edge_multiple = [1, 2]", "train = { beliefs = true, blend = true, epochs = 5 }");
    let (lab, document) = run(&text, &[]);
    assert!(score(&document, "best", "accuracy") > 0.0);
    let shown = lab.call(&["show", "compare/train/best,trial-0/estimated_features", "--head", "1"]);
    assert!(shown.status == 0 && shown.out.contains("63"), "60 features and 3 classes: {}{}", shown.out, shown.err);
    let cases: [(&[&str], &str); 4] = [
        (&["train.beliefs=true"], "nothing is (mechanism \"blink\")"),
        (&["train.beliefs=true", "privatize.links.mechanism=non-private"], "nothing is (mechanism \"non-private\")"),
        (&["train={beliefs=true, inductive=true}"], "beliefs = true adds beliefs that were read off all links"),
        (&["train.beliefs=true", "estimate.features.hops=2"], "[estimate.features] hops averages"),
    ];
    for (sets, words) in cases {
        let lab = Lab::with("compare.toml", COMPARE.split("[[compare]]").next().expect("a beginning"));
        let arguments: Vec<&str> = sets.iter().flat_map(|set| ["--set", *set]).collect();
        let answer = lab.call(&[&["run", "compare.toml"], &arguments[..]].concat());
        assert!(answer.status == 2 && answer.err.contains(words), "{sets:?}: {}", answer.err);
        assert!(!lab.has_entries(), "{sets:?}");
    }
}

/// Where nothing is said, links and classes are believed together; whoever wants the estimator of the paper says so.
#[test]
fn the_best_method_is_the_default() {
    let base = COMPARE.split("[[compare]]").next().expect("a beginning");
    let functions = |text: &str| -> BTreeSet<String> {
        let (_, document) = run(text, &["--set", "evaluate.metrics=[\"link-error\"]", "--set", "trials=1"]);
        let of_stage = rows(&document["stages"]).filter(|row| row["stage"] == "estimate");
        of_stage.filter_map(|row| Some(row["function"].as_str()?.to_owned())).collect()
    };
    let named = |names: [&str; 2]| names.map(str::to_owned).into_iter().collect::<BTreeSet<_>>();
    assert_eq!(functions(base), named(["pair", "posterior"]));
    let default = base.replace("[estimate]\nmethod = \"published\"\n", "");
    assert_eq!(functions(&default), named(["pair", "posterior-with-classes"]));
}

/// Without features and labels that the server holds, the default reads what is there; a method that is named is meant.
#[test]
fn the_default_goes_without_withheld_features() {
    let text = "[privacy]\nfeatures = \"withheld\"\n[ingest]\nedges = \"edges.csv\"\nfeatures = \"features.csv\"\n\
                [privatize.links]\nepsilon = 2\n[evaluate]\nmetrics = [\"link-error\"]\n";
    let lab = Lab::with("config.toml", text);
    let edges: String = (0..60).map(|node| format!("{node},{}\n", (node + 1) % 60)).collect();
    lab.write("edges.csv", format!("source,target\n{edges}"));
    let features: String = (0..60).map(|node| format!("{node},{},1\n", node % 2)).collect();
    lab.write("features.csv", format!("node,a,b\n{features}"));
    let answer = lab.call(&["run", "config.toml"]);
    let warning =
        "the server holds no features, so the prior uses degrees, and blocks of nodes where the reports tell of any";
    assert!(answer.status == 0 && answer.err.contains(warning), "{}", answer.err);
    for named in ["estimate.method=best", "estimate.prior=blocks"] {
        let answer = lab.call(&["run", "config.toml", "--set", named]);
        assert!(answer.status == 2 && answer.err.contains("does not hold"), "{named}: {}", answer.err);
    }
}

/// A config of docs/benchmarks/estimators.md at two budgets, on a drawn graph in the place of its own.
fn config_on_a_drawn_graph(name: &str, arguments: &[&str]) -> (Lab, Value) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../configs").join(name);
    let text = fs::read_to_string(path).expect("a config");
    let is_kept = |line: &&str| !line.starts_with("dataset = ") && *line != "split = \"published\"";
    let kept: Vec<&str> = text.lines().filter(is_kept).collect();
    let drawn = "[ingest.synthetic]\nnodes = 200\nclasses = 3\nmean_degree = 6.0\nfeatures = 60\nwords = 8\n";
    let budgets = ["--set", "privatize.links.epsilon=[2, 6]"];
    run(&format!("{}\n{drawn}", kept.join("\n")), &[&budgets[..], arguments].concat())
}

/// What the tables of large graphs, of nested budgets and of several splits are made of is there.
#[test]
fn the_configs_of_the_tables_have_the_scores_that_these_read() {
    let cells = |document: &Value, metric: &str| -> BTreeSet<String> {
        let found = rows(&document["metrics"]).filter(|row| row["metric"] == metric);
        found.map(|row| format!("{} {}", row["alternative"].as_str().unwrap_or_default(), row["epsilon"])).collect()
    };
    let named = |cells: &[&str]| cells.iter().map(|&cell| cell.to_owned()).collect::<BTreeSet<_>>();

    let (_, large) = config_on_a_drawn_graph("compare-large.toml", &[]);
    let of_links = ["average_precision", "log_loss_per_link", "mae", "expected_link_ratio"];
    for metric in of_links.into_iter().chain(["calibration_error", "expected_calibration_error"]) {
        assert_eq!(
            cells(&large, metric),
            named(&["best 2.0", "best 6.0", "published 2.0", "published 6.0"]),
            "{metric}"
        );
    }

    let (_, monotone) = config_on_a_drawn_graph("monotone.toml", &["--set", "trials=2"]);
    let steps = named(&["beliefs 2.0", "beliefs 6.0", "best 2.0", "best 6.0"]);
    assert_eq!(cells(&monotone, "accuracy"), steps);
    assert_eq!(cells(&monotone, "average_precision"), steps);
    let judged: Vec<u64> = rows(&monotone["checks"]).filter_map(|check| check["cells"].as_u64()).collect();
    assert_eq!(judged, [2, 1], "one step of two accuracies, and one of links");

    let one = ["--set", "trials=1"];
    let (lab, splits) = config_on_a_drawn_graph("splits.toml", &one);
    for metric in ["accuracy", "test_nodes"] {
        assert_eq!(cells(&splits, metric), named(&["best 2.0", "best 6.0", "features-only 0.0"]), "{metric}");
    }
    let seeds: BTreeSet<&str> =
        rows(&splits["metrics"]).filter_map(|row| row["choices"]["ingest.split.seed"].as_str()).collect();
    assert_eq!(seeds, BTreeSet::from(["0", "1", "2", "3"]));
    let budgets = ["--set", "privatize.links.epsilon=[2, 6]", "--over", "ingest.split.seed"];
    let table = lab.call(&[&["table", "compare.toml"], &one[..], &budgets[..]].concat());
    assert!(
        table.status == 0 && table.out.contains("over 4 values of `ingest.split.seed`"),
        "{}{}",
        table.out,
        table.err
    );
}
