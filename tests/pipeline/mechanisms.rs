//! The mechanisms beside Blink, from their reports to their scores.

use std::collections::BTreeSet;
use std::fs;

use serde_json::Value;
use veilgraph_graph::Curves;
use veilgraph_store::read_table;

use crate::support::{BLINK_TABLES, Lab, TINY, copy_folder, digests, rows};

const ALL: &str = "privatize.links.mechanism=[\"rr\", \"symrr\", \"l-dpgcn\", \"dprr\", \"ldpgen\", \"solitude\", \
                   \"edgerefine\", \"edgerand\", \"lapgraph\", \"non-private\", \"no-links\"]";

fn score<'a>(document: &'a Value, mechanism: &'a str, metric: &'a str) -> Option<&'a Value> {
    rows(&document["metrics"]).find(|row| row["mechanism"] == mechanism && row["metric"] == metric)
}

#[test]
fn every_mechanism_goes_from_reports_to_scores() {
    let lab = tiny_without_construct();
    let document = lab.json(&["--set", ALL]);
    for mechanism in [
        "rr",
        "symrr",
        "l-dpgcn",
        "dprr",
        "ldpgen",
        "solitude",
        "edgerefine",
        "edgerand",
        "lapgraph",
        "non-private",
        "no-links",
    ] {
        let accuracy = score(&document, mechanism, "accuracy").unwrap_or_else(|| panic!("{mechanism} has no accuracy"));
        assert_eq!(accuracy["values"].as_array().map(Vec::len), Some(2), "{mechanism}: two trials");
        assert!(score(&document, mechanism, "graph_entries").is_some(), "{mechanism} has no density");
    }
    let mae =
        |mechanism| score(&document, mechanism, "graph_mae").expect("a score")["mean"].as_f64().expect("a number");
    assert_eq!(mae("non-private"), 0.0, "the true links");
    let links = rows(&document["stages"]).find(|row| row["stage"] == "ingest").expect("ingest");
    assert!(links["outputs"]["links"].is_object());
    assert!(mae("no-links") > 0.0 && mae("rr") > 0.0 && mae("rr") < mae("ldpgen"));
    assert_eq!(score(&document, "no-links", "accuracy").expect("a score")["model"], "mlp");
    assert!(lab.ran(&["--set", ALL]).is_empty(), "everything is fresh");
}

/// The tiny experiment without the table that Blink alone reads.
fn tiny_without_construct() -> Lab {
    Lab::with("config.toml", TINY.replace(BLINK_TABLES, ""))
}

/// A fraction means nothing without a degree: it is not swept over.
#[test]
fn a_sweep_leaves_out_what_a_mechanism_does_not_ask_for() {
    let lab = tiny_without_construct();
    let sets = ["--set", "privatize.links.degree_fraction=[0.1, 0.5]", "--until", "privatize"];
    for (mechanisms, releases) in [("[\"rr\", \"dprr\"]", 2 + 4), ("dprr", 4), ("non-private", 2), ("no-links", 0)] {
        let mechanism = format!("privatize.links.mechanism={mechanisms}");
        let document = lab.json(&[&sets[..], &["--set", &mechanism]].concat());
        let found = rows(&document["stages"]).filter(|row| row["stage"] == "privatize").count();
        assert_eq!(found, releases, "{mechanisms}: two trials");
    }
}

