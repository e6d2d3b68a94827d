//! Scripts and workers of other machines, and the cache that machines share.

use std::fs;

use crate::support::Lab;

/// The scripts alone: tests/dask/ submits them to a stand-in for Slurm.
#[test]
fn scripts_for_slurm_ask_for_the_memory_of_their_jobs() {
    let script = |name: &str, more: &[&str]| {
        let lab = Lab::tiny();
        let words = ["run", "config.toml", "--executor", "slurm-array", "--array-folder", "arrays"];
        let answer = lab.call(&[&words[..], more].concat());
        assert_eq!(answer.status, 0, "{}", answer.err);
        fs::read_to_string(lab.path("arrays").join(name)).expect("a script")
    };
    for name in ["array.sh", "continue.sh"] {
        assert!(!script(name, &[]).contains("--mem="), "{name}: what the cluster gives");
        // 1 GiB and one byte more.
        assert!(script(name, &["--array-memory", "1073741825"]).contains("\n#SBATCH --mem=1025M\n"), "{name}");
        assert!(script(name, &["--memory-limit", "2GiB"]).contains("\n#SBATCH --mem=2048M\n"), "{name}");
    }
    let both = script("array.sh", &["--memory-limit", "1GiB", "--array-memory", "4GiB"]);
    assert!(both.contains("#SBATCH --mem=4096M\n") && both.contains("--memory-limit 1073741824 "), "{both}");
    let one = script("array.sh", &["--array-memory", "1GiB"]);
    assert!(one.contains("--memory-limit 1073741824 "), "an artifact has to fit into its job: {one}");
    let lab = Lab::tiny();
    let words = ["run", "config.toml", "--executor", "slurm-array", "--array-folder", "arrays"];
    let wrong = lab.call(&[&words[..], &["--memory-limit", "4GiB", "--array-memory", "1GiB"]].concat());
    assert!(wrong.status == 1 && wrong.err.contains("raise --array-memory or lower --memory-limit"), "{}", wrong.err);
}

/// A worker in the folder of the scripts finds the store, and tasks that wait are not forgotten.
#[test]
fn scripts_for_slurm_are_of_one_command_and_hold_whole_paths() {
    let lab = Lab::tiny();
    let words = ["run", "config.toml", "--executor", "slurm-array", "--array-folder", "arrays", "--worker-store", "w"];
    assert_eq!(lab.call(&words).status, 0);
    let script = fs::read_to_string(lab.path("arrays/array.sh")).expect("a script");
    assert!(script.contains(&format!("--store {}", lab.path("w").display())), "{script}");
    let other = lab.call(&[&words[..], &["--set", "name=other"]].concat());
    assert!(
        other.status == 1 && other.err.contains("tasks of other experiments wait there (tiny in "),
        "{}",
        other.err
    );
    let elsewhere = lab.call(&[&words[..], &["--store", "second"]].concat());
    assert!(elsewhere.status == 1 && elsewhere.err.contains("wait there (tiny in "), "{}", elsewhere.err);
    let list = || fs::read_to_string(lab.path("arrays/wave")).expect("a wave");
    let before = list();
    let edited = lab.call(&[&words[..], &["--set", "privatize.links.epsilon=2.5", "--quiet"]].concat());
    assert_eq!(edited.status, 0, "the same experiment goes on with other settings: {}", edited.err);
    assert_ne!(list(), before, "the tasks of the new settings wait");
}

/// An object of the cache that is gone or changed is made again where a worker was asked for it.
#[test]
fn a_worker_mends_what_is_damaged_in_the_cache() {
    let lab = Lab::tiny();
    let cache = format!("file://{}", lab.path("cache").display());
    fs::create_dir(lab.path("cache")).expect("a folder");
    let until = ["run", "config.toml", "--simulation", "--until", "estimate", "--cache", &cache];
    let first = lab.call(&until);
    assert_eq!(first.status, 0, "{}", first.err);
    let worker = ["--worker-store", "w", "--executor", "slurm-array", "--array-folder", "arrays", "--store", "fresh"];
    let objects: Vec<_> =
        fs::read_dir(lab.path("cache/files")).expect("a folder").map(|item| item.expect("readable").path()).collect();
    let before: Vec<Vec<u8>> = objects.iter().map(|path| fs::read(path).expect("readable")).collect();
    for path in &objects {
        fs::write(path, "damaged").expect("written");
    }
    // One wave after the other, until nothing is left to do.
    for _ in 0..9 {
        let wave = lab.call(&[&until[..], &worker].concat());
        assert_eq!(wave.status, 0, "{}", wave.err);
        let Ok(list) = fs::read_to_string(lab.path("arrays/wave")) else { break };
        for key in fs::read_to_string(lab.path("arrays").join(list)).expect("a list").lines() {
            let made = lab.call(&["exec", key, "--store", "w", "--cache", &cache]);
            assert_eq!(made.status, 0, "{}", made.err);
        }
    }
    assert!(!lab.path("arrays/wave").exists(), "the waves end");
    for (path, bytes) in objects.iter().zip(before) {
        assert!(fs::read(path).expect("readable") == bytes, "{}", path.display());
    }
}

/// Nothing runs: an option that the executor does not read is a mistake.
#[test]
fn options_of_another_executor_are_refused() {
    let lab = Lab::tiny();
    for (more, words) in [
        (vec!["--array-size", "5"], "--array-size is read with --executor slurm-array alone"),
        (vec!["--array-memory", "1GiB"], "leave --array-memory out"),
        (vec!["--worker-threads", "2"], "--worker-threads is read with --executor dask or slurm-array alone"),
        (vec!["--worker-store", "x"], "leave --worker-store out"),
        (vec!["--scheduler", "tcp://x:1"], "--scheduler is read with --executor dask alone"),
        (vec!["--executor", "dask", "--scheduler", "tcp://x:1", "--array-size", "5"], "--array-size is read with"),
    ] {
        let answer = lab.call(&[&["run", "config.toml"], &more[..]].concat());
        assert!(answer.status == 2 && answer.err.contains(words), "{more:?}: {}", answer.err);
    }
    assert_eq!(lab.call(&["run", "config.toml", "--jobs", "0"]).status, 2);
    assert!(lab.call(&["ls"]).out.lines().count() < 2, "nothing ran");
}

/// The names of a cache's settings are looked for among all variables, which need not be text.
#[test]
fn variables_that_are_no_text_do_not_hinder_a_cache() {
    use std::os::unix::ffi::OsStrExt;
    let lab = Lab::tiny();
    fs::create_dir(lab.path("cache")).expect("a folder");
    let cache = format!("file://{}", lab.path("cache").display());
    let mut command = lab.command(&["run", "config.toml", "--cache", &cache, "--simulation", "--until", "ingest"]);
    command.env("ODD", std::ffi::OsStr::from_bytes(b"\xff"));
    let answer = crate::support::Answer::of(&mut command);
    assert_eq!(answer.status, 0, "{}", answer.err);
}
