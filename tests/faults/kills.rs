//! Processes that die at any moment, and processes that race.

use std::process::Stdio;
use std::time::{Duration, Instant};

use crate::say;
use crate::support::{Lab, TINY, digests};

/// Digests of what everybody may see: those of private files are keyed by each store's own secret.
fn public_digests(lab: &Lab) -> Vec<(String, String)> {
    let mut all = digests(&lab.json(&[]));
    all.retain(|(name, _)| !["links", "held_out_labels", "metrics"].iter().any(|private| name.ends_with(private)));
    all
}

/// A thousand kills, spread over the whole length of a run; every tenth store is then brought to its end.
#[test]
#[ignore = "minutes: make test-faults"]
fn a_thousand_kills_corrupt_nothing() {
    const KILLS: u32 = 1000;
    let whole = Lab::tiny();
    let start = Instant::now();
    let undisturbed = public_digests(&whole);
    let length = start.elapsed();
    let (mut lab, mut in_flight) = (Lab::tiny(), 0);
    for kill in 0..KILLS {
        let mut child = lab.command(&["--quiet", "run", "config.toml"]);
        let mut child = child.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("starts");
        // Low-discrepancy moments: every part of a run is hit.
        std::thread::sleep(length.mul_f64((f64::from(kill) * 0.618_033_988_75).fract()));
        in_flight += u32::from(matches!(child.try_wait(), Ok(None)));
        let _ = child.kill();
        child.wait().expect("ended");
        if kill % 10 == 9 {
            let verify = lab.call(&["verify"]);
            assert_eq!(verify.status, 0, "kill {kill}: {}", verify.err);
            assert_eq!(public_digests(&lab), undisturbed, "kill {kill}: as if nothing had happened");
            let swept = lab.call(&["gc", "--older-than", "0"]);
            assert_eq!(swept.status, 0, "kill {kill}: {}", swept.err);
            assert!(!lab.path("artifacts/tmp").exists(), "nothing is left behind");
            lab = Lab::tiny();
        }
    }
    say(&format!("{KILLS} kills, {in_flight} of running processes: nothing corrupt, all results as undisturbed"));
    assert!(in_flight > KILLS / 4, "only {in_flight} hit a running process");
}

/// A hundred pairs of runs at once; one of each pair is killed in every other round.
#[test]
#[ignore = "minutes: make test-faults"]
fn a_hundred_pairs_of_runs_do_the_work_once() {
    const PAIRS: u32 = 100;
    let undisturbed = public_digests(&Lab::tiny());
    for pair in 0..PAIRS {
        let lab = Lab::tiny();
        let start = || {
            lab.command(&["--quiet", "run", "config.toml", "--json"]).stdout(Stdio::piped()).spawn().expect("starts")
        };
        let (mut first, second) = (start(), start());
        if pair % 2 == 1 {
            std::thread::sleep(Duration::from_millis(u64::from(pair)));
            let _ = first.kill();
        }
        let mut ran = 0;
        for child in [first, second] {
            let output = child.wait_with_output().expect("ended");
            if let Ok(document) = serde_json::from_slice::<serde_json::Value>(&output.stdout) {
                let rows = crate::support::rows(&document["stages"]);
                ran += rows.filter(|row| row["stage"] == "privatize" && row["status"] == "ran").count();
            } else {
                assert_eq!(pair % 2, 1, "pair {pair}: only a killed run has no answer");
            }
        }
        assert!(ran <= 2, "pair {pair}: {ran} releases of two trials");
        assert_eq!(public_digests(&lab), undisturbed, "pair {pair}");
        let rows: serde_json::Value = serde_json::from_str(&lab.call(&["ledger", "--json"]).out).expect("JSON");
        assert_eq!(rows.as_array().expect("rows").len(), 8, "pair {pair}: each trial is charged once");
    }
    say(&format!("{PAIRS} pairs of runs at once: results as undisturbed, each release drawn and charged once"));
}

/// The tiny experiment as a deployment.
fn deployment() -> Lab {
    let privacy = "[privacy]\nrandomness = \"os\"\npopulation = \"members\"\nbudget = 6.0\n[ingest.synthetic]";
    Lab::with("config.toml", TINY.replace("trials = 2", "").replace("[ingest.synthetic]", privacy))
}

/// The noisy lists of the one release, if it is there.
fn released(lab: &Lab) -> Option<Vec<u8>> {
    let entry = std::fs::read_dir(lab.path("artifacts/owner/privatize")).ok()?.next()?.expect("readable").path();
    std::fs::read(entry.join("noisy_links.parquet")).ok()
}

/// A thousand kills of deployments, the ledger read after each: what was released was charged, once, and what was once
/// drawn is never drawn again.
#[test]
#[ignore = "minutes: make test-faults"]
fn a_thousand_kills_of_deployments_release_once() {
    const KILLS: u32 = 1000;
    let start = Instant::now();
    assert_eq!(deployment().call(&["--quiet", "run", "config.toml", "--until", "privatize"]).status, 0);
    let length = start.elapsed();
    let (mut lab, mut before, mut in_flight, mut lost, mut charged_alone) = (deployment(), None, 0, 0, 0);
    for kill in 0..KILLS {
        let mut child = lab.command(&["--quiet", "run", "config.toml", "--until", "privatize"]);
        let mut child = child.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("starts");
        std::thread::sleep(length.mul_f64((f64::from(kill) * 0.618_033_988_75).fract()));
        in_flight += u32::from(matches!(child.try_wait(), Ok(None)));
        let _ = child.kill();
        child.wait().expect("ended");
        let answer = lab.call(&["ledger", "--json"]);
        if before.is_none() && !lab.path("artifacts").is_dir() {
            // The run was killed before it made the store.
            continue;
        }
        assert_eq!(answer.status, 0, "kill {kill}: {}", answer.err);
        let rows: serde_json::Value = serde_json::from_str(&answer.out).expect("JSON");
        let charged = rows.as_array().expect("rows").len();
        assert!(charged == 0 || charged == 4, "kill {kill}: {charged} rows");
        let now = released(&lab);
        assert!(now.is_none() || charged == 4, "kill {kill}: released and not charged");
        assert!(before.is_none() || now == before, "kill {kill}: a release was drawn again");
        charged_alone += u32::from(charged == 4 && now.is_none());
        before = now;
        if kill % 3 == 2 {
            let finished = lab.call(&["--quiet", "run", "config.toml", "--until", "privatize"]);
            // Killed between the last step of drawing and publishing: nobody can tell that nobody saw the release.
            let is_lost = finished.status == 1 && finished.err.contains("drawn before");
            assert!(finished.status == 0 || is_lost, "kill {kill}: {}", finished.err);
            lost += u32::from(is_lost);
            let rows: serde_json::Value = serde_json::from_str(&lab.call(&["ledger", "--json"]).out).expect("JSON");
            assert_eq!(rows.as_array().expect("rows").len(), 4, "kill {kill}: charged once");
            assert!(before.is_none() || released(&lab) == before, "kill {kill}");
            let verify = lab.call(&["verify"]);
            assert_eq!(verify.status, 0, "kill {kill}: {}", verify.err);
            (lab, before) = (deployment(), None);
        }
    }
    say(&format!(
        "{KILLS} kills of deployments, {in_flight} of running processes: charged once each, never drawn twice; {charged_alone} \
         times charged and not yet drawn, {lost} times lost between drawing and publishing"
    ));
    assert!(in_flight > KILLS / 4, "only {in_flight} hit a running process");
    assert_eq!(lost, 0, "releases were lost");
}