/// What a link costs in the ledger, per trial: twice a list bit where both its ends report it.
#[test]
fn the_ledger_knows_who_reports_a_link() {
    let lab = tiny_without_construct();
    let document = lab.json(&["--set", ALL, "--until", "construct"]);
    let answer = lab.call(&["ledger", "--json"]);
    let ledger: Value = serde_json::from_str(&answer.out).expect("JSON");
    let total = |mechanism: &str, relation: &str| -> f64 {
        let label = format!("mechanism-{mechanism},");
        // A run that serves several mechanisms bears the names of all.
        let of_mechanism = |row: &&Value| {
            let mut names = std::iter::once(&row["label"]).chain(rows(&row["also"]));
            row["stage"] == "privatize" && names.any(|name| name.as_str().is_some_and(|name| name.contains(&label)))
        };
        let keys: Vec<&Value> = rows(&document["stages"]).filter(of_mechanism).map(|row| &row["key"]).collect();
        let mine = rows(&ledger)
            .filter(|row| row["trial"] == 0 && row["relation"] == relation && keys.contains(&&row["entry"]));
        mine.map(|row| row["epsilon"].as_f64().unwrap_or(f64::INFINITY)).sum()
    };
    for (mechanism, list_bit, edge) in [
        ("rr", 6.0, 12.0),
        ("symrr", 6.0, 6.0),
        ("l-dpgcn", 6.0, 12.0),
        ("dprr", 6.0, 12.0),
        ("ldpgen", 6.0, 12.0),
        ("solitude", 6.0, 12.0),
        ("edgerefine", 6.0, 6.0),
        ("edgerand", 6.0, 6.0),
        ("lapgraph", 6.0, 6.0),
        ("non-private", f64::INFINITY, f64::INFINITY),
        ("no-links", 0.0, 0.0),
    ] {
        let found = [total(mechanism, "list-bit"), total(mechanism, "edge")];
        let is_near = |found: f64, expected: f64| found == expected || (found - expected).abs() < 1e-9;
        assert!(is_near(found[0], list_bit) && is_near(found[1], edge), "{mechanism}: {found:?}");
    }
}

#[test]
fn threads_change_no_byte_of_any_mechanism() {
    let digests_of = |threads: &str| {
        let lab = tiny_without_construct();
        let mut command = lab.command(&["run", "config.toml", "--json", "--set", ALL, "--jobs", threads]);
        let output = command.env("RAYON_NUM_THREADS", threads).output().expect("the program starts");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let document: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        // Owner and auditor files are digested with a secret of the store.
        digests(&document)
            .into_iter()
            .filter(|(name, _)| !name.contains("ingest") && !name.contains("evaluate"))
            .collect::<Vec<_>>()
    };
    assert_eq!(digests_of("1"), digests_of("3"));
}

/// Between the rounds of LDPGen the server does its part; the rest is the owner's.
#[test]
fn the_server_rebuilds_every_graph_without_owner_data() {
    let owner = tiny_without_construct();
    let whole = owner.json(&["--set", ALL]);
    let server = tiny_without_construct();
    copy_folder(&owner.path("artifacts"), &server.path("artifacts"));
    for private in ["owner", "auditor", "simulation/estimate", "simulation/construct", "simulation/train"] {
        fs::remove_dir_all(server.path("artifacts").join(private)).expect("removed");
    }
    let document = server.json(&["--side", "server", "--simulation", "--until", "train", "--set", ALL]);
    let mut remade = 0;
    for row in rows(&document["stages"]).filter(|row| row["status"] == "ran") {
        let same = rows(&whole["stages"])
            .find(|other| ["stage", "function", "label"].iter().all(|name| other[*name] == row[*name]));
        assert_eq!(same.expect("the same run")["key"], row["key"]);
        remade += 1;
    }
    assert!(remade > 30, "{remade} stage runs");
}

/// A grid is searched in trials of its own; those that are scored train one setting.
#[test]
fn a_search_has_trials_of_its_own() {
    let lab = Lab::tiny();
    let sets = ["--set", "search_trials=3", "--set", "train.learning_rate=[1e-4, 0.05]"];
    let document = lab.json(&sets);
    let trained: Vec<&Value> = rows(&document["stages"]).filter(|row| row["stage"] == "train").collect();
    assert_eq!(trained.len(), 3 + 1 + 2, "the search, the choice, the trials");
    let outputs = |row: &Value| row["outputs"].as_object().expect("outputs").keys().cloned().collect::<Vec<_>>();
    assert_eq!(trained.iter().filter(|row| outputs(row) == ["curve"]).count(), 3);
    let accuracy = score(&document, "blink", "accuracy").expect("a score");
    assert_eq!(accuracy["values"].as_array().map(Vec::len), Some(2));
    assert!(accuracy["setting"].as_str().is_some_and(|setting| setting.contains("learning_rate=0.05")), "{accuracy}");
    // One setting leaves nothing to choose.
    let document = lab.json(&["--set", "search_trials=3"]);
    assert_eq!(rows(&document["stages"]).filter(|row| row["stage"] == "privatize").count(), 2);
}

