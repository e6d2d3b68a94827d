//! Long runs: they are planned, go on past what fails, show what there is, can be held to what is recorded, and say how
//! much memory they took.

use serde_json::Value;

use crate::support::{Answer, Lab, rows};

/// A sweep of which one of two values fails in the estimate: three in ten nodes send no report.
const ONE_FAILS: [&str; 2] = ["--set", "privatize.links.missing_share=[0.0, 0.3]"];

fn keep_going(lab: &Lab, more: &[&str]) -> Answer {
    lab.call(&[&["run", "config.toml", "--keep-going"], &ONE_FAILS[..], more].concat())
}

fn document(answer: &Answer) -> Value {
    serde_json::from_str(&answer.out).unwrap_or_else(|error| panic!("{error}: {} {}", answer.out, answer.err))
}

fn label(row: &Value) -> &str {
    row["label"].as_str().expect("a label")
}

fn runs(lab: &Lab) -> Value {
    document(&lab.call(&["ls", "--runs", "tiny", "--json"]))
}

#[test]
fn a_failure_stops_only_what_reads_from_it() {
    let lab = Lab::tiny();
    let stopped = lab.call(&[&["run", "config.toml"], &ONE_FAILS[..]].concat());
    assert!(
        stopped.status == 1 && stopped.err.contains("error: stage estimate posterior/missing_share-0.3"),
        "{}",
        stopped.err
    );
    let answer = keep_going(&lab, &["--json"]);
    assert_eq!(answer.status, 1, "{}", answer.err);
    let document = document(&answer);
    let mut failed = Vec::new();
    for row in rows(&document["stages"]) {
        let is_of_failing = label(row).contains("missing_share-0.3");
        match row["status"].as_str() {
            Some("failed") => failed.push(row),
            Some("skipped") => assert!(is_of_failing && row["stage"] != "privatize", "{row}"),
            Some("ran" | "fresh") => assert!(!is_of_failing || row["key"].is_string(), "{row}"),
            _ => panic!("{row}"),
        }
    }
    assert_eq!(failed.len(), 2, "one for each trial: {failed:?}");
    for row in &failed {
        let line = format!("tiny: estimate posterior/{}: node ", label(row));
        assert!(answer.err.contains(&line) && label(row).contains("missing_share-0.3"), "{}", answer.err);
        assert!(row["error"].as_str().is_some_and(|error| error.contains("missing_nodes = \"one-sided\"")), "{row}");
    }
    for word in ["2 of ", " stage runs failed", "then run again: only what failed", "--partial"] {
        assert!(answer.err.contains(word), "{word}: {}", answer.err);
    }
    // The other cell is scored, and named in the store.
    let scored: Vec<&Value> = rows(&document["metrics"]).filter(|row| row["metric"] == "accuracy").collect();
    assert_eq!(scored.len(), 1, "{scored:?}");
    let share = scored[0]["choices"]["privatize.links.missing_share"].as_str().expect("a value");
    assert_eq!(share.parse::<f64>(), Ok(0.0));
    // The history says what failed.
    let listed = runs(&lab);
    let recorded: Vec<&Value> = rows(&listed[0]["failed"]).collect();
    assert_eq!(recorded.len(), 2, "{listed}");
    assert!(recorded.iter().all(|row| row["stage"] == "estimate" && row["error"].is_string()), "{listed}");
}

/// What was charged before it failed is charged once, and drawn once.
#[test]
fn what_failed_runs_again_and_is_charged_once() {
    let lab = Lab::tiny();
    assert_eq!(keep_going(&lab, &[]).status, 1);
    let charged = lab.call(&["ledger", "--json"]).out;
    let again = keep_going(&lab, &["--json"]);
    let document = document(&again);
    assert!(rows(&document["stages"]).all(|row| row["status"] != "ran"), "{document}");
    assert_eq!(again.status, 1, "it fails as before: {}", again.err);
    assert_eq!(rows(&runs(&lab)).count(), 1, "nothing is new in the history");
    let corrected = keep_going(&lab, &["--json", "--set", "estimate.missing_nodes=one-sided"]);
    assert_eq!(corrected.status, 0, "{}", corrected.err);
    let document: Value = serde_json::from_str(&corrected.out).expect("JSON");
    let drawn = |row: &&Value| row["stage"] == "privatize" && row["status"] == "ran";
    assert_eq!(rows(&document["stages"]).filter(drawn).count(), 0, "{document}");
    assert_eq!(lab.call(&["ledger", "--json"]).out, charged);
    assert_eq!(rows(&runs(&lab)[0]["failed"]).count(), 0, "nothing failed any more");
}

