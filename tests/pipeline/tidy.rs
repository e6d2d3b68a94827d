//! Promises about the source itself.

use std::fs;
use std::path::{Path, PathBuf};

use crate::support::ORDER;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn rust_files(folder: &Path, found: &mut Vec<PathBuf>) {
    for item in fs::read_dir(folder).expect("readable") {
        let path = item.expect("readable").path();
        if path.is_dir() {
            rust_files(&path, found);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            found.push(path);
        }
    }
}

fn sources() -> Vec<PathBuf> {
    let mut found = Vec::new();
    ["kernels", "stages", "pipeline", "client"].iter().for_each(|folder| rust_files(&root().join(folder), &mut found));
    found.retain(|path| !path.ends_with("tests.rs"));
    found
}

/// What the server may see is a decision: whoever adds an artifact edits this list.
#[test]
fn the_list_of_public_artifacts_is_pinned() {
    let mut public: Vec<String> = sources()
        .iter()
        .flat_map(|path| fs::read_to_string(path).expect("readable").lines().map(str::to_owned).collect::<Vec<_>>())
        .filter_map(|line| Some(line.strip_prefix("impl Public for ")?.split(' ').next()?.to_owned()))
        .collect();
    public.sort();
    let pinned = [
        "ChosenSettings",
        "ClassBeliefs",
        "Curves",
        "Embeddings",
        "EstimatedFeatures",
        "Features",
        "Groups",
        "Labels",
        "LikelyPairs",
        "LikelyThreshold",
        "LinkEvidence",
        "LinkModel",
        "LinkSample",
        "LogitCounts",
        "ModelWeights",
        "NodeMap",
        "Nodes",
        "NoisyCounts",
        "NoisyDegrees",
        "NoisyEntries",
        "NoisyFeatures",
        "NoisyLabels",
        "NoisyLinks",
        "Predictions",
        "ReleasedModel",
        "SimilarPairs",
        "WeightedGraph",
    ];
    assert_eq!(public, pinned);
}

#[test]
fn make_knows_the_stages_in_their_order() {
    let makefile = fs::read_to_string(root().join("Makefile")).expect("a Makefile");
    // `make audit` runs the audit of the repository.
    let targets: Vec<&str> = ORDER.into_iter().filter(|stage| *stage != "audit").collect();
    assert!(makefile.contains(&format!("\n{}: build", targets.join(" "))), "one target per stage, in order");
}

#[test]
fn dependencies_point_one_way() {
    let manifest = |folder: &str, name: &str| {
        fs::read_to_string(root().join(folder).join(name).join("Cargo.toml")).expect("a manifest")
    };
    let ours = |text: &str| -> Vec<String> {
        let names = text
            .lines()
            .filter_map(|line| line.strip_prefix("veilgraph-")?.split(['.', ' ']).next().map(str::to_owned));
        names.collect()
    };
    for stage in ORDER {
        for below in ours(&manifest("stages", stage)) {
            assert!(
                ["contract", "bounds", "graph", "privacy", "posterior", "operator", "nn", "attack"]
                    .contains(&below.as_str()),
                "{stage} uses {below}"
            );
        }
    }
    // A crate of its own, so that a change of it trains no network of the server again.
    for below in ours(&manifest("stages", "train-central")) {
        let known = ["contract", "noise", "graph", "privacy", "accountant", "dp-sgd"];
        assert!(known.contains(&below.as_str()), "train-central uses {below}");
    }
    // Each kernel may use those before it.
    let kernels = [
        "contract",
        "noise",
        "bounds",
        "exposure",
        "graph",
        "privacy",
        "posterior",
        "operator",
        "nn",
        "attack",
        "accountant",
        "dp-sgd",
        "statistics",
    ];
    for (place, kernel) in kernels.iter().enumerate().skip(1) {
        for below in ours(&manifest("kernels", kernel)) {
            assert!(kernels[..place].contains(&below.as_str()), "{kernel} uses {below}");
        }
    }
    assert!(ours(&manifest("kernels", "noise")).is_empty());
    // Of these, `privacy` is what the tests of a device compare its draws with.
    assert_eq!(ours(&manifest("client", "")), ["contract", "noise", "privacy"]);
    assert_eq!(ours(&manifest("pipeline", "store")), ["contract"]);
    // Of these, `contract` is what its tests make artifacts with.
    assert_eq!(ours(&manifest("pipeline", "cache")), ["store", "contract"]);
    assert!(ours(&manifest("pipeline", "contract")).is_empty());
    // The commands alone use the runner, and the program alone uses the commands.
    for (user, used) in [("commands", "runner"), ("program", "commands")] {
        let users: Vec<&str> = ["store", "cache", "runner", "commands", "program"]
            .into_iter()
            .filter(|name| ours(&manifest("pipeline", name)).iter().any(|below| below == used))
            .collect();
        assert_eq!(users, [user]);
    }
}

/// Files of one idea: at 300 lines of code, look for the second.
#[test]
fn no_source_file_needs_an_hour() {
    for path in sources() {
        let lines = fs::read_to_string(&path).expect("readable").lines().count();
        assert!(lines <= 300, "{} has {lines} lines", path.display());
    }
}
