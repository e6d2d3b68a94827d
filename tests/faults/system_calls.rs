//! Faults at every single system call that changes the disk, injected with strace.

use std::collections::BTreeSet;
use std::process::Command;

use crate::say;
use crate::support::{Answer, Lab, TINY};

const CHANGING: &str = "write,pwrite64,fsync,fdatasync,rename,renameat,renameat2,mkdir,mkdirat,unlink,unlinkat,ftruncate,symlinkat,symlink";

const ONE_TRIAL: [&str; 2] = ["--set", "trials=1"];

const UNTIL: [&str; 2] = ["--until", "privatize"];

/// The program under strace, one task at a time.
fn traced(lab: &Lab, options: &[&str], log: &str, more: &[&str]) -> Answer {
    let mut command = Command::new("strace");
    command.args(["-f", "-o", log]).args(options).arg(env!("CARGO_BIN_EXE_veilgraph"));
    command.args(["--quiet", "--store", "artifacts", "run", "config.toml", "--jobs", "1"]).args(more);
    command.current_dir(lab.path("")).env("RAYON_NUM_THREADS", "1").env_remove("DATA_DIR");
    Answer::of(&mut command)
}

fn has_strace(test: &str) -> bool {
    let there = Command::new("strace").arg("-V").output().is_ok();
    if !there {
        say(&format!("skipped {test}: strace is not installed"));
    }
    there
}

/// Calls of a log that touch the store: pairs of name and arguments.
fn calls(lab: &Lab, log: &str) -> Vec<(String, String)> {
    let text = std::fs::read_to_string(lab.path(log)).expect("a log");
    let parse = |line: &str| {
        let (_, call) = line.split_once(' ')?;
        let (name, arguments) = call.trim_start().split_once('(')?;
        Some((name.to_owned(), arguments.to_owned()))
    };
    text.lines().filter_map(parse).collect()
}

/// Kill, full disk and broken disk at the k-th call of each kind, for every k.
#[test]
#[ignore = "minutes: make test-faults"]
fn a_fault_at_any_system_call_leaves_the_store_whole() {
    if !has_strace("a_fault_at_any_system_call_leaves_the_store_whole") {
        return;
    }
    let whole = Lab::tiny();
    let counted = traced(&whole, &["-e", &format!("trace={CHANGING}")], "log", &ONE_TRIAL);
    assert_eq!(counted.status, 0, "{}", counted.err);
    let kinds: BTreeSet<String> = calls(&whole, "log").into_iter().map(|call| call.0).collect();
    let kinds: Vec<&String> = kinds.iter().filter(|name| CHANGING.split(',').any(|known| known == *name)).collect();
    let mut faults = 0;
    for kind in kinds {
        let count = calls(&whole, "log").iter().filter(|call| call.0 == *kind).count();
        // Long series are sampled: their calls repeat one pattern.
        let step = count.div_ceil(40);
        for k in (1..=count).step_by(step) {
            for fault in ["signal=KILL", "error=ENOSPC", "error=EIO"] {
                let lab = Lab::tiny();
                let inject = format!("inject={kind}:{fault}:when={k}");
                let answer = traced(&lab, &["-e", &format!("trace={kind}"), "-e", &inject], "log", &ONE_TRIAL);
                assert!(!answer.err.contains("panicked"), "{inject}: {}", answer.err);
                let verify = lab.call(&["verify"]);
                // The fault may come before there is a store.
                let is_whole = verify.status == 0 || !lab.path("artifacts").is_dir();
                assert!(is_whole, "{inject}: {}", verify.err);
                let finished = lab.call(&["--quiet", "run", "config.toml"]);
                assert_eq!(finished.status, 0, "{inject}: {}", finished.err);
                faults += 1;
            }
        }
    }
    say(&format!("{faults} faults at system calls: no panic, stores whole, all runs finished afterwards"));
    assert!(faults > 200, "only {faults}");
}