/// Tables and pages refuse what has not run, and name the flag with which they show the rest and mark what is missing.
#[test]
fn a_part_of_the_scores_is_shown_with_what_is_missing() {
    let lab = Lab::tiny();
    assert_eq!(keep_going(&lab, &[]).status, 1);
    let called = |words: &[&str]| lab.call(&[words, &["config.toml"], &ONE_FAILS[..]].concat());
    for command in ["table", "report"] {
        let refused = called(&[command]);
        assert!(refused.status == 1 && refused.err.contains("--partial"), "{command}: {}", refused.err);
    }
    let note = "evaluation `predictions` of all trials together failed: tiny, synthetic, blink, epsilon 6, hybrid, gcn, \
                missing_share-0.3";
    for (format, comment) in [("markdown", ""), ("latex", "% "), ("typst", "// ")] {
        let table = called(&["table", "--partial", "--format", format]);
        assert_eq!(table.status, 0, "{}", table.err);
        assert!(table.out.contains("failed"), "{format}: {}", table.out);
        assert!(table.out.contains("1 cell failed."), "{format}: {}", table.out);
        // Errors stand in a comment and not in the caption, and those of other scores nowhere.
        let mut errors = table.out.lines().filter(|line| line.contains("sent no report"));
        let error = errors.next().expect("a line with the error");
        assert!(error.starts_with(&format!("{comment}{note}")) && errors.next().is_none(), "{format}: {}", table.out);
    }
    let table = called(&["table", "--partial", "--format", "csv"]);
    let lines: Vec<&str> = table.out.lines().collect();
    assert_eq!(lines.len(), 3, "a header, a cell with scores, and a cell without: {}", table.out);
    assert_eq!(lines.iter().filter(|line| line.contains(",failed,") && line.contains(",accuracy,")).count(), 1);
    let page = called(&["report", "--partial"]);
    assert_eq!(page.status, 0, "{}", page.err);
    let page = std::fs::read_to_string(lab.path("artifacts/auditor/reports/tiny.html")).expect("a page");
    for word in ["What is missing", "missing_share-0.3", "<td>failed</td>", "sent no report"] {
        assert!(page.contains(word), "{word} is not on the page");
    }
}

/// A failure says nothing of other settings whose tasks have the same labels.
#[test]
fn what_never_ran_with_these_settings_has_not_failed() {
    let lab = Lab::tiny();
    assert_eq!(keep_going(&lab, &[]).status, 1);
    let words = ["table", "config.toml", "--partial", "--set", "privatize.links.epsilon=2"];
    let table = lab.call(&[&words[..], &ONE_FAILS[..]].concat());
    assert!(table.status == 0 && table.out.contains("missing"), "{} {}", table.out, table.err);
    assert!(!table.out.contains("failed"), "{}", table.out);
}

/// What never ran is missing and has not failed; what has all its scores says nothing of it.
#[test]
fn what_never_ran_is_missing() {
    let lab = Lab::tiny();
    lab.json(&[]);
    let table = |more: &[&str]| lab.call(&[&["table", "config.toml", "--partial"], more].concat());
    let whole = table(&[]);
    assert!(whole.status == 0 && !whole.out.contains("missing"), "{} {}", whole.out, whole.err);
    let half = table(&["--set", "train.hidden=[16, 8]"]);
    assert!(half.out.contains("`predictions` of all trials together is missing: tiny"), "{} {}", half.out, half.err);
    assert!(half.out.lines().any(|line| line.starts_with("| 8 ") && line.contains("| missing |")), "{}", half.out);
    assert!(!half.out.contains("failed"), "{}", half.out);
    let nothing = table(&["--set", "privatize.links.epsilon=2"]);
    assert!(nothing.out.contains("`predictions` of all trials together is missing"), "{} {}", nothing.out, nothing.err);
    assert!(!nothing.out.contains("`links`"), "{}", nothing.out);
    let links = table(&["--set", "privatize.links.epsilon=2", "--score", "average_precision"]);
    assert!(links.out.contains("evaluation `links` of 2 of 2 trials is missing"), "{} {}", links.out, links.err);
}

