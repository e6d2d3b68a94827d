//! The server works without owner data; every release is in the ledger.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use serde_json::Value;

use crate::support::{Lab, copy_folder, rows};

#[test]
fn the_server_side_runs_in_a_copy_without_owner_data() {
    let owner = Lab::tiny();
    let whole = owner.json(&["--set", "construct.variant=[\"hybrid\", \"soft\"]"]);
    // The owner ran everything; the server gets the store without private folders and redoes its part.
    let server = Lab::tiny();
    copy_folder(&owner.path("artifacts"), &server.path("artifacts"));
    for private in ["owner", "auditor", "simulation/estimate", "simulation/construct", "simulation/train"] {
        fs::remove_dir_all(server.path("artifacts").join(private)).expect("removed");
    }
    let arguments = ["--side", "server", "--until", "train", "--set", "construct.variant=[\"hybrid\", \"soft\"]"];
    let refused = server.call(&[&["run", "config.toml"], &arguments[..]].concat());
    assert!(refused.status == 1 && refused.err.contains("--simulation"), "{}", refused.err);
    let document = server.json(&[&arguments[..], &["--simulation"]].concat());
    let ran: Vec<&Value> = rows(&document["stages"]).filter(|row| row["status"] == "ran").collect();
    assert!(["estimate", "construct", "train"].iter().all(|stage| ran.iter().any(|row| row["stage"] == *stage)));
    assert!(ran.iter().all(|row| row["stage"] != "ingest" && row["stage"] != "privatize"));
    for row in ran {
        let same = rows(&whole["stages"])
            .find(|other| ["stage", "function", "label"].iter().all(|name| other[*name] == row[*name]));
        assert_eq!(same.expect("the same run")["key"], row["key"]);
        let digests = |row: &Value| -> Vec<String> {
            row["outputs"].as_object().expect("outputs").values().map(|output| output["digest"].to_string()).collect()
        };
        assert_eq!(digests(same.expect("the same run")), digests(row), "byte for byte");
    }
    assert!(!server.path("artifacts/owner").exists(), "the server made no owner data, not even a secret");
}

#[test]
fn the_server_side_needs_what_the_owner_released() {
    let lab = Lab::tiny();
    let answer = lab.call(&["run", "config.toml", "--side", "server", "--until", "train"]);
    assert_eq!(answer.status, 1);
    assert!(answer.err.contains("without --side server"), "{}", answer.err);
}

#[test]
fn owner_files_are_apart_and_closed() {
    let lab = Lab::tiny();
    let document = lab.json(&[]);
    let ingest = rows(&document["stages"]).find(|row| row["stage"] == "ingest").expect("ingest").clone();
    for (artifact, owner) in [("links", true), ("features", false), ("nodes", false), ("labels", false)] {
        assert_eq!(ingest["outputs"][artifact]["owner"], owner, "{artifact}");
    }
    let links = ingest["outputs"]["links"]["path"].as_str().expect("a path");
    assert!(links.contains("artifacts/owner/ingest/"), "{links}");
    let held_out = ingest["outputs"]["held_out_labels"]["path"].as_str().expect("a path");
    assert!(held_out.contains("artifacts/auditor/"), "{held_out}");
    for folder in
        ["artifacts", "artifacts/owner", "artifacts/auditor", "artifacts/simulation", "artifacts/owner/ingest"]
    {
        let mode = fs::metadata(lab.path(folder)).expect("there").permissions().mode() & 0o777;
        assert_eq!(mode, 0o700, "{folder}");
    }
    let mode = fs::metadata(lab.path(links)).expect("there").permissions().mode() & 0o777;
    assert_eq!(mode, 0o600, "{links}");
}

