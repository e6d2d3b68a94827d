//! Figures beside published ones.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::support::{Lab, TINY, data_dir, rows};

const SETTINGS: &str =
    "method,variant_or_baseline,dataset,model,eps,dropout,lr,weight_decay,delta,lr_theta,lr_adj,lam1,lam2
blink,hard,synthetic,gcn,6,0.01,0.1,0.001,0.3,,,,
baseline,rr,synthetic,gcn,6,0.1,0.05,0.0001,,,,,
baseline,solitude,synthetic,gcn,6,0.1,,0.002,,0.02,0.03,0.004,0.005
blink,hard,synthetic,gcn,inf,0.1,0.03,0.001,,,,,
blink,hard,synthetic,mlp,inf,0.2,0.04,0.001,,,,,
";

const ACCURACY: &str = "method,variant_or_baseline,dataset,model,eps,mean,std
blink,hard,synthetic,gcn,6,0.75,0.01
baseline,rr,synthetic,gcn,6,0.25,0.02
nonprivate,hard,synthetic,gcn,inf,0.8,0.01
nonprivate,hard,synthetic,mlp,inf,0.6,0.01
";

const MAE: &str = "method,dataset,eps,mae_mean,mae_std,theory_bound
blink,synthetic,6,0.0006,0.0001,0.01
";

/// A lab with the tiny experiment and published figures about it.
fn lab() -> Lab {
    let lab = Lab::tiny();
    lab.write("published/published_best_hp.csv", SETTINGS);
    lab.write("published/published_accuracy.csv", ACCURACY);
    lab.write("published/published_mae.csv", MAE);
    lab
}

const SWEEP: [&str; 4] = [
    "--set",
    "privatize.links.mechanism=[\"blink\", \"rr\", \"ldpgen\", \"solitude\", \"non-private\", \"no-links\"]",
    "--set",
    "construct.variant=[\"hard\", \"soft\"]",
];

#[test]
fn a_published_profile_takes_the_settings_of_each_cell() {
    let lab = lab();
    let profile = ["--set", "profile=published", "--published", "published"];
    let document = lab.json(&[&SWEEP[..], &["--set", "ingest.dataset=synthetic"], &profile].concat());
    let setting = |mechanism: &str| {
        let row = rows(&document["metrics"]).find(|row| row["mechanism"] == mechanism && row["metric"] == "accuracy");
        row.map(|row| (row["setting"].as_str().expect("text").to_owned(), row["degree_fraction"].clone()))
    };
    let (blink, fraction) = setting("blink").expect("it was published");
    assert!(blink.contains("learning_rate=0.1 weight_decay=0.001 dropout=0.01") && fraction == 0.3, "{blink}");
    assert!(setting("rr").expect("published").0.contains("learning_rate=0.05"));
    assert!(setting("solitude").expect("published").0.contains("learning_rate=0.02 weight_decay=0.002"));
    assert!(setting("non-private").expect("published").0.contains("learning_rate=0.03"));
    assert!(setting("no-links").expect("published").0.contains("learning_rate=0.04"));
    assert!(setting("ldpgen").is_none(), "nothing was published of it");
    let soft = rows(&document["metrics"]).find(|row| row["variant"] == "soft");
    assert!(soft.is_none(), "nor of soft graphs");
}

