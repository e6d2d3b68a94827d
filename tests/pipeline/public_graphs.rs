//! Public graphs take the place of the private one in `advise`.

use serde_json::Value;
use toml::Table;
use veilgraph_contract::{HeldOut, Private};
use veilgraph_graph::{AdjacencyList, Labels};
use veilgraph_store::read_table;

use crate::support::{Lab, data_dir};

const KNOWN: [&str; 10] =
    ["advise", "--nodes", "3000", "--mean-degree", "4", "--classes", "7", "--homophily", "0.8", "--public-graphs=1"];

#[test]
fn public_graphs_must_be_at_hand() {
    let lab = Lab::new();
    std::fs::create_dir(lab.path("empty")).expect("a folder");
    for (more, words) in [
        (&[][..], "say where they are with --data-dir"),
        (&["--data-dir", "nowhere"], "nowhere: there is no such folder; check --data-dir"),
        (&["--data-dir", "empty"], "holds 0 public graphs with classes and at most 25000 nodes"),
        (&["--data-dir", "empty", "--features-accuracy", "0.7"], "with classes and features"),
    ] {
        let answer = lab.call(&[&KNOWN[..], more].concat());
        assert!(answer.status == 2 && answer.err.contains(words), "`{words}` is not in {}", answer.err);
    }
    // A file of one's own that has the name of a public one is not taken for it, and nothing is said of it.
    for file in ["edges.csv", "target.csv"] {
        lab.write(&format!("empty/lastfm/{file}"), "id,target\n0,1\n");
    }
    let answer = lab.call(&[&KNOWN[..], &["--data-dir", "empty"]].concat());
    assert!(answer.status == 2 && answer.err.contains("holds 0 public graphs"), "{}", answer.err);
    assert!(!answer.err.contains("SHA-256"), "{}", answer.err);
    let answer = lab.call(&["advise", "--nodes", "3000", "--public-graphs=1", "--data-dir", "empty"]);
    assert!(answer.status == 2 && answer.err.contains("give --classes"), "{}", answer.err);
    assert!(!lab.has_entries());
}

/// The nearest graph is trained on, with features where the private graph has some and without them where it has none.
#[test]
fn the_nearest_public_graph_says_what_links_are_worth() {
    let Some(folder) = data_dir("the_nearest_public_graph_says_what_links_are_worth") else { return };
    let lab = Lab::new();
    let folder = folder.to_str().expect("UTF-8");
    let given = ["--data-dir", folder, "--epsilon", "8", "--json"];
    let advice = |more: &[&str]| -> Value {
        let answer = lab.call(&[&KNOWN[..], &given, more].concat());
        assert_eq!(answer.status, 0, "{}", answer.err);
        serde_json::from_str::<Value>(&answer.out).expect("JSON")["surrogates"][0].clone()
    };
    let first = |value: &Value| value[0].as_f64().expect("an accuracy");
    let worth = advice(&["--features-accuracy", "0.72", "--set", "train.epochs=60"]);
    assert_eq!(worth["graphs"], Value::from(vec!["cora"]));
    assert_eq!(worth["runs"], Value::from(vec!["advise-cora"]));
    let (with, without) = (first(&worth["with_links"][0]["accuracy"]), first(&worth["without_links"]));
    assert!(with > without + 0.05 && without > first(&worth["majority"]) + 0.2, "{worth}");
    let features = lab.path("artifacts/simulation/runs/advise-cora/ingest/all/features.parquet");
    assert!(features.exists(), "networks read features");
    let worth = advice(&[]);
    assert_eq!(worth["graphs"], Value::from(vec!["cora"]));
    assert!(first(&worth["with_links"][0]["accuracy"]) > first(&worth["majority"]) + 0.2, "{worth}");
    assert!(!features.exists(), "the private graph has no features, so those of the public one are withheld");
}

/// What `configs/datasets.toml` says about public graphs is what their files say.
#[test]
fn statistics_are_those_of_the_files() {
    let Some(folder) = data_dir("statistics_are_those_of_the_files") else { return };
    let known: Table = include_str!("../../configs/datasets.toml").parse().expect("TOML");
    let lab = Lab::new();
    let mut compared = 0;
    for (name, dataset) in &known {
        let Some(stated) = dataset.get("statistics") else { continue };
        let config = format!("name = \"{name}\"\n[ingest]\ndataset = \"{name}\"\n[privatize.links]\nepsilon = 1\n");
        lab.write("config.toml", config);
        lab.json(&["--until", "ingest", "--data-dir", folder.to_str().expect("UTF-8")]);
        let links = lab.path(&format!("artifacts/owner/runs/{name}/ingest/all/links.parquet"));
        let Private(graph): Private<AdjacencyList> = read_table(&links).expect("valid");
        let n = graph.n_nodes() as f64;
        let mean = 2.0 * graph.n_links() as f64 / n;
        let squares = (0..graph.n_nodes()).map(|node| (graph.degree(node) as f64 - mean).powi(2)).sum::<f64>();
        // The server holds the labels of training and validation nodes, and the auditor those of test nodes.
        let read = |side: &str, artifact: &str| {
            lab.path(&format!("artifacts/{side}/runs/{name}/ingest/all/{artifact}.parquet"))
        };
        let known: Labels = read_table(&read("simulation", "labels")).expect("valid");
        let HeldOut(others): HeldOut<Labels> = read_table(&read("auditor", "held_out_labels")).expect("valid");
        let class = |node: usize| known.class(node as u32).or_else(|| others.class(node as u32));
        let (mut inside, mut between) = (0, 0);
        for node in 0..graph.n_nodes() {
            for &other in graph.neighbours(node) {
                match (class(node), class(other as usize)) {
                    (Some(one), Some(other)) if one == other => inside += 1,
                    (Some(_), Some(_)) => between += 1,
                    // Of some nodes no class is known.
                    _ => {}
                }
            }
        }
        let homophily = f64::from(inside) / f64::from(inside + between);
        let value = |field: &str| stated[field].as_float().expect("a number");
        assert_eq!(stated["classes"].as_integer(), Some(known.n_classes() as i64), "{name}");
        assert!((value("homophily") - homophily).abs() < 1e-4, "{name}: homophily {homophily}");
        assert!((value("mean_degree") - mean).abs() < 1e-4, "{name}: mean degree {mean}");
        assert!((value("degree_spread") - (squares / n).sqrt() / mean).abs() < 1e-4, "{name}: spread");
        assert_eq!(dataset["n_nodes"].as_integer(), Some(graph.n_nodes() as i64), "{name}");
        compared += 1;
    }
    assert!(compared >= 8);
}