#[test]
fn every_release_has_rows_in_the_ledger_and_is_charged_once() {
    let lab = Lab::tiny();
    let ledger = || -> Vec<Value> {
        let answer = lab.call(&["ledger", "--json"]);
        serde_json::from_str::<Value>(&answer.out).expect("JSON").as_array().expect("rows").clone()
    };
    lab.json(&[]);
    let rows = ledger();
    assert_eq!(rows.len(), 8, "two trials, links and degree, list bit and edge");
    let total = |relation: &str, trial: u64| -> f64 {
        let mine = rows.iter().filter(|row| row["relation"] == relation && row["trial"] == trial);
        mine.map(|row| row["epsilon"].as_f64().expect("a number")).sum()
    };
    assert!((total("list-bit", 0) - 6.0).abs() < 1e-12 && (total("edge", 1) - 12.0).abs() < 1e-12);
    assert!(rows.iter().all(|row| row["deployable"] == false && row["randomness"] == "seeded"));
    lab.json(&["--set", "train.epochs=3"]);
    assert_eq!(ledger().len(), 8, "another model reuses the release");
    fs::remove_dir_all(lab.path("artifacts/simulation/privatize")).expect("removed");
    assert_eq!(lab.ran(&[]), ["privatize"]);
    assert_eq!(ledger().len(), 8, "the same seeded release, made again");
    lab.json(&["--set", "privatize.links.degree_noise=laplace"]);
    let rows = ledger();
    assert_eq!(rows.len(), 16, "another mechanism is another release");
    assert!(
        rows[8..].iter().any(|row| row["target"] == "degree" && row["sound"] == false),
        "floating-point noise is marked"
    );
    let text = lab.call(&["ledger"]).out;
    assert!(text.contains("nats per undirected link"), "{text}");
}

/// Non-interference: two graphs that differ where nobody sends anything give the server the same bytes.
/// (A link between two missing nodes is told by no report; its release is the same, so must be all that follows.)
#[test]
fn what_the_reports_do_not_say_reaches_no_file_of_the_server() {
    const NODES: u32 = 60;
    let config = "name = \"twins\"\nreferences = []\n[ingest]\nedges = \"e.csv\"\nlabels = \"l.csv\"\nfeatures = \"f.csv\"\n\
                  [privatize.links]\nepsilon = 3\ndegree_fraction = 0.4\nmissing_share = 0.3\n\
                  [estimate]\nmethod = \"published\"\nmissing_nodes = \"one-sided\"\nridge = 0.1\n\
                  [construct]\nvariant = [\"hard\", \"soft\", \"hybrid\"]\n[train]\nepochs = 5\n";
    let lab_with = |links: &[(u32, u32)]| {
        let lab = Lab::with("config.toml", config);
        lab.write("e.csv", links.iter().map(|(a, b)| format!("{a},{b}\n")).collect::<String>());
        lab.write("l.csv", (0..NODES).map(|node| format!("{node},{}\n", node % 3)).collect::<String>());
        lab.write("f.csv", (0..NODES).map(|node| format!("{node},{},1\n", node % 5)).collect::<String>());
        lab
    };
    let ring: Vec<(u32, u32)> = (0..NODES).map(|node| (node, (node + 1) % NODES)).collect();
    let first = lab_with(&ring);
    let released = |lab: &Lab| -> Vec<(String, String)> {
        let document = lab.json(&["--until", "train"]);
        assert_ne!(document["stages"][0]["outputs"]["links"]["digest"], Value::Null);
        let mut all = crate::support::digests(&document);
        all.retain(|(name, _)| !name.ends_with(" links") && !name.ends_with("held_out_labels"));
        all
    };
    let before = released(&first);
    let degrees = "twins/privatize/trial-0/noisy_degrees";
    let sql = |node: u32| format!("SELECT COUNT(*) AS sent FROM artifact WHERE node = {node}");
    let is_missing = |node: u32| first.call(&["show", degrees, "--sql", &sql(node)]).out.contains("│ 0 ");
    let missing: Vec<u32> = (0..NODES).filter(|&node| is_missing(node)).take(4).collect();
    assert_eq!(missing.len(), 4, "a third of the nodes is missing");
    for (a, b) in [(missing[0], missing[2]), (missing[1], missing[3])] {
        let twin = lab_with(&[ring.as_slice(), &[(a, b)]].concat());
        assert_eq!(released(&twin), before, "the link ({a}, {b}) is told by a file of the server");
    }
    let told = lab_with(
        &[ring.as_slice(), &[(missing[0], (0..NODES).find(|&node| !is_missing(node) && node > 5).expect("one"))]]
            .concat(),
    );
    assert_ne!(released(&told), before, "a link that one end reports changes its report");
}
