//! Which stages run again after a change, and why.

use std::fs;
use std::io::Write;

use crate::support::{Lab, digests, rows};

/// Those that the tiny experiment needs: its prior reads no features.
const STAGES: [&str; 6] = ["ingest", "privatize", "estimate", "construct", "train", "evaluate"];

#[test]
fn a_second_run_does_nothing() {
    let lab = Lab::tiny();
    assert_eq!(lab.ran(&[]), STAGES);
    assert!(lab.ran(&[]).is_empty());
}

#[test]
fn a_change_reaches_what_follows_and_nothing_else() {
    let lab = Lab::tiny();
    lab.ran(&[]);
    for (set, stages) in [
        ("train.epochs=21", &STAGES[4..]),
        ("construct.variant=soft", &STAGES[3..]),
        ("estimate.ridge=0.5", &STAGES[2..]),
        ("privatize.links.epsilon=2", &STAGES[1..]),
        ("ingest.split={train=0.6,validation=0.2,test=0.2}", &["ingest", "train", "evaluate"]),
        ("seed=7", &STAGES[1..]),
    ] {
        assert_eq!(lab.ran(&["--set", set]), stages, "{set}");
        assert!(lab.ran(&["--set", set]).is_empty(), "{set}, again");
    }
}

/// Nodes are compared once for all budgets; labels of other nodes change what is compared.
#[test]
fn similarity_depends_on_what_it_reads_alone() {
    let lab = Lab::tiny();
    let best = ["--set", "estimate.method=best"];
    assert!(lab.ran(&best).contains(&"similarity".to_owned()));
    assert_eq!(lab.ran(&[&best[..], &["--set", "privatize.links.epsilon=2"]].concat()), STAGES[1..]);
    let split = ["--set", "ingest.split={train=0.6,validation=0.2,test=0.2}"];
    let stages = lab.ran(&[&best[..], &split].concat());
    assert!(stages.contains(&"similarity".to_owned()) && !stages.contains(&"privatize".to_owned()), "{stages:?}");
}

#[test]
fn every_run_says_why() {
    let lab = Lab::tiny();
    let why = |arguments: &[&str]| {
        let answer = lab.call(&[&["run", "config.toml"], arguments].concat());
        assert_eq!(answer.status, 0, "{}", answer.err);
        answer.err
    };
    assert!(why(&[]).contains("it never ran"));
    let err = why(&["--set", "privatize.links.epsilon=4"]);
    assert!(err.contains("epsilon changed 6.0 -> 4.0") && err.contains("input `noisy_links` changed"), "{err}");
    assert!(err.contains("ingest     1 fresh"), "{err}");
}

/// An edited input that makes the same artifact stops there: the links are written in another order, and some of them
/// twice.
#[test]
fn equal_bytes_stop_the_change() {
    let edges: Vec<String> = (0..40).map(|i| format!("{i},{}", (i * 7 + 3) % 41)).collect();
    let lab = Lab::with(
        "config.toml",
        "[ingest]\nedges = \"e.csv\"\n[privatize.links]\nepsilon = 4\n[estimate]\nmethod = \"published\"\n",
    );
    lab.write("e.csv", format!("a,b\n{}\n", edges.join("\n")));
    assert_eq!(lab.ran(&[]), ["ingest", "privatize", "estimate", "construct", "evaluate"], "no labels: no training");
    let turned: Vec<&str> = edges.iter().rev().map(String::as_str).collect();
    lab.write("e.csv", format!("a,b\n{}\n", turned.join("\n")));
    assert_eq!(lab.ran(&[]), ["ingest"]);
    lab.write("e.csv", format!("a,b\n{}\n{}\n3,0\n5,5\n", turned.join("\n"), edges[0]));
    assert_eq!(lab.ran(&[]), ["ingest"], "a repeated row, the same link turned round, and a self-loop");
}