/// What the trials of a search trained.
fn searched_curves(lab: &Lab, document: &Value) -> Vec<Curves> {
    let trials = rows(&document["stages"]).filter(|row| row["function"] == "search-grid");
    let curves = trials.map(|row| {
        let path = row["outputs"]["curve"]["path"].as_str().expect("a path");
        read_table::<Curves>(&lab.path(path)).expect("valid")
    });
    curves.collect()
}

/// Settings that are no longer expected to win are dropped. A race is a guess, so it need not choose what the full search
/// chooses: each of these seeds fixes one case in which it does, and nothing is claimed about other seeds.
#[test]
fn a_race_chooses_the_setting_of_the_full_search() {
    let grid = "train.learning_rate=[0.1, 0.03, 0.003, 0.0003]";
    for seed in ["seed=1", "seed=2", "seed=3"] {
        let lab = Lab::tiny();
        let searched = |search: &str| {
            let search = format!("train.search={search}");
            let sets = [seed, "search_trials=2", grid, "train.weight_decay=[1e-3, 0.0]", "train.dropout=[0.1, 0.5]"];
            let sets = sets.into_iter().chain([search.as_str(), "train.epochs=60"]).flat_map(|set| ["--set", set]);
            let document = lab.json(&sets.collect::<Vec<_>>());
            let curves = searched_curves(&lab, &document);
            assert_eq!(curves.len(), 2);
            let accuracy = score(&document, "blink", "accuracy").expect("a score").clone();
            (accuracy["setting"].clone(), accuracy["values"].clone(), curves)
        };
        let (full, racing) = (searched("full"), searched("racing"));
        assert_eq!((&racing.0, &racing.1), (&full.0, &full.1), "{seed}");
        let epochs = |curves: &[Curves]| curves.iter().map(|curves| curves.epoch.len()).sum::<usize>();
        assert_eq!(epochs(&full.2), 2 * 16 * 60);
        assert!(4 * epochs(&racing.2) < 3 * epochs(&full.2), "{seed}: {} epochs", epochs(&racing.2));
    }
}

/// Who has nothing to choose among has nothing to search.
#[test]
fn a_race_is_no_part_of_what_does_not_race() {
    let lab = Lab::tiny();
    lab.json(&[]);
    for search in ["train.search=full", "train.search=racing"] {
        assert_eq!(lab.ran(&["--set", search]), [""; 0], "{search}: one setting");
    }
    // Four settings are the first heat, which is never dropped, and losses of learned links may fall late.
    let sets = ["search_trials=2", "train.epochs=3"].into_iter().flat_map(|set| ["--set", set]).collect::<Vec<_>>();
    let four = "train.learning_rate=[0.1, 0.08, 0.05, 0.02]";
    let five = "train.learning_rate=[0.1, 0.08, 0.05, 0.02, 0.01]";
    let solitude = TINY.replace(BLINK_TABLES, "").replace("epsilon = 6.0", "epsilon = 6.0\nmechanism = \"solitude\"");
    for (lab, kind) in [(&lab, ["--set", four]), (&Lab::with("config.toml", solitude), ["--set", five])] {
        let of = |search| [&sets[..], &kind, &["--set", search]].concat();
        lab.json(&of("train.search=full"));
        assert_eq!(lab.ran(&of("train.search=racing")), [""; 0], "{kind:?}");
        let document = lab.json(&of("train.search=halving"));
        let grids = rows(&document["stages"]).filter(|row| row["function"] == "search-grid");
        let ran: Vec<bool> = grids.map(|row| row["status"] == "ran").collect();
        assert_eq!(ran, [false, true], "the first trial is that of the full search: {kind:?}");
    }
    let misspelt = lab.call(&["run", "config.toml", "--set", "train.search=halves"]);
    assert!(misspelt.status != 0 && misspelt.err.contains("racing"), "{}", misspelt.err);
}

