//! Damaged files, full disks, two runs at once.

use std::fs;
use std::process::{Command, Stdio};

use crate::support::{Answer, Lab, TINY, rows};

/// Path of the noisy links of the first trial.
fn noisy_links(lab: &Lab) -> std::path::PathBuf {
    fs::canonicalize(lab.path("artifacts/simulation/runs/tiny/privatize/trial-0/noisy_links.parquet"))
        .expect("a link to the entry")
}

#[test]
fn a_damaged_artifact_is_noticed_and_made_anew() {
    let lab = Lab::tiny();
    lab.json(&[]);
    let path = noisy_links(&lab);
    let whole = fs::read(&path).expect("readable");
    let mut flipped = whole.clone();
    flipped[whole.len() / 2] ^= 1;
    for damaged in [flipped, whole[..whole.len() / 3].to_vec(), Vec::new()] {
        fs::write(&path, damaged).expect("written");
        let verify = lab.call(&["verify"]);
        assert!(verify.status == 1 && verify.err.contains("noisy_links.parquet: corrupt artifact"), "{}", verify.err);
        let plan = lab.call(&["plan", "config.toml"]);
        assert!(plan.out.contains("its entry was damaged"), "{}", plan.err);
        assert_eq!(lab.ran(&[]), ["privatize"], "the same bytes again: what follows is fresh");
        assert_eq!(fs::read(&path).expect("readable"), whole);
        assert_eq!(lab.call(&["verify"]).status, 0);
    }
    fs::write(&path, "x").expect("written");
    assert_eq!(lab.call(&["verify", "--remove"]).status, 0);
    assert_eq!(lab.ran(&[]), ["privatize"]);
    fs::remove_file(&path).expect("removed");
    assert_eq!(lab.ran(&[]), ["privatize"]);
}

#[test]
fn a_damaged_manifest_is_named_and_made_anew() {
    let lab = Lab::tiny();
    lab.json(&[]);
    let manifest = noisy_links(&lab).with_file_name("manifest.json");
    fs::write(&manifest, "{").expect("written");
    let verify = lab.call(&["verify"]);
    assert!(verify.status == 1 && verify.err.contains("manifest.json: not a manifest"), "{}", verify.err);
    assert_eq!(lab.ran(&[]), ["privatize"], "made anew");
    assert_eq!(lab.call(&["verify"]).status, 0);
}

#[test]
fn what_is_no_artifact_cannot_be_shown() {
    let lab = Lab::tiny();
    assert_eq!(lab.call(&["run", "config.toml", "--until", "ingest"]).status, 0);
    let shown = lab.call(&["show", "tiny/estimate/trial-0/nothing"]);
    assert!(shown.status == 1 && shown.err.contains("no such artifact"), "{}", shown.err);
    lab.write("text.parquet", "this is no Parquet");
    let shown = lab.call(&["show", "text.parquet"]);
    assert!(shown.status == 1 && shown.err.contains("not a readable Parquet file"), "{}", shown.err);
}

#[test]
fn a_store_of_a_newer_version_is_left_alone() {
    let lab = Lab::tiny();
    lab.write("artifacts/layout", "4\n");
    for command in [vec!["run", "config.toml"], vec!["gc", "--older-than", "0"], vec!["verify", "--remove"]] {
        let answer = lab.call(&command);
        assert!(answer.status == 1 && answer.err.contains("the version of veilgraph that wrote it"), "{}", answer.err);
    }
    assert_eq!(fs::read_dir(lab.path("artifacts")).expect("readable").count(), 1, "nothing was written");
}

#[test]
fn private_data_that_others_may_read_are_refused() {
    use std::os::unix::fs::PermissionsExt;
    let lab = Lab::tiny();
    lab.json(&[]);
    fs::set_permissions(lab.path("artifacts/owner"), fs::Permissions::from_mode(0o755)).expect("changed");
    let answer = lab.call(&["run", "config.toml"]);
    assert!(answer.status == 1 && answer.err.contains("chmod 700"), "{}", answer.err);
}

/// A limit on the size of files stands in for a full disk: writing fails in the middle of a stage.
#[test]
fn a_write_that_fails_leaves_the_store_whole() {
    for kibibytes in [1, 2, 4, 8] {
        let lab = Lab::with(
            "config.toml",
            TINY.replace("nodes = 120", "nodes = 900").replace("epsilon = 6.0", "epsilon = 1.0"),
        );
        let script = format!("trap '' XFSZ; ulimit -f {kibibytes}; exec \"$0\" --store artifacts run config.toml");
        let mut command = Command::new("bash");
        command.args(["-c", &script, env!("CARGO_BIN_EXE_veilgraph")]).current_dir(lab.path("")).env_remove("DATA_DIR");
        let answer = Answer::of(&mut command);
        assert_eq!(answer.status, 1, "{kibibytes} KiB: {}", answer.err);
        assert!(
            answer.err.contains("cannot write") && answer.err.contains("run again"),
            "{kibibytes} KiB: {}",
            answer.err
        );
        assert!(!answer.err.contains("panicked"), "{}", answer.err);
        assert_eq!(lab.call(&["verify"]).status, 0, "what was published is whole");
        lab.json(&[]);
        assert_eq!(lab.call(&["verify"]).status, 0, "the next run finishes");
    }
}

#[test]
fn a_killed_run_is_taken_up_again() {
    let lab = Lab::tiny();
    for milliseconds in [5, 20, 40, 60, 80] {
        let mut child = lab.command(&["--quiet", "run", "config.toml"]).stdout(Stdio::null()).spawn().expect("starts");
        std::thread::sleep(std::time::Duration::from_millis(milliseconds));
        let _ = child.kill();
        child.wait().expect("ended");
        let has_begun = lab.path("artifacts").exists();
        assert!(!has_begun || lab.call(&["verify"]).status == 0, "killed after {milliseconds} ms");
    }
    let whole = Lab::tiny();
    let key = |lab: &Lab| {
        rows(&lab.json(&[])["stages"])
            .map(|row| row["outputs"]["predictions"]["digest"].to_string())
            .collect::<Vec<_>>()
    };
    assert_eq!(key(&lab), key(&whole), "as if nothing had happened");
}

#[test]
fn two_runs_at_once_do_the_work_once() {
    let lab = Lab::tiny();
    let children: Vec<_> = (0..3)
        .map(|_| {
            lab.command(&["--quiet", "run", "config.toml", "--json"]).stdout(Stdio::piped()).spawn().expect("starts")
        })
        .collect();
    let mut privatized = 0;
    for child in children {
        let output = child.wait_with_output().expect("ended");
        assert!(output.status.success());
        let document: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
        privatized +=
            rows(&document["stages"]).filter(|row| row["stage"] == "privatize" && row["status"] == "ran").count();
    }
    assert_eq!(privatized, 2, "each of two trials is released once");
    assert_eq!(lab.call(&["verify"]).status, 0);
}