#[test]
fn a_published_profile_without_figures_is_refused() {
    for (arguments, words) in [
        (vec!["--set", "profile=published"], vec!["profile", "--published DIR"]),
        (vec!["--set", "profile=published", "--published", "nowhere"], vec!["nowhere", "no such folder"]),
        (vec!["--published", "."], vec!["holds no published_*.csv"]),
        (vec!["--set", "profile=unfair"], vec!["profile", "unfair"]),
    ] {
        let answer = lab().call(&[&["run", "config.toml"], &arguments[..]].concat());
        assert!(answer.status != 0 && words.iter().all(|word| answer.err.contains(word)), "{}", answer.err);
    }
    let lab = lab();
    for search in ["train.search=racing", "train.search=halving"] {
        let sets = ["ingest.dataset=synthetic", "construct.variant=hard", "profile=published", search];
        let arguments: Vec<&str> = sets.into_iter().flat_map(|set| ["--set", set]).collect();
        let answer = lab.call(&[&["run", "config.toml", "--published", "published"], &arguments[..]].concat());
        let words = ["profile = \"published\"", "remove `search`"];
        assert!(answer.status == 2 && words.iter().all(|word| answer.err.contains(word)), "{}", answer.err);
    }
    lab.write("published/published_accuracy.csv", ACCURACY.replace("0.75", "three quarters"));
    let answer = lab.call(&["run", "config.toml", "--published", "published"]);
    assert!(answer.status == 1 && answer.err.contains("published_accuracy.csv"), "{}", answer.err);
}

#[test]
fn a_report_sets_published_figures_beside_ours() {
    let lab = lab();
    lab.write("second.toml", TINY.replace("\"tiny\"", "\"second\"").replace("epsilon = 6.0", "epsilon = [2.0, 4.0]"));
    let arguments = [&SWEEP[..], &["--set", "ingest.dataset=synthetic", "--published", "published"]].concat();
    let run = lab.call(&[&["run", "config.toml", "second.toml"], &arguments[..]].concat());
    assert_eq!(run.status, 0, "{}", run.err);
    let answer = lab.call(&[&["report", "config.toml", "second.toml", "--name", "both"], &arguments[..]].concat());
    assert_eq!(answer.status, 0, "{}", answer.err);
    let page = fs::read_to_string(lab.path("artifacts/auditor/reports/both.html")).expect("the page");
    let words = [
        "Beside the published figures",
        "mae: 1 of 1 cells within",
        "its split is not the published one",
        "its hyperparameters are not those",
        "published, by another protocol",
        "tiny",
        "second",
        "randomized response",
    ];
    for word in words {
        assert!(page.contains(word), "{word} is not on the page");
    }
    assert!(!page.contains("order of methods"), "accuracies of another split are not compared");
    let file = |ending: &str| {
        let path = lab.path(&format!("artifacts/auditor/reports/both/tiny-synthetic-accuracy-gcn.{ending}"));
        fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    };
    assert!(
        file("png").starts_with(b"\x89PNG") && file("svg").starts_with(b"<svg") && file("parquet").starts_with(b"PAR1")
    );
    let csv = String::from_utf8(file("csv")).expect("text");
    let blink = csv.lines().find(|line| line.starts_with("blink hard")).expect("a line of Blink");
    assert!(blink.contains(",75.0,1.0") || blink.contains(",75,1"), "the published value in per cent: {blink}");
    let soft = csv.lines().find(|line| line.starts_with("blink soft")).expect("a line of soft graphs");
    assert!(soft.contains(",2,,,"), "two trials, and nothing was published of it: {soft}");
    let density = lab.path("artifacts/auditor/reports/both/tiny-synthetic-density.csv");
    let density = fs::read_to_string(density).expect("the figure of densities");
    assert!(density.contains("links that there are") && density.contains("true_entries"), "{density}");
    let twice = lab.call(&["run", "config.toml", "config.toml"]);
    assert!(twice.status == 2 && twice.err.contains("two configs are named `tiny`"), "{}", twice.err);
}