/// With a large budget both solvers give the same hard graph, so training stays fresh.
#[test]
fn a_graph_that_stays_is_not_trained_on_again() {
    let lab = Lab::tiny();
    let hard = ["--set", "construct.variant=hard", "--set", "privatize.links.epsilon=30"];
    lab.ran(&hard);
    let stages = lab.ran(&[&hard[..], &["--set", "estimate.solver=fixed-point-200"]].concat());
    assert_eq!(stages, ["estimate", "construct", "evaluate"]);
}

#[test]
fn a_sweep_shares_entries() {
    let lab = Lab::tiny();
    let sets =
        ["--set", "privatize.links.epsilon=[2, 6]", "--set", "construct.variant=[\"hard\", \"soft\", \"hybrid\"]"];
    let document = lab.json(&sets);
    let count = |stage: &str| rows(&document["stages"]).filter(|row| row["stage"] == stage).count();
    assert_eq!(
        ["ingest", "privatize", "estimate", "construct", "train"].map(count),
        [1, 4, 8, 12, 12],
        "reports are paired once for each release"
    );
    let more = lab.ran(&[&sets[..], &["--set", "trials=3"]].concat());
    assert_eq!(more, STAGES[1..], "a further trial");
    let document = lab.json(&[&sets[..], &["--set", "trials=3"]].concat());
    assert!(rows(&document["stages"]).all(|row| row["status"] == "fresh"));
}

#[test]
fn until_stops_there() {
    let lab = Lab::tiny();
    assert_eq!(lab.ran(&["--until", "estimate"]), STAGES[..3]);
    assert_eq!(lab.ran(&[]), STAGES[3..]);
}

#[test]
fn a_plan_says_what_would_run_and_runs_nothing() {
    let lab = Lab::tiny();
    lab.ran(&[]);
    let plan = lab.call(&["plan", "config.toml", "--set", "privatize.links.epsilon=2"]);
    assert_eq!(plan.status, 0, "{}", plan.err);
    assert!(plan.out.contains("2 nats per list bit, 4 per undirected link"), "{}", plan.out);
    assert!(plan.out.contains("would run: epsilon changed 6.0 -> 2.0"), "{}", plan.err);
    assert!(lab.ran(&[]).is_empty(), "the plan changed nothing");
}

/// Clocks say nothing: files that seem twenty years older or newer than they are stay as fresh as they were.
#[test]
fn no_clock_decides_what_is_fresh() {
    let lab = Lab::tiny();
    lab.json(&[]);
    let mut folders = vec![lab.path("artifacts"), lab.path("")];
    let mut touched = 0;
    while let Some(folder) = folders.pop() {
        for item in std::fs::read_dir(folder).expect("readable") {
            let path = item.expect("readable").path();
            if path.is_dir() && !path.is_symlink() {
                folders.push(path);
            } else if let Ok(file) = std::fs::File::options().append(true).open(&path) {
                let years = std::time::Duration::from_hours(20 * 8_766);
                let now = std::time::SystemTime::now();
                let time = if touched % 2 == 0 { now - years } else { now + years };
                file.set_modified(time).expect("a time");
                touched += 1;
            }
        }
    }
    assert!(touched > 40, "{touched} files");
    assert!(lab.ran(&[]).is_empty(), "nothing runs again");
}

/// Two budgets: lists of ones, and planes of bits with the soft operator on the fly.
#[test]
fn the_number_of_threads_and_jobs_changes_no_byte() {
    let (many, one) = (Lab::tiny(), Lab::tiny());
    let sets = [
        "privatize.links.epsilon=[0.3, 6]",
        "estimate.ridge=0.1",
        "estimate.method=[\"published\", \"best\"]",
        "construct.variant=[\"hard\", \"soft\", \"hybrid\"]",
        "train.learning_rate=[0.1, 0.01]",
    ];
    let sets: Vec<&str> = sets.iter().flat_map(|set| ["--set", *set]).collect();
    let parallel = released(&many.json(&sets));
    let mut command = one.command(&[&["run", "config.toml", "--json", "--jobs", "1"], &sets[..]].concat());
    let output = command.env("RAYON_NUM_THREADS", "1").output().expect("runs");
    let single = released(&serde_json::from_slice(&output.stdout).expect("JSON"));
    assert!(parallel.len() > 40, "{} artifacts", parallel.len());
    assert_eq!(parallel, single);
}

