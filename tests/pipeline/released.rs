//! Graphs that another program has released, beside those that are drawn here.

use std::fs;

use serde_json::Value;

use crate::support::{BLINK_TABLES, Lab, TINY, rows};

/// The tiny experiment with graphs of another program: those of EdgeRand, as this program drew them.
fn lab() -> Lab {
    let lab = Lab::with("config.toml", TINY.replace(BLINK_TABLES, ""));
    for epsilon in ["1", "6"] {
        let set = [&format!("privatize.links.epsilon={epsilon}"), "privatize.links.mechanism=edgerand", "name=drawn"]
            .map(|set| ["--set".to_owned(), set.to_owned()])
            .concat();
        lab.json(&set.iter().map(String::as_str).collect::<Vec<_>>());
        for trial in ["0", "1"] {
            let drawn = format!("drawn/privatize/trial-{trial}/graph");
            let csv = lab.call(&["show", &drawn, "--format", "csv"]);
            assert_eq!(csv.status, 0, "{}", csv.err);
            lab.write(&format!("mine-{epsilon}-{trial}.csv"), csv.out);
        }
    }
    lab
}

const RELEASED: [&str; 8] = [
    "--set",
    "privatize.links.mechanism=[\"released\", \"edgerand\"]",
    "--set",
    "privatize.links.graph=mine-{epsilon}-{trial}.csv",
    "--set",
    "privatize.links.epsilon=[1.0, 6.0]",
    "--set",
    "privatize.links.relation=edge",
];

#[test]
fn a_graph_of_another_program_is_scored_like_one_that_is_drawn_here() {
    let lab = lab();
    let document =
        lab.json(&[&RELEASED[..], &["--set", "audit.attacks=[\"linkteller\"]", "--set", "audit.targets=60"]].concat());
    let of = |mechanism: &str| -> Vec<_> {
        let rows = rows(&document["metrics"]).filter(|row| row["mechanism"] == mechanism);
        rows.map(|row| (row["metric"].clone(), row["epsilon"].clone(), row["attack"].clone(), row["values"].clone()))
            .collect()
    };
    let (theirs, ours) = (of("released"), of("edgerand"));
    assert!(theirs.iter().any(|row| row.0 == "graph_mae") && theirs.iter().any(|row| row.2 == "linkteller"));
    assert_eq!(theirs.len(), ours.len());
    for (their, our) in theirs.iter().zip(&ours) {
        assert_eq!((&their.0, &their.1, &their.2), (&our.0, &our.1, &our.2));
        // A dense graph is stored as bits where it is drawn here, and sums over it are made in another order.
        for (a, b) in rows(&their.3).zip(rows(&our.3)) {
            let (a, b) = (a.as_f64().expect("a number"), b.as_f64().expect("a number"));
            assert!((a - b).abs() < 1e-5, "{}: {a} {b}", their.0);
        }
    }
    let costs = |mechanism: &str| {
        let mut rows = rows(&document["metrics"]).filter(|row| row["mechanism"] == mechanism);
        rows.next().expect("a score")["costs"].clone()
    };
    assert!(rows(&costs("released")).all(|cost| cost["sound"] == false), "nobody has checked what is stated");
    assert!(rows(&costs("edgerand")).all(|cost| cost["sound"] == true));
    let ledger = lab.call(&["ledger", "--json"]);
    assert!(ledger.out.contains("the config states this cost"), "{}", ledger.out);
    let table = lab.call(&[&["table", "config.toml"], &RELEASED[..]].concat());
    assert!(table.out.contains("nobody has checked it, for released."), "{} {}", table.out, table.err);
}

/// Whoever reads no table reads of no cost as if it held.
#[test]
fn a_page_doubts_a_cost_that_nobody_has_checked() {
    let lab = lab();
    let sets = [&RELEASED[2..], &["--set", "privatize.links.mechanism=released", "--set", "references=[\"no-links\"]"]];
    lab.json(&sets.concat());
    let answer = lab.call(&[&["report", "config.toml"], &sets.concat()[..]].concat());
    assert_eq!(answer.status, 0, "{}", answer.err);
    let page = fs::read_to_string(lab.path(answer.out.trim())).expect("the page");
    for words in [
        "nats per undirected link, which does not hold as executed, or was never checked; if it held, the reports could multiply",
        "nats per link, which does not hold as executed, or was never checked. At the largest budget, the reports could multiply, \
         if this cost held, the odds of a link by up to 404.",
    ] {
        assert!(page.contains(words), "`{words}` is not on the page");
    }
}

