//! Defects that a reading of the code at commit 228681b found, one test each. Each failed before it was mended.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use serde_json::Value;

use crate::support::{BLINK_TABLES, Lab, TINY, TINY_HEAD, copy_folder, rows};

/// The tiny experiment with these mechanisms and further lines of `[privatize.links]`, without `[construct]`.
fn lab(mechanism: &str, more: &str) -> Lab {
    let text = TINY.replace(BLINK_TABLES, "");
    let links = format!("[privatize.links]\nmechanism = {mechanism}\n{more}");
    Lab::with("config.toml", text.replace("[privatize.links]\n", &format!("{links}\n")))
}

fn ledger(lab: &Lab) -> Vec<Value> {
    let answer = lab.call(&["ledger", "--json"]);
    assert_eq!(answer.status, 0, "{}", answer.err);
    serde_json::from_str::<Value>(&answer.out).expect("JSON").as_array().expect("rows").clone()
}

fn entries(rows: &[Value]) -> BTreeSet<String> {
    rows.iter().map(|row| row["entry"].to_string()).collect()
}

/// Two functions of one stage had one key: a search of a grid left losses where predictions were expected.
#[test]
fn d1_two_stage_functions_never_share_a_key() {
    let lab = Lab::tiny();
    let sets = ["--set", "train.learning_rate=[1e-3, 0.05]", "--set", "search_trials=3"];
    lab.json(&sets);
    let document = lab.json(&[&sets[..], &["--set", "trials=5"]].concat());
    let accuracy = rows(&document["metrics"]).find(|row| row["metric"] == "accuracy").expect("a score");
    assert_eq!(accuracy["values"].as_array().map(Vec::len), Some(5));
    let listed: Value = serde_json::from_str(&lab.call(&["ls", "--json"]).out).expect("JSON");
    assert!(rows(&listed).all(|entry| entry["recipe"]["task"].is_string()), "every key holds the function's name");
}

/// The rows of LDPGen named the groups that the server asked about instead of the graph.
#[test]
fn d2_every_ledger_row_names_the_private_graph() {
    let lab = lab("[\"rr\", \"ldpgen\", \"blink\"]", "");
    lab.json(&["--until", "privatize"]);
    let rows = ledger(&lab);
    let graphs: BTreeSet<String> = rows.iter().map(|row| row["graph"].to_string()).collect();
    assert_eq!(graphs.len(), 1, "{graphs:?}");
    assert_eq!(entries(&rows).len(), 2 * (1 + 2 + 1), "two trials of RR, of both rounds and of Blink");
}

/// A mechanism that releases nothing left an entry without a row, and the next one missed the ledger.
#[test]
fn d3_no_links_before_another_mechanism_locks_no_store() {
    let lab = lab("[\"no-links\", \"rr\"]", "");
    let document = lab.json(&["--jobs", "1"]);
    assert!(rows(&document["metrics"]).any(|row| row["mechanism"] == "rr" && row["metric"] == "accuracy"));
    let alone = Lab::with("config.toml", TINY.replace("epsilon = 6.0", "mechanism = \"no-links\""));
    alone.json(&[]);
    assert!(ledger(&alone).is_empty());
    assert_eq!(alone.call(&["run", "config.toml", "--set", "privatize.links={epsilon=2}"]).status, 0);
}

/// Parameters that a mechanism does not read made a second, charged release of the same bits.
#[test]
fn d4_parameters_that_are_not_read_release_nothing_twice() {
    let noise = "degree_noise = [\"laplace\", \"discrete-laplace\"]\ntriangle = [\"strict\", \"published-code\"]";
    let lab = lab("[\"rr\", \"solitude\", \"symrr\", \"blink\"]", noise);
    let document = lab.json(&["--until", "construct"]);
    let released = |function: &str| {
        rows(&document["stages"]).filter(|row| row["stage"] == "privatize" && row["function"] == function).count()
    };
    // Two trials each: RR serves Solitude; SymRR reads the triangle, Blink the noise.
    assert_eq!([released("rr"), released("symrr"), released("blink")], [2, 4, 4]);
    assert_eq!(entries(&ledger(&lab)).len(), 10, "each release is charged once");
    let separately = self::lab("\"solitude\"", "");
    separately.json(&["--until", "privatize"]);
    separately.json(&["--until", "privatize", "--set", "privatize.links.mechanism=rr"]);
    assert_eq!(entries(&ledger(&separately)).len(), 2, "the reports of RR are those of Solitude");
}

