//! What earlier runs left: lists of entries, the history of runs, and what may be removed.

use std::fs;
use std::path::PathBuf;

use crate::support::Lab;

#[test]
fn ls_and_gc_know_what_is_used() {
    let lab = Lab::tiny();
    lab.json(&[]);
    let count = || lab.call(&["ls"]).out.lines().filter(|line| line.contains("trial") || line.starts_with('|')).count();
    let used = count();
    lab.json(&["--set", "privatize.links.epsilon=3"]);
    assert!(count() > used);
    let dry = lab.call(&["gc", "--dry-run", "--older-than", "0"]).out;
    assert!(dry.contains("would remove privatize"), "{dry}");
    assert!(lab.call(&["gc", "--older-than", "0"]).out.contains("removed privatize"));
    assert_eq!(count(), used, "the last run's entries stay");
    assert!(lab.ran(&["--set", "privatize.links.epsilon=3"]).is_empty());
    assert_eq!(lab.ran(&[]), ["privatize", "estimate", "construct", "train", "evaluate"]);
}

#[test]
fn gc_keeps_what_the_last_runs_used_or_what_has_room() {
    let lab = Lab::tiny();
    for epsilon in ["3", "4", "5", "6"] {
        lab.json(&["--set", &format!("privatize.links.epsilon={epsilon}"), "--set", "trials=1"]);
    }
    let dry = |more: &[&str]| {
        let answer = lab.call(&[&["gc", "--dry-run", "--older-than", "0"], more].concat());
        assert_eq!(answer.status, 0, "{}", answer.err);
        answer.out
    };
    // Three of the four budgets are unused.
    let reports = |out: &str| out.lines().filter(|line| line.starts_with("would remove privatize")).count();
    assert_eq!(reports(&dry(&[])), 3);
    assert_eq!(reports(&dry(&["--keep-last", "2"])), 2);
    assert_eq!(reports(&dry(&["--keep-last", "4"])), 0);
    let kept = dry(&["--keep-size", "1GiB"]);
    assert!(kept.starts_with("0 unused entries") && kept.contains("stay, as --keep-size says"), "{kept}");
    assert_eq!(reports(&dry(&["--keep-size", "1B"])), 3);
    // Private files count, although manifests do not say how large they are.
    let all: serde_json::Value =
        serde_json::from_str(&lab.call(&["gc", "--all", "--dry-run", "--json"]).out).expect("JSON");
    let ingest = all["removed_entries"].as_array().expect("entries").iter().find(|entry| entry["stage"] == "ingest");
    let folder = lab.path("artifacts/owner/ingest").join(ingest.expect("one")["key"].as_str().expect("a key"));
    let private: u64 =
        fs::read_dir(folder).expect("private files").flatten().map(|item| item.metadata().expect("a size").len()).sum();
    assert!(private > 0 && ingest.expect("one")["bytes"].as_u64() > Some(private), "{private}: {all}");
    assert_eq!(lab.call(&["gc", "--all", "--keep-size", "1B"]).status, 2, "everything and some of it");
    assert_eq!(lab.call(&["gc", "--keep-last", "0"]).status, 2, "what the last run used is in use");
}

#[test]
fn every_run_of_a_config_has_its_place_in_a_history() {
    let lab = Lab::tiny();
    lab.json(&[]);
    for _ in 0..2 {
        // The second of these changes nothing, and adds nothing.
        lab.json(&["--set", "train.hidden=8"]);
    }
    let listed = lab.call(&["ls", "--runs", "tiny"]).out;
    assert!(listed.contains("tiny@1") && listed.contains("tiny@2") && !listed.contains("tiny@3"), "{listed}");
    assert!(listed.contains("train.hidden changed absent -> 8"), "{listed}");
    let runs = lab.call(&["ls", "--runs", "--json"]).out;
    let runs: serde_json::Value = serde_json::from_str(&runs).expect("JSON");
    assert!(runs[0]["config"].as_str().is_some_and(|config| config.contains("hidden = 8")), "{runs}");
    assert!(runs[1]["config"].as_str().is_some_and(|config| !config.contains("hidden")), "{runs}");
    let changed = lab.call(&["diff", "tiny@2", "tiny"]).out;
    assert!(changed.contains("hidden changed 16 -> 8") && changed.contains("tiny − tiny@2"), "{changed}");
    let names = lab.call(&["show", "tiny@2"]).out;
    let name = names.lines().find(|name| name.ends_with("/predictions")).expect("a model of the first run");
    let rows = |name: &str| lab.call(&["show", name, "--format", "csv"]).out;
    let (first, last) = (rows(name), rows(&name.replacen("tiny@2", "tiny", 1)));
    assert!(first.starts_with("model,") && first != last, "{name}: the network has other answers");
    assert_eq!(rows(&name.replacen("tiny@2", "tiny@1", 1)), last, "{name}");
    let manifest = |name: &str| {
        let shown = lab.call(&["show", name]).out;
        lab.path(shown.lines().next().expect("a path")).with_file_name("manifest.json")
    };
    let other = names.lines().find(|name| name.ends_with("/graph")).expect("a graph");
    let damaged = manifest(other);
    let sound = fs::read(&damaged).expect("a manifest");
    fs::write(&damaged, "{").expect("written");
    let answer = lab.call(&["show", name]);
    assert!(answer.status == 0 && answer.err.contains("manifest"), "a damaged entry hides no other: {}", answer.err);
    fs::write(&damaged, sound).expect("written");
    let far = lab.call(&["show", &name.replacen("tiny@2", "tiny@3", 1)]);
    assert!(far.status == 1 && far.err.contains("has 2 runs"), "{}", far.err);
    let far = lab.call(&["diff", "tiny@3", "tiny@1"]);
    assert!(far.status == 1 && far.err.contains("has 2 runs"), "{}", far.err);
    assert_eq!(lab.call(&["ls", "--runs", "nothing"]).status, 1);
    // A damaged file is a memory less, and hinders nobody.
    let history = lab.path("artifacts/simulation/runs/tiny/history");
    let files = || {
        let mut files: Vec<PathBuf> =
            fs::read_dir(&history).expect("a history").map(|file| file.expect("a run").path()).collect();
        files.sort();
        files
    };
    fs::write(&files()[0], "{").expect("written");
    let run = lab.call(&["run", "config.toml"]);
    assert!(run.status == 0 && !run.err.contains("damaged"), "a run reads the newest file alone: {}", run.err);
    assert_eq!(files().len(), 3, "it differs from the run before, and is kept");
    let answer = lab.call(&["ls", "--runs"]);
    assert!(answer.status == 0 && answer.err.contains("damaged"), "{}", answer.err);
    assert!(answer.out.contains("tiny@2") && !answer.out.contains("tiny@3"), "{}", answer.out);
    // Where the newest is damaged, the one before it counts as the last.
    fs::write(&files()[2], "{").expect("written");
    let gc = lab.call(&["gc", "--dry-run"]);
    assert!(gc.status == 0 && gc.err.contains("damaged"), "{}", gc.err);
}