#[test]
fn mistakes_about_graphs_of_another_program_are_named() {
    let lab = lab();
    let call = |more: &[&str]| {
        let answer = lab.call(&[&["run", "config.toml"], &RELEASED[..], more].concat());
        assert_ne!(answer.status, 0, "{more:?}");
        answer.err
    };
    let canaries = call(&["--set", "audit.attacks=[\"canary-graph\"]", "--set", "audit.canaries=20"]);
    assert!(canaries.contains("another program has drawn knows nothing of them"), "{canaries}");
    fs::remove_file(lab.path("mine-6-1.csv")).expect("removed");
    let absent = call(&[]);
    assert!(absent.contains("mine-6-1.csv") && absent.contains("correct its path in the config"), "{absent}");
    lab.write("mine-6-1.csv", "0,1\n5,nobody\n");
    let unknown = call(&[]);
    assert!(unknown.contains("mine-6-1.csv: line 2: there is no node `nobody`"), "{unknown}");
    let ledger: Value = serde_json::from_str(&lab.call(&["ledger", "--json"]).out).expect("JSON");
    let charged = rows(&ledger).filter(|row| row["function"] == "released").count();
    assert!(charged <= 3 * 2, "of four files, the one that cannot be read is not charged: {ledger}");
    let one = call(&["--set", "privatize.links.graph=mine-6-0.csv"]);
    assert!(one.contains("mine-6-0.csv would stand at several costs"), "{one}");
    let unheard_of = call(&["--set", "privatize.links.graph=mine-{seed}.csv"]);
    assert!(unheard_of.contains("{seed} stands for nothing"), "{unheard_of}");
    let free = call(&["--set", "privatize.links.epsilon=inf", "--set", "privatize.links.mechanism=released"]);
    assert!(free.contains("a released graph has a finite cost"), "{free}");
    let deployed = lab.call(&[
        "plan",
        "config.toml",
        "--set",
        "privatize.links.mechanism=released",
        "--set",
        "privatize.links.graph=mine-6-0.csv",
        "--set",
        "privacy.randomness=os",
        "--set",
        "privacy.population=members",
        "--set",
        "privacy.budget=9.0",
        "--set",
        "trials=1",
    ]);
    assert!(deployed.status != 0 && deployed.err.contains("write \"public\""), "{}", deployed.err);
    let without = lab.call(&["plan", "config.toml", "--set", "privatize.links.mechanism=released"]);
    assert!(without.status != 0 && without.err.contains("graph"), "{}", without.err);
}

/// What each node reports is directed, and a file without weights may be read as either.
#[test]
fn reports_of_lists_of_another_program_stay_directed() {
    let lab = Lab::with("config.toml", TINY.replace(BLINK_TABLES, ""));
    let set = |fields: &[&str]| {
        let fields = ["trials=1", "privatize.links.epsilon=3"].iter().chain(fields);
        let document = lab.json(&fields.flat_map(|field| ["--set", field]).collect::<Vec<_>>());
        let scores =
            rows(&document["metrics"]).filter(|row| row["metric"] == "graph_mae" || row["metric"] == "accuracy");
        scores.map(|row| row["values"].clone()).collect::<Vec<_>>()
    };
    let ours = set(&["privatize.links.mechanism=rr", "name=drawn"]);
    let csv = lab.call(&["show", "drawn/construct/trial-0/graph", "--format", "csv"]);
    assert_eq!(csv.status, 0, "{}", csv.err);
    lab.write("mine.csv", csv.out);
    let theirs =
        set(&["privatize.links.mechanism=released", "privatize.links.graph=mine.csv", "privatize.links.directed=true"]);
    assert!(!ours.is_empty() && ours == theirs, "{ours:?} {theirs:?}");
    // Under another name and with another spelling it is the same release.
    let rows_of = || lab.call(&["ledger", "--json"]).out.matches("\"released\"").count();
    let before = rows_of();
    let text = fs::read_to_string(lab.path("mine.csv")).expect("written");
    lab.write("again.csv", format!("# once more\n{text}"));
    set(&["privatize.links.mechanism=released", "privatize.links.graph=./again.csv", "privatize.links.directed=true"]);
    assert!(before > 0 && rows_of() == before);
    let output = lab.call(&[
        "run",
        "config.toml",
        "--set",
        "trials=1",
        "--set",
        "privatize.links.mechanism=released",
        "--set",
        "privatize.links.graph=mine.csv",
    ]);
    assert!(output.status != 0 && output.err.contains("write directed = true"), "{}", output.err);
}

#[test]
fn graphs_of_several_programs_are_compared() {
    let lab = lab();
    let alternative = |name: &str, file: &str, more: &str| {
        format!(
            "[[compare]]\nname = \"{name}\"\nprivatize.links = {{ mechanism = \"released\", graph = \"{file}\", epsilon = 1.0{more} }}\n"
        )
    };
    let config = |alternatives: &[String]| {
        lab.write("config.toml", format!("{}{}", TINY.replace(BLINK_TABLES, ""), alternatives.concat()));
    };
    config(&[alternative("one", "mine-1-0.csv", ""), alternative("two", "mine-1-1.csv", "")]);
    let document = lab.json(&["--set", "trials=1"]);
    let names: Vec<_> = rows(&document["metrics"]).map(|row| row["alternative"].clone()).collect();
    assert!(names.contains(&"one".into()) && names.contains(&"two".into()), "{names:?}");
    for (more, words) in [(", relation = \"edge\"", "at several costs"), (", directed = true", "for several graphs")] {
        config(&[alternative("one", "mine-1-0.csv", ""), alternative("two", "mine-1-0.csv", more)]);
        let answer = lab.call(&["plan", "config.toml", "--set", "trials=1"]);
        assert!(answer.status == 2 && answer.err.contains(words), "{words}: {}", answer.err);
    }
}