/// Two edge models of LDPGen released everything twice, linked one name twice, and shared one score.
#[test]
fn d5_two_edge_models_share_the_release_and_have_scores_of_their_own() {
    let lab = lab("\"ldpgen\"", "");
    let sets = ["--set", "construct.edge_model=[\"published-code\", \"chung-lu\"]"];
    let plan = lab.call(&[&["plan", "config.toml"], &sets[..]].concat());
    assert_eq!(plan.status, 0, "{}", plan.err);
    let document = lab.json(&sets);
    assert_eq!(entries(&ledger(&lab)).len(), 4, "two rounds in two trials");
    let entries = |model: &str| {
        let is_mine =
            |row: &&Value| row["metric"] == "graph_entries" && row["choices"]["construct.edge_model"] == model;
        let mine: Vec<&Value> = rows(&document["metrics"]).filter(is_mine).collect();
        assert_eq!(mine.len(), 1, "{model}");
        assert_eq!(mine[0]["values"].as_array().map(Vec::len), Some(2), "{model}: two trials");
        mine[0]["mean"].as_f64().expect("a number")
    };
    assert!((entries("published-code") - entries("chung-lu")).abs() > 0.0);
    assert!(lab.ran(&sets).is_empty(), "everything is fresh");
}

/// A plan of several releases was refused half-way, with the first of them charged and drawn.
#[test]
fn d6_a_plan_that_exceeds_the_budget_charges_nothing() {
    for (mechanism, more) in [("\"ldpgen\"", ""), ("[\"rr\", \"symrr\"]", "")] {
        let lab = lab(mechanism, more);
        let arguments = ["--set", "privacy.budget=8", "--until", "privatize"];
        let run = |epsilon: &str| {
            let set = format!("privatize.links.epsilon={epsilon}");
            lab.call(&[&["run", "config.toml", "--set", &set, "--set", "trials=1"], &arguments[..]].concat())
        };
        let refused = run(if mechanism == "\"ldpgen\"" { "9" } else { "5" });
        assert!(refused.status == 1 && refused.err.contains("all releases of this plan"), "{}", refused.err);
        assert!(ledger(&lab).is_empty(), "{mechanism}: nothing was charged");
        assert!(!lab.path("artifacts/simulation/privatize").exists(), "{mechanism}: nothing was drawn");
        let fits = run("4");
        assert_eq!(fits.status, 0, "{}", fits.err);
        let again = run("4");
        assert_eq!(again.status, 0, "what was released costs nothing: {}", again.err);
    }
}

/// Withheld features lay among the files that the server may see.
#[test]
fn d7_withheld_features_lie_with_their_owners() {
    let lab = Lab::with(
        "config.toml",
        format!("references = []\n[privacy]\nfeatures = \"withheld\"\n{}", TINY.replacen(TINY_HEAD, "", 1)),
    );
    let document = lab.json(&[]);
    let ingest = rows(&document["stages"]).find(|row| row["stage"] == "ingest").expect("ingest");
    let path = ingest["outputs"]["features"]["path"].as_str().expect("features are kept");
    assert!(path.contains("artifacts/owner/ingest/"), "{path}");
    let mut open = vec![lab.path("artifacts")];
    while let Some(folder) = open.pop() {
        for item in fs::read_dir(folder).expect("readable") {
            let path = item.expect("readable").path();
            if path.is_dir() && !path.ends_with("owner") && !path.is_symlink() {
                open.push(path);
            } else if !path.is_symlink() {
                assert!(!path.ends_with("features.parquet"), "{}", path.display());
            }
        }
    }
    assert!(rows(&document["stages"]).all(|row| row["stage"] != "train"), "nothing is trained without features");
}

