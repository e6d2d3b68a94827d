//! Files that change behind the store's back, and disks that are full.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use crate::say;
use crate::support::{Answer, Lab, TINY, digests};

/// Every file of every entry.
fn files(lab: &Lab) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![lab.path("artifacts")];
    while let Some(folder) = folders.pop() {
        for item in fs::read_dir(folder).expect("readable") {
            let path = item.expect("readable").path();
            let name = path.file_name().expect("a name").to_string_lossy().into_owned();
            if path.is_dir() && !["runs", "locks", "tmp", "reports"].contains(&name.as_str()) {
                folders.push(path);
            } else if name.ends_with(".parquet") || name.ends_with(".safetensors") || name == "manifest.json" {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

/// A flipped bit in every kind of file, six hundred in all: found by `verify`, found on use, made anew.
#[test]
#[ignore = "minutes: make test-faults"]
fn every_flipped_bit_is_found_and_repaired() {
    const FLIPS: usize = 600;
    let lab = Lab::tiny();
    let before = digests(&lab.json(&[]));
    let files = files(&lab);
    for flip in 0..FLIPS {
        let path = &files[flip % files.len()];
        let whole = fs::read(path).expect("readable");
        let mut flipped = whole.clone();
        // Spread over the file, its first and last bytes included.
        let at = (flip / files.len() * 2_654_435_761 + flip) % whole.len();
        flipped[at] ^= 1 << (flip % 8);
        fs::write(path, &flipped).expect("written");
        let verify = lab.call(&["verify"]);
        assert_eq!(verify.status, 1, "bit {} of byte {at} of {} is not noticed", flip % 8, path.display());
        assert_eq!(digests(&lab.json(&[])), before, "byte {at} of {}", path.display());
        assert_eq!(fs::read(path).expect("readable"), whole, "made anew, byte for byte: {}", path.display());
    }
    say(&format!("{FLIPS} flipped bits in {} files: each found by verify, each entry made anew on use", files.len()));
}

/// Fifty sizes of a file system that is too small: clear errors, a whole store, and the next run finishes.
#[test]
#[ignore = "minutes: make test-faults"]
fn a_full_disk_leaves_the_store_whole() {
    const SIZES: u32 = 50;
    let mut full = 0;
    for size in 0..SIZES {
        let lab = Lab::with(
            "config.toml",
            TINY.replace("nodes = 120", "nodes = 400").replace("epsilon = 6.0", "epsilon = 1.0"),
        );
        fs::create_dir_all(lab.path("artifacts")).expect("a folder");
        let disk = lab.path("artifacts");
        let mount = Command::new("mount")
            .args(["-t", "tmpfs", "-o", &format!("size={}k", 16 + 12 * size), "tmpfs"])
            .arg(&disk)
            .status();
        if !mount.is_ok_and(|status| status.success()) {
            say("skipped a_full_disk_leaves_the_store_whole: no right to mount a small file system");
            return;
        }
        let answer = Answer::of(&mut lab.command(&["--quiet", "run", "config.toml"]));
        let verify = lab.call(&["verify"]);
        let grown = Command::new("mount").args(["-o", "remount,size=64m"]).arg(&disk).status();
        let finished = lab.call(&["--quiet", "run", "config.toml"]);
        let _ = Command::new("umount").arg(&disk).status();
        assert!(grown.is_ok_and(|status| status.success()));
        if answer.status != 0 {
            full += 1;
            assert!(answer.err.contains("No space left") && answer.err.contains("free space"), "{}", answer.err);
            assert!(!answer.err.contains("panicked"), "{}", answer.err);
        }
        assert_eq!(verify.status, 0, "{} KiB: {}", 16 + 12 * size, verify.err);
        assert_eq!(finished.status, 0, "{} KiB: {}", 16 + 12 * size, finished.err);
    }
    say(&format!(
        "{SIZES} sizes of a disk, {full} too small: clear errors, stores whole, all runs finished afterwards"
    ));
    assert!(full > 10, "only {full} disks were full");
}

/// A store that nobody may write to is read, and refused for writing, without a trace.
#[test]
#[ignore = "seconds: make test-faults"]
fn a_read_only_store_is_left_as_it_is() {
    let lab = Lab::tiny();
    fs::create_dir_all(lab.path("artifacts")).expect("a folder");
    let disk = lab.path("artifacts");
    let mount = |options: &str| {
        Command::new("mount")
            .args(["-t", "tmpfs", "-o", options, "tmpfs"])
            .arg(&disk)
            .status()
            .is_ok_and(|s| s.success())
    };
    if !mount("size=64m") {
        say("skipped a_read_only_store_is_left_as_it_is: no right to mount a file system");
        return;
    }
    let ran = lab.call(&["--quiet", "run", "config.toml"]);
    let closed = mount("remount,ro");
    let verify = lab.call(&["verify"]);
    let changed = lab.call(&["--quiet", "run", "config.toml", "--set", "estimate.ridge=0.5"]);
    let _ = Command::new("umount").arg(&disk).status();
    assert!(ran.status == 0 && closed && verify.status == 0, "{}{}", ran.err, verify.err);
    assert_eq!(changed.status, 1);
    assert!(changed.err.contains("make it writable, or choose another --store"), "{}", changed.err);
    say("a read-only store: read, verified, refused for writing");
}
