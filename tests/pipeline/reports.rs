//! Reports that are incomplete or too large.

use crate::support::{Lab, rows};

/// A tenth of the nodes never answers: refused by default, scored with one-sided claims on request.
#[test]
fn missing_nodes_are_refused_or_weighed_one_sided() {
    let lab = Lab::tiny();
    let simulated = ["--set", "privatize.links.missing_share=0.1"];
    let answer = lab.call(&[&["run", "config.toml"], simulated.as_slice()].concat());
    assert_eq!(answer.status, 1, "{}", answer.err);
    for word in ["sent no report", "of 120 nodes", "missing_nodes = \"one-sided\""] {
        assert!(answer.err.contains(word), "`{word}` is not in {}", answer.err);
    }
    let one_sided = ["--set", "estimate.missing_nodes=one-sided"];
    let document = lab.json(&[simulated.as_slice(), &one_sided].concat());
    let mean = |document: &serde_json::Value, metric: &str| {
        let score = rows(&document["metrics"]).find(|score| score["metric"] == metric).expect("scored");
        score["mean"].as_f64().expect("a number")
    };
    let complete = lab.json(&[]);
    let (fewer, all) = (mean(&document, "average_precision"), mean(&complete, "average_precision"));
    assert!(fewer > 0.5 && fewer < all, "average precision {fewer} with missing nodes, {all} without");
    assert!(mean(&document, "accuracy") > 0.3);
}

/// 120 nodes at 1 nat: two planes of 120² bits are 3,600 bytes.
#[test]
fn reports_beyond_the_memory_limit_are_not_made() {
    let lab = Lab::tiny();
    let run = |limit: &str| {
        lab.call(&[
            "run",
            "config.toml",
            "--set",
            "privatize.links.epsilon=1",
            "--memory-limit",
            limit,
            "--until",
            "estimate",
        ])
    };
    // The synthetic graph takes more.
    assert_eq!(lab.call(&["run", "config.toml", "--until", "ingest"]).status, 0);
    let answer = run("3599B");
    assert_eq!(answer.status, 1, "{}", answer.err);
    for word in ["noisy_links would take", "--memory-limit", "docs/config.md"] {
        assert!(answer.err.contains(word), "`{word}` is not in {}", answer.err);
    }
    assert!(!lab.call(&["ls"]).out.contains("privatize"), "nothing half-written");
    // n²/4 bytes for either, and a list of similar pairs with nothing in it beside the evidence.
    assert!(run("4559B").err.contains("link_evidence would take"));
    assert_eq!(run("4560B").status, 0);
    assert_eq!(run("lots").status, 2);
}

/// A hidden unit has a weight for every feature and class, so that a million of them take more than 16 MiB for one network. Of 2,000
/// units, 88,000 parameters fit into 2 MiB with all that is kept for each, but what three copies keep for the 120 nodes does not.
#[test]
fn networks_beyond_the_memory_limit_are_not_trained() {
    let lab = Lab::tiny();
    for (hidden, limit) in [("1000000", "16"), ("2000", "2")] {
        let (hidden, limit_given) = (format!("train.hidden={hidden}"), format!("{limit}MiB"));
        let answer = lab.call(&["run", "config.toml", "--set", &hidden, "--memory-limit", &limit_given]);
        assert_eq!(answer.status, 1, "{}", answer.err);
        let limit = format!("more than {limit}.0 MiB");
        for word in
            ["a network has ", "numbers on the host while it trains", &limit, "--memory-limit", "docs/config.md"]
        {
            assert_eq!(answer.err.matches(word).count(), 1, "`{word}` in {}", answer.err);
        }
    }
}

/// Of 2,000 units, two networks take 9 MiB while they train side by side. So they fit into 10 MiB where one grid trains at a time, and do
/// not where two grids share these. Results are the same.
#[test]
fn grids_that_train_side_by_side_share_the_memory_limit() {
    let scores = |trials: &str, jobs: &str| {
        let lab = Lab::tiny();
        let grid = ["--set", "train.hidden=2000", "--set", "train.learning_rate=[0.01,0.02]", "--set", trials];
        let command = ["-v", "run", "config.toml", "--json", "--memory-limit", "10MiB", "--jobs", jobs];
        let mut command = lab.command(&[&command[..], &grid[..]].concat());
        let output = command.env("RAYON_NUM_THREADS", "2").output().expect("runs");
        let (out, log) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert!(output.status.success(), "{log}");
        let document: serde_json::Value = serde_json::from_str(&out).expect("a document");
        (document["metrics"].clone(), log.matches("1 of 2 models train at a time").count())
    };
    let (alone, shared) = (scores("trials=2", "1"), scores("trials=2", "2"));
    assert_eq!((alone.1, shared.1), (0, 2));
    assert_eq!(alone.0, shared.0);
    assert_eq!(scores("trials=1", "2").1, 0, "one task has the whole limit");
}