/// A budget that does not hold all releases refuses each of them, and none is charged.
#[test]
fn keeping_going_spends_no_more_than_the_budget() {
    let lab = Lab::tiny();
    let budget = ["--set", "privacy.budget={list-bit=7.0}"];
    let answer = lab.call(&[&["run", "config.toml", "--keep-going"], &budget[..]].concat());
    assert_eq!(answer.status, 1, "two trials cost 12 nats: {}", answer.err);
    assert!(answer.err.contains("2 of ") && answer.err.contains("tiny: privatize blink/trial-1"), "{}", answer.err);
    assert_eq!(lab.call(&["ledger", "--json"]).out.trim(), "[]");
}

#[test]
fn a_locked_run_computes_nothing_anew() {
    let lab = Lab::tiny();
    let locked = |more: &[&str]| lab.call(&[&["run", "config.toml", "--locked"], more].concat());
    let nothing = locked(&[]);
    assert!(nothing.status == 1 && nothing.err.contains("no recorded run of `tiny`"), "{}", nothing.err);
    lab.json(&[]);
    assert_eq!(locked(&[]).status, 0);
    let changed = locked(&["--set", "train.hidden=8"]);
    assert_eq!(changed.status, 1, "{}", changed.err);
    for word in ["nothing ran", "train trial-0: hidden changed 16 -> 8", "run without --locked"] {
        assert!(changed.err.contains(word), "{word}: {}", changed.err);
    }
    assert_eq!(rows(&runs(&lab)).count(), 1, "nothing ran");
    // What is gone would be computed again.
    let trained = document(&lab.call(&["run", "config.toml", "--json"]));
    let model = rows(&trained["stages"]).find(|row| row["stage"] == "train").expect("a model");
    let file = model["outputs"].as_object().and_then(|outputs| outputs.values().next()).expect("an output");
    let folder = std::path::Path::new(file["path"].as_str().expect("a path")).parent().expect("an entry").to_owned();
    std::fs::remove_dir_all(lab.path("").join(folder)).expect("removed");
    let gone = locked(&[]);
    assert!(gone.status == 1 && gone.err.contains("train trial-0: its result is gone"), "{}", gone.err);
}

/// What failed in the recorded run is not held to it, even where an earlier run made it.
#[test]
fn a_locked_run_may_run_what_failed() {
    let lab = Lab::tiny();
    let made = keep_going(&lab, &["--set", "estimate.missing_nodes=one-sided"]);
    assert_eq!(made.status, 0, "{}", made.err);
    assert_eq!(keep_going(&lab, &[]).status, 1);
    let again = keep_going(&lab, &["--locked"]);
    assert!(again.err.contains("stage runs failed") && !again.err.contains("--locked:"), "{}", again.err);
}

/// Linux tells how much memory a process takes.
#[cfg(target_os = "linux")]
#[test]
fn a_run_says_how_much_memory_it_took() {
    let lab = Lab::tiny();
    let document = lab.json(&[]);
    let of_tasks: Vec<u64> = rows(&document["stages"]).filter_map(|row| row["peak_memory"].as_u64()).collect();
    assert_eq!(of_tasks.len(), rows(&document["stages"]).count(), "everything ran here");
    let largest = of_tasks.into_iter().max().expect("a task");
    assert!((1 << 20..1 << 36).contains(&largest), "{largest} bytes are no memory of a small run");
    assert_eq!(runs(&lab)[0]["peak_memory"], largest);
    let again = lab.json(&[]);
    assert!(rows(&again["stages"]).all(|row| row["peak_memory"].is_null()), "nothing ran");
    assert!(lab.call(&["ls", "--runs"]).out.contains("peak memory"));
}

fn plan(lab: &Lab, more: &[&str]) -> Answer {
    let answer = lab.call(&[&["plan", "config.toml"], more].concat());
    assert_eq!(answer.status, 0, "{}", answer.err);
    answer
}