/// `make clean` deleted the ledger and releases that nobody can draw again.
#[test]
fn d8_cleaning_spares_the_ledger_and_deployed_releases() {
    let makefile =
        fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../Makefile")).expect("a Makefile");
    let clean = makefile.split("\nclean:").nth(1).expect("a target").lines().take(2).collect::<Vec<_>>().join("\n");
    assert!(clean.contains("gc --all") && !clean.contains("rm -rf"), "{clean}");
    let text = TINY.replace("trials = 2", "").replace(
        "[ingest.synthetic]",
        "[privacy]\nrandomness = \"os\"\npopulation = \"members\"\nbudget = 100.0\n[ingest.synthetic]",
    );
    let lab = Lab::with("config.toml", text);
    assert_eq!(lab.call(&["run", "config.toml"]).status, 0);
    let before = ledger(&lab);
    let answer = lab.call(&["gc", "--all"]);
    assert_eq!(answer.status, 0, "{}", answer.err);
    assert_eq!(ledger(&lab), before);
    for (stage, is_kept) in [("owner/privatize", true), ("server/privatize", true), ("server/estimate", false)] {
        let left = lab.path("artifacts").join(stage).read_dir().map_or(0, Iterator::count);
        assert_eq!(left > 0, is_kept, "{stage}");
    }
    assert_eq!(lab.call(&["run", "config.toml"]).status, 0);
    assert_eq!(ledger(&lab), before, "the release was found again");
}

/// The deployment that an earlier version left, with what a deployment of today has to say besides.
fn earlier_deployment() -> Lab {
    let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/deployment");
    let lab = Lab::new();
    copy_folder(&fixture.join("store"), &lab.path("artifacts"));
    fs::set_permissions(lab.path("artifacts/owner"), fs::Permissions::from_mode(0o700)).expect("changed");
    let links = fs::read_to_string(fixture.join("edges.csv")).expect("a fixture");
    let nodes: BTreeSet<&str> = links.split([',', '\n']).map(str::trim).filter(|name| !name.is_empty()).collect();
    lab.write("nodes.csv", nodes.into_iter().collect::<Vec<_>>().join("\n"));
    lab.write("edges.csv", &links);
    for name in ["blink", "symrr", "ldpgen"] {
        let config = fs::read_to_string(fixture.join(format!("{name}.toml"))).expect("a fixture");
        let config = config.replace("[ingest]\n", "[ingest]\nnodes = \"nodes.csv\"\n");
        lab.write(&format!("{name}.toml"), config.replace("[privacy]\n", "[privacy]\nbudget = 100.0\n"));
    }
    lab
}

/// Releases of a version whose recipes named no stage function are found by what they say.
#[test]
fn a_release_of_an_earlier_version_is_never_drawn_again() {
    let lab = earlier_deployment();
    let before = ledger(&lab);
    assert_eq!(before.len(), 10);
    for name in ["blink", "symrr", "ldpgen"] {
        let answer = lab.call(&["run", &format!("{name}.toml"), "--until", "construct", "--json"]);
        assert_eq!(answer.status, 0, "{name}: {}", answer.err);
        let document: Value = serde_json::from_str(&answer.out).expect("JSON");
        let mut releases = rows(&document["stages"]).filter(|row| row["stage"] == "privatize").peekable();
        assert!(releases.peek().is_some() && releases.all(|row| row["status"] == "fresh"), "{name}");
        assert!(rows(&document["stages"]).any(|row| row["stage"] == "construct" && row["status"] == "ran"), "{name}");
    }
    assert_eq!(ledger(&lab), before, "nothing was charged");
    assert_eq!(lab.path("artifacts/privatize").read_dir().expect("there").count(), 4, "nothing was drawn");
    let answer =
        lab.call(&["run", "symrr.toml", "--until", "privatize", "--set", "privatize.links.triangle=published-code"]);
    assert_eq!(answer.status, 0, "{}", answer.err);
    assert_eq!(ledger(&lab).len(), 12, "other parameters are another release");
}