/// Large enough that products of sparse matrices and sums over nodes are divided among threads.
#[test]
fn the_number_of_threads_changes_no_byte_of_a_large_graph() {
    let text = crate::support::TINY
        .replace("nodes = 120", "nodes = 20000")
        .replace("epsilon = 6.0", "epsilon = 12.0")
        .replace("epochs = 20", "epochs = 2")
        .replace("trials = 2", "trials = 1");
    let digests = |threads: &str| {
        let lab = Lab::with("config.toml", &text);
        let mut command = lab.command(&["run", "config.toml", "--json", "--jobs", "1"]);
        let output = command.env("RAYON_NUM_THREADS", threads).output().expect("runs");
        released(&serde_json::from_slice(&output.stdout).expect("JSON"))
    };
    let one = digests("1");
    assert!(one.iter().any(|(name, _)| name.ends_with(" predictions")), "{one:?}");
    assert_eq!(one, digests("4"));
}

/// Digests of what the server may see; those of private files are keyed by each store's own secret.
fn released(document: &serde_json::Value) -> Vec<(String, String)> {
    const PRIVATE: [&str; 3] = ["links", "held_out_labels", "metrics"];
    let mut all = digests(document);
    all.retain(|(name, _)| name.rsplit(' ').next().is_some_and(|artifact| !PRIVATE.contains(&artifact)));
    all
}

/// A number of a config may have as many digits as a number of double precision has.
#[test]
fn a_long_number_of_a_config_stays_fresh() {
    let lab = Lab::tiny();
    let long = ["--set", "privatize.links.epsilon=5.029999999329447746"];
    lab.json(&long);
    assert_eq!(lab.ran(&long), Vec::<String>::new());
}

/// What is made from a file stands under the digest of that file, also where somebody adds to it meanwhile.
#[test]
fn a_file_that_changes_while_it_is_read_is_not_taken_for_what_it_was() {
    let edges: String = (0..400_000).map(|node| format!("{node},{}\n", node + 1)).collect();
    // On a busy machine the file may have been read before it grows. It is then taken for what it was, and the test begins anew.
    let was_noticed = (0..5).any(|_| {
        let lab = Lab::with("config.toml", "[ingest]\nedges = \"edges.csv\"\n[privatize.links]\nepsilon = 2\n");
        lab.write("edges.csv", &edges);
        let run = ["run", "config.toml", "--until", "ingest"];
        let child = lab.command(&run).stderr(std::process::Stdio::piped()).spawn().expect("the program starts");
        // The lock of an entry is taken after the digest of the file, and before the file is read again.
        let is_lock = |item: fs::DirEntry| item.file_name().to_string_lossy().starts_with("ingest-");
        let start = std::time::Instant::now();
        while !fs::read_dir(lab.path("artifacts/locks")).into_iter().flatten().flatten().any(is_lock) {
            assert!(start.elapsed().as_secs() < 60, "no lock was taken");
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        let mut file = fs::OpenOptions::new().append(true).open(lab.path("edges.csv")).expect("there");
        file.write_all(b"0,2\n").expect("written");
        let output = child.wait_with_output().expect("it ends");
        if output.status.success() {
            assert_eq!(lab.ran(&run[2..]), ["ingest"], "the longer file is another one");
            return false;
        }
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(said.contains("edges.csv: the file changed while it was read"), "{said}");
        assert!(!lab.has_entries());
        assert_eq!(lab.call(&run).status, 0);
        true
    });
    assert!(was_noticed, "the file was read too early five times");
}