#[test]
fn a_quarter_of_the_settings_goes_on_after_the_first_trial() {
    let lab = Lab::tiny();
    let twenty =
        ["--set", "train.learning_rate=[0.1, 0.03, 0.01, 0.003]", "--set", "train.dropout=[0.0, 0.1, 0.2, 0.3, 0.4]"];
    let sets = [&twenty[..], &["--set", "search_trials=4", "--set", "train.search=halving", "--set", "train.epochs=3"]]
        .concat();
    let planned = lab.call(&[&["plan", "config.toml", "--json"], &sets[..]].concat());
    let planned: Value = serde_json::from_str(&planned.out).expect("JSON");
    let document = lab.json(&sets);
    let curves = searched_curves(&lab, &document).into_iter();
    let models: Vec<usize> = curves.map(|curves| curves.model.iter().collect::<BTreeSet<_>>().len()).collect();
    assert_eq!(models, [20, 5, 3, 2]);
    assert_eq!(planned["totals"]["models"], 32, "with two for scores");
}

/// After each trial of a search, the better settings go on: here half of eight, and half of four. Each of these seeds fixes one
/// case in which the full search chooses no other setting, and nothing is claimed about other seeds.
#[test]
fn halving_chooses_the_setting_of_the_full_search() {
    let grid = "train.learning_rate=[0.1, 0.03, 0.003, 0.0003]";
    for seed in ["seed=1", "seed=3", "seed=6"] {
        let lab = Lab::tiny();
        let searched = |search: &str| {
            let search = format!("train.search={search}");
            let sets = [seed, "search_trials=3", grid, "train.weight_decay=[1e-3, 0.0]", search.as_str()];
            let sets: Vec<&str> = sets.into_iter().flat_map(|set| ["--set", set]).collect();
            let planned = lab.call(&[&["plan", "config.toml", "--json"], &sets[..]].concat());
            let planned: Value = serde_json::from_str(&planned.out).expect("JSON");
            let document = lab.json(&sets);
            let curves = searched_curves(&lab, &document).into_iter();
            let models: Vec<usize> = curves.map(|curves| curves.model.iter().collect::<BTreeSet<_>>().len()).collect();
            let accuracy = score(&document, "blink", "accuracy").expect("a score").clone();
            (accuracy["setting"].clone(), accuracy["values"].clone(), models, planned["totals"]["models"].clone())
        };
        let full = searched("full");
        searched("racing");
        let halving = searched("halving");
        assert_eq!((&halving.0, &halving.1), (&full.0, &full.1), "{seed}");
        assert_eq!((full.2, full.3), (vec![8, 8, 8], 26.into()), "{seed}");
        // The first trial was run by the race, so 4 and 2 settings are left to train, and 2 networks for scores: which
        // setting these have is not known before the search, so the plan cannot tell that they were trained already.
        assert_eq!((halving.2, halving.3), (vec![8, 4, 2], 8.into()), "{seed}");
    }
    let lab = Lab::tiny();
    assert_eq!(lab.call(&["plan", "config.toml", "--set", "train.search=halving"]).status, 0, "one setting");
    for search_trials in ["search_trials=0", "search_trials=1"] {
        let sets = ["--set", search_trials, "--set", grid, "--set", "train.search=halving"];
        let answer = lab.call(&[&["run", "config.toml"], &sets[..]].concat());
        assert!(answer.status == 2 && answer.err.contains("two or more"), "{}", answer.err);
    }
}