/// A release of an earlier version that is gone is not drawn again unless somebody accepts that.
#[test]
fn a_lost_release_of_an_earlier_version_is_noticed() {
    let lab = earlier_deployment();
    let row = ledger(&lab).into_iter().find(|row| row["experiment"] == "symrr").expect("a row");
    fs::remove_dir_all(lab.path("artifacts/privatize").join(row["entry"].as_str().expect("a key"))).expect("removed");
    let run = |more: &[&str]| lab.call(&[&["run", "symrr.toml", "--until", "privatize"], more].concat());
    let refused = run(&[]);
    assert!(
        refused.status == 1 && refused.err.contains("drawn before") && refused.err.contains("--spend"),
        "{}",
        refused.err
    );
    assert_eq!(ledger(&lab).len(), 10);
    assert_eq!(run(&["--spend"]).status, 0);
    assert_eq!(ledger(&lab).len(), 12);
}

/// What was paid for stays paid, although `gc --all` removed what stands before the second round of LDPGen.
#[test]
fn what_is_paid_is_not_counted_again_after_cleaning() {
    let text = TINY.replace("trials = 2", "").replace(BLINK_TABLES, "");
    let text = text.replace(
        "[ingest.synthetic]",
        "[privacy]\nrandomness = \"os\"\npopulation = \"members\"\nbudget = 4.0\n[ingest.synthetic]",
    );
    let lab = Lab::with("config.toml", text.replace("epsilon = 6.0", "epsilon = 2.0\nmechanism = \"ldpgen\""));
    let run = |more: &[&str]| lab.call(&[&["run", "config.toml", "--until", "privatize"], more].concat());
    assert_eq!(run(&[]).status, 0);
    assert_eq!(lab.call(&["gc", "--all"]).status, 0);
    let both = run(&["--set", "privatize.links.mechanism=[\"rr\", \"ldpgen\"]"]);
    assert_eq!(both.status, 0, "2 of 4 nats are spent, RR costs the other 2: {}", both.err);
    assert_eq!(ledger(&lab).len(), 6);
}

/// Alternatives that share a run in part, and ask for more elsewhere, have names of their own for every run.
#[test]
fn a_shared_run_bears_the_names_of_every_way() {
    let compare = "[[compare]]\nname = \"B\"\nprivatize.links.epsilon = 1\nconstruct.variant = \"hard\"\n\
                   [[compare]]\nname = \"C\"\nprivatize.links.epsilon = 8\nconstruct.variant = \"hard\"\n\
                   [[compare]]\nname = \"A\"\nprivatize.links.epsilon = [1, 8]\n";
    let lab = Lab::with(
        "config.toml",
        TINY.replace("[train]\nepochs = 20\n", "").replace("[estimate]\n", "[estimate]\nridge = 0.1\n") + compare,
    );
    let document = lab.json(&["--until", "construct"]);
    let mut names = BTreeSet::new();
    for row in rows(&document["stages"]) {
        for label in std::iter::once(&row["label"]).chain(rows(&row["also"])) {
            assert!(names.insert(format!("{} {} {label}", row["stage"], row["function"])), "{label} is used twice");
        }
    }
    assert!(names.iter().any(|name| name.contains("A,epsilon-1,trial-0")), "{names:?}");
    let twice = lab.call(&["run", "config.toml", "--set", "compare=[{name=\"B\"}, {name=\"B\"}]"]);
    assert!(twice.status == 2 && twice.err.contains("two [[compare]] are named `B`"), "{}", twice.err);
}

/// The server never takes a release that was made with other parameters for the one that its config asks for.
#[test]
fn the_server_side_refuses_a_release_of_other_parameters() {
    let lab = Lab::tiny();
    lab.json(&[]);
    let sets = ["--set", "privatize.links.epsilon=1.0", "--side", "server", "--simulation", "--until", "train"];
    let answer = lab.call(&[&["run", "config.toml"], &sets[..]].concat());
    assert!(
        answer.status == 1 && answer.err.contains("set [privatize] to what the owner's config says"),
        "{}",
        answer.err
    );
}