/// A plan sums up what would run, and estimates it from what such tasks took in this store, if any ran.
#[test]
fn a_plan_says_what_everything_takes_together() {
    let lab = Lab::tiny();
    let first = plan(&lab, &[]).out;
    for words in [
        "to train: 2 models",
        "to release about `tiny`: 2 times, 12 nats per list bit",
        "time: unknown, for none like these has run in this store",
    ] {
        assert!(first.contains(words), "{words}: {first}");
    }
    // Three trials search a grid of two settings, and two are trained with the one that is chosen.
    let grid = plan(&lab, &["--json", "--set", "train.learning_rate=[0.1, 0.01]", "--set", "search_trials=3"]);
    assert_eq!(document(&grid)["totals"]["models"], 8);
    let of_run = lab.json(&[]);
    let n_tasks = rows(&of_run["stages"]).count();
    let of_fresh = plan(&lab, &[]).out;
    assert!(!of_fresh.contains("estimate:") && of_fresh.contains("0 would run"), "{of_fresh}");
    // Another budget is of the same kinds, and everything but the data runs again.
    let budget = document(&plan(&lab, &["--json", "--set", "privatize.links.epsilon=5"]))["totals"].clone();
    assert_eq!(
        (budget["tasks"].as_u64(), budget["releases"].as_u64()),
        (Some(n_tasks as u64 - 1), Some(2)),
        "{budget}"
    );
    assert_eq!(
        (budget["known_from"].as_u64(), budget["without_estimate"].as_u64()),
        (Some(n_tasks as u64 - 1), Some(0))
    );
    let seconds: f64 = rows(&of_run["stages"]).filter_map(|row| row["seconds"].as_f64()).sum();
    assert!(budget["seconds"].as_f64().is_some_and(|estimate| 0.0 < estimate && estimate <= seconds), "{budget}");
    // A network of another size is of another kind.
    let narrow = plan(&lab, &["--set", "train.hidden=8"]).out;
    assert!(narrow.contains("time: unknown for 2 of ") && narrow.contains("from 1 stage runs like these"), "{narrow}");
    assert!(narrow.contains("(train classify 2); for the others about "), "{narrow}");
}

/// A task that took more by itself than one artifact may take is warned of, and runs: it holds several artifacts.
#[test]
fn what_is_known_to_take_much_memory_is_warned_of() {
    let lab = Lab::tiny();
    lab.json(&["--jobs", "1", "--memory-limit", "1MiB"]);
    let path = lab.path("artifacts/simulation/runs/tiny/log.jsonl");
    let mut line: Value = serde_json::from_str(&std::fs::read_to_string(&path).expect("a log")).expect("one line");
    let tasks = line["ran"].as_array_mut().expect("tasks");
    for task in tasks.iter_mut().filter(|task| task["stage"] == "train") {
        task["own_memory"] = (2_u64 << 30).into();
    }
    std::fs::write(&path, format!("{line}\n")).expect("written");
    let call = |command: &str, limit: &str| {
        lab.call(&[command, "config.toml", "--set", "train.learning_rate=0.02", "--memory-limit", limit])
    };
    for command in ["plan", "run"] {
        // No task like these is known to take more than 3 GiB.
        let (plain, warned) = (call(if command == "run" { "plan" } else { command }, "3GiB"), call(command, "1GiB"));
        assert!(plain.status == 0 && !plain.err.contains("by itself in earlier runs"), "{command}: {}", plain.err);
        assert_eq!(warned.status, 0, "{command}: {}", warned.err);
        let words = "train classify took at least 2.0 GiB by itself in earlier runs; --memory-limit 1.0 GiB bounds one artifact";
        assert_eq!(warned.err.matches(words).count(), 1, "{command}: {}", warned.err);
    }
    assert_eq!(rows(&runs(&lab)).count(), 2, "it ran");
    // A limit that the first run kept to is no reason to refuse the next one.
    let next = lab.call(&["run", "config.toml", "--set", "train.learning_rate=0.03", "--memory-limit", "1MiB"]);
    assert_eq!(next.status, 0, "{}", next.err);
}

#[test]
fn a_plan_is_a_graph_for_mermaid() {
    let lab = Lab::tiny();
    let graph = plan(&lab, &["--format", "mermaid"]).out;
    assert!(graph.starts_with("flowchart LR\n  subgraph owner\n    ingest.ingest[\"ingest\"]\n"), "{graph}");
    for line in ["  subgraph server", "    privatize.blink[\"privatize blink × 2\"]", "  end"] {
        assert!(graph.lines().any(|found| found == line), "{line}: {graph}");
    }
    let joins = |from: &str, to: &str| {
        let (from, to) = (format!("  {from} -- \""), format!("\" --> {to}"));
        graph.lines().any(|line| line.starts_with(&from) && line.ends_with(&to))
    };
    for (from, to) in [("ingest.ingest", "privatize.blink"), ("train.classify", "evaluate.predictions")] {
        assert!(joins(from, to), "{from} to {to}: {graph}");
    }
    assert!(!joins("train.classify", "privatize.blink"), "{graph}");
    assert_eq!(lab.call(&["plan", "config.toml", "--format", "mermaid", "--json"]).status, 2);
    assert!(!lab.has_entries(), "a plan runs nothing");
}
