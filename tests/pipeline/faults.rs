//! Damaged files, full disks, two runs at once.

use std::fs;
use std::process::{Command, Stdio};

use crate::support::{Answer, Lab, TINY, rows};

/// Path of the noisy links of the first trial.
fn noisy_links(lab: &Lab) -> std::path::PathBuf {
    fs::canonicalize(lab.path("artifacts/runs/tiny/privatize/trial-0/noisy_links.parquet"))
        .expect("a link to the entry")
}

#[test]
fn a_damaged_artifact_is_noticed_on_use_and_made_anew() {
    let lab = Lab::tiny();
    lab.json(&[]);
    let path = noisy_links(&lab);
    let mut bytes = fs::read(&path).expect("readable");
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(&path, bytes).expect("written");
    let answer = lab.call(&["run", "config.toml", "--set", "estimate.solver=fixed-point-200"]);
    assert_eq!(answer.status, 1);
    assert!(
        answer.err.contains("noisy_links.parquet: corrupt artifact") && answer.err.contains("verify --remove"),
        "{}",
        answer.err
    );
    let verify = lab.call(&["verify"]);
    assert!(verify.status == 1 && verify.err.contains("noisy_links.parquet"), "{}", verify.err);
    assert_eq!(lab.call(&["verify", "--remove"]).status, 0);
    assert_eq!(lab.ran(&[]), ["privatize"], "the same bytes again: what follows is fresh");
    assert_eq!(lab.call(&["verify"]).status, 0);
}

#[test]
fn a_missing_or_truncated_artifact_is_noticed() {
    let lab = Lab::tiny();
    lab.json(&[]);
    let path = noisy_links(&lab);
    let bytes = fs::read(&path).expect("readable");
    fs::write(&path, &bytes[..bytes.len() / 3]).expect("written");
    let answer = lab.call(&["run", "config.toml", "--set", "estimate.solver=fixed-point-200"]);
    assert!(answer.status == 1 && answer.err.contains("corrupt artifact"), "{}", answer.err);
    fs::remove_file(&path).expect("removed");
    assert_eq!(lab.ran(&[]), ["privatize"]);
    let shown = lab.call(&["show", "tiny/estimate/trial-0/nothing"]);
    assert!(shown.status == 1 && shown.err.contains("no such artifact"), "{}", shown.err);
    lab.write("text.parquet", "this is no Parquet");
    let shown = lab.call(&["show", "text.parquet"]);
    assert!(shown.status == 1 && shown.err.contains("not a readable Parquet file"), "{}", shown.err);
}

#[test]
fn a_damaged_manifest_is_named() {
    let lab = Lab::tiny();
    lab.json(&[]);
    let manifest = noisy_links(&lab).with_file_name("manifest.json");
    fs::write(&manifest, "{").expect("written");
    let answer = lab.call(&["run", "config.toml"]);
    assert!(answer.status == 1 && answer.err.contains("manifest.json: not a manifest"), "{}", answer.err);
    assert_eq!(lab.call(&["verify"]).status, 1);
    assert_eq!(lab.call(&["verify", "--remove"]).status, 0);
    assert_eq!(lab.ran(&[]), ["privatize"], "made anew");
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
        command.args(["-c", &script, env!("CARGO_BIN_EXE_veilgraph")]).current_dir(lab.path(""));
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
        assert_eq!(lab.call(&["verify"]).status, 0, "killed after {milliseconds} ms");
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