/// A run of its first stages does not free what the whole experiment used.
#[test]
fn a_run_of_a_part_frees_nothing() {
    let lab = Lab::tiny();
    lab.json(&[]);
    lab.json(&["--until", "privatize"]);
    let dry = lab.call(&["gc", "--older-than", "0", "--dry-run"]).out;
    assert!(dry.starts_with("0 unused entries"), "{dry}");
}

#[test]
fn an_experiment_is_forgotten_by_its_name() {
    let lab = Lab::tiny();
    lab.json(&[]);
    lab.json(&["--set", "name=other", "--set", "privatize.links.epsilon=3"]);
    let unknown = lab.call(&["gc", "--forget", "tny"]);
    assert!(unknown.status == 1 && unknown.err.contains("did you mean `tiny`"), "{}", unknown.err);
    let dry = lab.call(&["gc", "--forget", "tiny", "--older-than", "0", "--dry-run"]).out;
    assert!(dry.contains("would forget") && dry.contains("would remove privatize"), "{dry}");
    assert!(lab.path("artifacts/simulation/runs/tiny/run.json").is_file(), "nothing was removed yet");
    let gone = lab.call(&["gc", "--forget", "tiny", "--older-than", "0"]).out;
    assert!(gone.contains("removed privatize"), "{gone}");
    for part in ["simulation", "owner", "auditor"] {
        assert!(!lab.path("artifacts").join(part).join("runs/tiny").exists(), "{part}");
    }
    let other = ["--set", "name=other", "--set", "privatize.links.epsilon=3"];
    assert!(lab.ran(&other).is_empty(), "the other experiment is whole");
}

/// Young entries stay in any case, and the size that was allowed is then taken up by them.
#[test]
fn what_is_young_takes_its_part_of_the_size() {
    let lab = Lab::tiny();
    for epsilon in ["3", "4", "5"] {
        lab.json(&["--set", &format!("privatize.links.epsilon={epsilon}"), "--set", "trials=1"]);
    }
    // Reports become a month old, and what was made of them stays young.
    let month = std::time::SystemTime::now() - std::time::Duration::from_hours(30 * 24);
    let mut least = u64::MAX;
    for entry in fs::read_dir(lab.path("artifacts/simulation/privatize")).expect("reports") {
        let folder = entry.expect("readable").path();
        let manifest = folder.join("manifest.json");
        let file = fs::File::options().write(true).open(&manifest).expect("a manifest");
        file.set_modified(month).expect("aged");
        let files = fs::read_dir(&folder).expect("files").map(|file| file.expect("readable"));
        let sizes = files.filter(|file| file.path() != manifest).map(|file| file.metadata().expect("readable").len());
        least = least.min(sizes.sum());
    }
    let removed = |more: &[&str]| {
        let answer = lab.call(&[&["gc", "--dry-run"], more].concat());
        assert_eq!(answer.status, 0, "{}", answer.err);
        answer.out.lines().filter(|line| line.starts_with("would remove privatize")).count()
    };
    assert_eq!(removed(&[]), 2);
    assert_eq!(removed(&["--keep-size", &format!("{least}B")]), 2, "the young ones take more than one old one has");
    assert_eq!(removed(&["--keep-size", "1GiB"]), 0);
}

/// What a damaged entry is called cannot be known, but all others are listed before that is said.
#[test]
fn a_damaged_manifest_does_not_hide_the_other_entries() {
    let lab = Lab::tiny();
    assert_eq!(lab.ran(&[]).len(), 6);
    let listed = lab.call(&["ls"]).out.lines().count();
    let entries = fs::read_dir(lab.path("artifacts/simulation/construct")).expect("there");
    let entry = entries.flatten().find(|item| item.path().join("manifest.json").is_file()).expect("an entry").path();
    fs::write(entry.join("manifest.json"), "{").expect("written");
    for form in [&["ls"][..], &["ls", "--json"]] {
        let answer = lab.call(form);
        assert!(answer.status == 1 && answer.err.contains("manifest.json"), "{}", answer.err);
        let others = answer.out.lines().count();
        assert!(others > 8, "{listed} lines before, {others} now: {}", answer.out);
    }
}