/// The same in a deployment: whatever fails, each release is charged once, and never drawn twice.
#[test]
#[ignore = "minutes: make test-faults"]
fn a_fault_at_any_system_call_of_a_deployment_releases_once() {
    if !has_strace("a_fault_at_any_system_call_of_a_deployment_releases_once") {
        return;
    }
    let privacy = "[privacy]\nrandomness = \"os\"\npopulation = \"members\"\nbudget = 6.0\n[ingest.synthetic]";
    let text = TINY.replace("trials = 2", "").replace("[ingest.synthetic]", privacy);
    let lab = || Lab::with("config.toml", &text);
    let whole = lab();
    let counted = traced(&whole, &["-e", &format!("trace={CHANGING}")], "log", &UNTIL);
    assert_eq!(counted.status, 0, "{}", counted.err);
    let all = calls(&whole, "log");
    let kinds: BTreeSet<&String> =
        all.iter().map(|call| &call.0).filter(|name| CHANGING.split(',').any(|known| known == *name)).collect();
    let (mut faults, mut lost) = (0, 0);
    for kind in kinds {
        let count = all.iter().filter(|call| call.0 == *kind).count();
        for k in 1..=count {
            for fault in ["signal=KILL", "error=ENOSPC", "error=EIO"] {
                let lab = lab();
                let inject = format!("inject={kind}:{fault}:when={k}");
                let answer = traced(&lab, &["-e", &format!("trace={kind}"), "-e", &inject], "log", &UNTIL);
                assert!(!answer.err.contains("panicked"), "{inject}: {}", answer.err);
                let ledger = || -> usize {
                    let answer = lab.call(&["ledger", "--json"]);
                    assert_eq!(answer.status, 0, "{inject}: {}", answer.err);
                    serde_json::from_str::<serde_json::Value>(&answer.out)
                        .expect("JSON")
                        .as_array()
                        .expect("rows")
                        .len()
                };
                let is_there =
                    lab.path("artifacts/owner/privatize").read_dir().is_ok_and(|mut items| items.next().is_some());
                assert!(!is_there || ledger() == 4, "{inject}: released and not charged");
                let finished = lab.call(&["--quiet", "run", "config.toml", "--until", "privatize"]);
                let is_lost = finished.status == 1 && finished.err.contains("drawn before");
                assert!(finished.status == 0 || is_lost, "{inject}: {}", finished.err);
                assert_eq!(ledger(), 4, "{inject}: charged once");
                lost += u32::from(is_lost);
                faults += 1;
            }
        }
    }
    say(&format!("{faults} faults in deployments: charged once each, {lost} lost between drawing and publishing"));
    assert!(faults > 100 && lost == 0, "{faults} faults, {lost} lost");
}

/// Power may fail at any moment: what a rename publishes is on the disk before it, and the rename itself after it.
/// With this order no subset of unsynced writes can leave a torn entry.
#[test]
#[ignore = "seconds: make test-faults"]
fn what_is_published_is_synced_before_and_after() {
    if !has_strace("what_is_published_is_synced_before_and_after") {
        return;
    }
    let lab = Lab::tiny();
    let answer = traced(&lab, &["-y", "-e", "trace=rename,renameat,renameat2,fsync,openat,write"], "log", &ONE_TRIAL);
    assert_eq!(answer.status, 0, "{}", answer.err);
    let calls = calls(&lab, "log");
    let (mut unsynced, mut published, mut open_folders) = (BTreeSet::new(), 0, BTreeSet::new());
    for (name, arguments) in &calls {
        let path =
            || arguments.split('<').nth(1).and_then(|rest| rest.split('>').next()).unwrap_or_default().to_owned();
        match name.as_str() {
            "write" if path().contains("/artifacts/tmp/") => {
                unsynced.insert(path());
            }
            "fsync" => {
                unsynced.remove(&path());
                open_folders.remove(&path());
            }
            "rename" | "renameat" | "renameat2" if arguments.contains("artifacts/tmp/") => {
                let from = arguments.split('"').nth(1).expect("a source").to_owned();
                let to = arguments.split('"').nth(3).expect("a target").to_owned();
                let torn: Vec<_> = unsynced.iter().filter(|path| path.contains(&from)).collect();
                assert!(torn.is_empty(), "{from} is published before {torn:?} are on the disk");
                let parent = to.rsplit_once('/').expect("a folder").0.to_owned();
                open_folders.insert(lab.path(&parent).to_string_lossy().into_owned());
                published += 1;
            }
            _ => {}
        }
    }
    assert!(published >= 8, "only {published} renames were seen");
    assert!(open_folders.is_empty(), "renames that may be lost: {open_folders:?}");
    say(&format!("{published} entries published: each synced before its rename, its folder after it"));
}