/// A field that the published protocol does not have makes another experiment, however the estimator is named.
#[test]
fn only_the_published_protocol_is_compared_with_its_figures() {
    let lab = lab();
    for (sets, is_comparable) in [
        (vec!["estimate.method=published"], true),
        (vec!["estimate.solver=fixed-point-200", "privatize.links.degree_noise=laplace"], true),
        (vec!["estimate.degrees=empirical-bayes"], false),
        (vec!["estimate.ridge=0.01"], false),
        (vec!["estimate.method=best"], false),
        (vec!["construct.edge_multiple=2"], false),
        (vec!["privatize.links.missing_share=0.02", "estimate.missing_nodes=one-sided"], false),
    ] {
        let sets: Vec<&str> = sets.into_iter().flat_map(|set| ["--set", set]).collect();
        let arguments = [&sets[..], &["--published", "published"]].concat();
        lab.json(&arguments);
        let report = lab.call(&[&["report", "config.toml"], &arguments[..]].concat());
        assert_eq!(report.status, 0, "{sets:?}: {}", report.err);
        let csv = fs::read_to_string(lab.path("artifacts/auditor/reports/tiny/synthetic-mae.csv")).expect("the figure");
        let mut reader = csv::Reader::from_reader(csv.as_bytes());
        let header = reader.headers().expect("a header").clone();
        let at = |name: &str| header.iter().position(|column| column == name).expect(name);
        let (metric, same) = (at("metric"), at("published_by_same_protocol"));
        let lines: Vec<csv::StringRecord> = reader.records().map(|record| record.expect("a row")).collect();
        let mae = lines.iter().find(|line| line[metric] == *"mae").expect("an error");
        assert_eq!(mae[same] == *"true", is_comparable, "{sets:?}: {csv}");
        let page = fs::read_to_string(lab.path("artifacts/auditor/reports/tiny.html")).expect("the page");
        assert_eq!(page.contains("otherwise than was published"), !is_comparable, "{sets:?}");
    }
}

/// Graphs of several sizes stand apart, and their errors are drawn against the size.
#[test]
fn a_sweep_over_nodes_is_a_figure_of_its_own() {
    let lab = Lab::tiny();
    let arguments = ["--set", "ingest.synthetic.nodes=[60, 120, 240]", "--set", "evaluate.metrics=[\"link-error\"]"];
    let document = lab.json(&arguments);
    let errors: Vec<&Value> = rows(&document["metrics"]).filter(|row| row["metric"] == "mae").collect();
    assert_eq!(errors.len(), 3, "one for each size");
    assert_eq!(lab.call(&[&["report", "config.toml"], &arguments[..]].concat()).status, 0);
    let csv = fs::read_to_string(lab.path("artifacts/auditor/reports/tiny/synthetic-nodes.csv")).expect("the figure");
    assert!(csv.lines().count() == 7 && csv.contains("slope -") && csv.contains("bound"), "{csv}");
}

/// The folder of this repository is one that `--published` takes, with a split for every graph of the paper.
#[test]
fn the_published_figures_of_the_repository_can_be_read() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../published");
    for dataset in ["cora", "citeseer", "lastfm", "facebook"] {
        let letters = fs::read_to_string(folder.join(format!("split_{dataset}.txt"))).expect("a split");
        assert!(letters.trim().chars().all(|letter| "TVE".contains(letter)), "{dataset}");
    }
    let lab = Lab::tiny();
    let folder = folder.to_string_lossy().into_owned();
    let answer = lab.call(&["run", "config.toml", "--until", "ingest", "--published", &folder]);
    assert_eq!(answer.status, 0, "{}", answer.err);
}

/// Every config of the paper is valid, names its own runs, and speaks of mechanisms that there are.
#[test]
fn the_configs_of_the_paper_can_be_planned() {
    let Some(data) = data_dir("the_configs_of_the_paper_can_be_planned") else { return };
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let lab = lab();
    for folder in ["configs/paper", "configs/paper-quick"] {
        let listed = fs::read_dir(root.join(folder)).expect("a folder");
        let configs: Vec<String> =
            listed.map(|item| item.expect("readable").path().to_string_lossy().into_owned()).collect();
        let configs: Vec<&str> = configs.iter().map(String::as_str).collect();
        assert!(configs.len() >= 5, "{folder}: {configs:?}");
        let (data, published) = (data.to_string_lossy(), root.join("published"));
        let folders = ["--data-dir", &data, "--published", &published.to_string_lossy()];
        let arguments = [&["plan"], &configs[..], &folders, &["--until", "ingest"]].concat();
        let answer = lab.call(&arguments);
        assert_eq!(answer.status, 0, "{folder}: {}", answer.err);
        assert!(!answer.err.contains("there is no published split"), "{folder}: {}", answer.err);
    }
}