#[test]
fn what_a_mechanism_cannot_do_is_said() {
    for (sets, words) in [
        (vec!["privatize.links.mechanism=solitude", "train.model=gat"], vec!["solitude", "gat"]),
        (vec!["privatize.links.mechanism=rr", "privatize.links.missing_share=0.1"], vec!["missing_share", "blink"]),
        (vec!["privatize.links.mechanism=rr", "construct.variant=hard"], vec!["[construct]", "no stage"]),
        (vec!["privatize.links.mechanism=rrr"], vec!["rrr", "did you mean `rr`"]),
        (vec!["privatize.links.mechanism=rr", "privatize.links.triangle=strict"], vec!["triangle", "symrr"]),
        (vec!["privatize.links.mechanism=rr", "train.links.sparsity=1"], vec!["train.links.sparsity", "not read"]),
        (vec!["train.sage_norm=paper"], vec!["train.sage_norm", "not read"]),
        (vec!["privatize.links.mechanism=no-links", "privatize.links.foo=3"], vec!["foo"]),
        (vec!["privatize.links.mechanism=no-links", "estimate.foo=3"], vec!["foo"]),
        (vec!["ingest.edges=e.csv", "ingest.synthetic.nodes=50"], vec!["ingest.synthetic"]),
        (vec!["similarity.share=0.1"], vec!["[similarity]", "no stage"]),
        (vec!["train.trials=3"], vec!["`trials` belongs above the first table"]),
        (vec!["privatize.epsilon=3"], vec!["[privatize.links]"]),
        (vec!["construct.variant=hard", "construct.edge_multiple=2"], vec!["edge_multiple", "not read"]),
        (vec!["construct.variant=given"], vec!["given", "hybrid"]),
        (vec!["train.links.sparsity=-1", "privatize.links.mechanism=solitude"], vec!["links", "at least 0"]),
    ] {
        let mut arguments = vec!["run", "config.toml"];
        sets.iter().for_each(|set| arguments.extend(["--set", set]));
        let is_blink = sets.iter().all(|set| !set.contains("mechanism"));
        let lab = if is_blink { Lab::tiny() } else { tiny_without_construct() };
        let answer = lab.call(&arguments);
        assert!(
            answer.status != 0 && !lab.has_entries() && words.iter().all(|word| answer.err.contains(word)),
            "{sets:?}: {}",
            answer.err
        );
        assert!(!answer.err.contains("panicked"), "{}", answer.err);
    }
}

/// What no estimate can be made of is refused before it is charged.
#[test]
fn shares_of_the_budget_that_nothing_can_be_made_of_are_refused_by_the_plan() {
    let lab = Lab::with("config.toml", TINY.replace(BLINK_TABLES, ""));
    let plan = |sets: &[&str]| {
        let sets = sets.iter().flat_map(|set| ["--set", set]);
        lab.call(&["plan", "config.toml"].into_iter().chain(sets).collect::<Vec<_>>())
    };
    for share in ["0.0", "1.0"] {
        let answer = plan(&["privatize.links.mechanism=dprr", &format!("privatize.links.degree_fraction={share}")]);
        assert!(
            answer.status == 2 && answer.err.contains("\"dprr\" thins lists by reported degrees"),
            "{}",
            answer.err
        );
    }
    let matched = ["estimate.method=published", "estimate.match=true", "estimate.degrees=empirical-bayes"];
    let answer = plan(&[&matched[..], &["privatize.links.degree_fraction=0.0"]].concat());
    assert!(answer.status == 2 && answer.err.contains("match = true needs degrees"), "{}", answer.err);
    let answer = plan(&[&matched[..], &["privatize.links.degree_fraction=0.1"]].concat());
    assert_eq!(answer.status, 0, "{}", answer.err);
    let unread = ["estimate.method=published", "estimate.solver=fixed-point-200", "estimate.ridge=0.1"];
    let answer = plan(&unread);
    assert!(answer.status == 2 && answer.err.contains("the published iteration has none"), "{}", answer.err);
    let answer = plan(&[&unread[..], &["estimate.match=true"]].concat());
    assert_eq!(answer.status, 0, "matching reads it: {}", answer.err);
}
