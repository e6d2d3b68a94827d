//! Non-interference: two owners whose private data differ hand the server the same bytes.
//!
//! Secret, noise and clock are the same in both stores, because a small library that the programs are started with
//! stands in for the operating system's randomness and clock. It needs a C compiler, as the build of this program does.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::{Answer, Lab};

const NODES: u32 = 40;

/// Gives constant randomness and a constant clock.
const LIBRARY: &str = r"
#define _GNU_SOURCE
#include <stddef.h>
#include <string.h>
#include <sys/types.h>
#include <time.h>
ssize_t getrandom(void *buffer, size_t length, unsigned flags) { (void)flags; memset(buffer, 42, length); return length; }
int clock_gettime(clockid_t clock, struct timespec *time) { (void)clock; time->tv_sec = 1800000000; time->tv_nsec = 0; return 0; }
";

/// A deployment whose private data a test changes.
struct Twin {
    lab: Lab,
    library: PathBuf,
}

impl Twin {
    fn new(features: &str, change: impl Fn(&Lab)) -> Self {
        Self::with("blink", features, change)
    }

    /// A deployment with one of the mechanisms.
    fn with(mechanism: &str, features: &str, change: impl Fn(&Lab)) -> Self {
        let config = format!(
            "name = \"twin\"\n[privacy]\nrandomness = \"os\"\npopulation = \"members\"\nbudget = 10.0\n{features}\
             [ingest]\nnodes = \"n.csv\"\nedges = \"e.csv\"\nlabels = \"l.csv\"\nfeatures = \"f.csv\"\nsplit = \"s.csv\"\n\
             normalize = \"none\"\n[privatize.links]\nepsilon = 3.0\ndegree_fraction = 0.2\n[estimate]\nmethod = \"published\"\nridge = 0.5\n\
             [construct]\nvariant = [\"hard\", \"hybrid\"]\n[train]\nepochs = 3\n"
        );
        let config = if features.is_empty() { config } else { config.replace("[train]\nepochs = 3\n", "") };
        let config = match mechanism {
            "blink" => config,
            _ => config
                .replace(
                    "degree_fraction = 0.2\n[estimate]\nmethod = \"published\"\nridge = 0.5\n",
                    &format!("mechanism = \"{mechanism}\"\n"),
                )
                .replace("[construct]\nvariant = [\"hard\", \"hybrid\"]\n", ""),
        };
        let lab = Lab::with("config.toml", config);
        let rows = |row: &dyn Fn(u32) -> String| (0..NODES).map(|node| row(node) + "\n").collect::<String>();
        lab.write("n.csv", rows(&|node| node.to_string()));
        lab.write("e.csv", rows(&|node| format!("{node},{}", (node + 1) % NODES)));
        lab.write("l.csv", rows(&|node| format!("{node},{}", node % 3)));
        lab.write("f.csv", rows(&|node| format!("{node},{},1.0", node % 5)));
        lab.write("s.csv", rows(&|node| format!("{node},{}", ["train", "validation", "test"][node as usize / 3 % 3])));
        lab.write("same.c", LIBRARY);
        let library = lab.path("same.so");
        let built =
            Command::new("cc").args(["-shared", "-fPIC", "-O1", "-o"]).arg(&library).arg(lab.path("same.c")).status();
        assert!(built.expect("a C compiler").success());
        change(&lab);
        Self { lab, library }
    }

    fn call(&self, arguments: &[&str]) -> Answer {
        let mut command = self.lab.command(arguments);
        command.env("LD_PRELOAD", &self.library);
        let answer = Answer::of(&mut command);
        assert_eq!(answer.status, 0, "{}", answer.err);
        answer
    }

    /// Everything outside private folders: names, and the bytes of files or what links lead to.
    fn seen(&self, root: &str) -> BTreeMap<String, Vec<u8>> {
        let root = self.lab.path(root);
        let (mut folders, mut seen) = (vec![root.clone()], BTreeMap::new());
        while let Some(folder) = folders.pop() {
            for item in fs::read_dir(&folder).expect("readable") {
                let path = item.expect("readable").path();
                let name = path.strip_prefix(&root).expect("inside").to_string_lossy().into_owned();
                if path.is_symlink() {
                    seen.insert(name, fs::read_link(&path).expect("a link").to_string_lossy().as_bytes().to_vec());
                } else if path.is_file() {
                    seen.insert(name, fs::read(&path).expect("readable"));
                } else {
                    seen.insert(name.clone(), Vec::new());
                    if !is_private(&path) {
                        folders.push(path);
                    }
                }
            }
        }
        seen
    }
}

fn is_private(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    let mode = fs::metadata(path).expect("there").permissions().mode() & 0o777;
    mode == 0o700
}

fn edited(file: &'static str, from: &'static str, to: &'static str) -> impl Fn(&Lab) {
    move |lab: &Lab| {
        let text = fs::read_to_string(lab.path(file)).expect("there");
        let changed = format!("\n{text}").replace(&format!("\n{from}\n"), &format!("\n{to}\n"));
        assert_ne!(changed.trim(), text.trim(), "{file} has no row {from}");
        lab.write(file, changed.trim_start());
    }
}

/// Tells two trees apart.
fn difference(one: &BTreeMap<String, Vec<u8>>, two: &BTreeMap<String, Vec<u8>>) -> Vec<String> {
    let names = one.keys().chain(two.keys());
    let mut differing: Vec<String> = names.filter(|name| one.get(*name) != two.get(*name)).cloned().collect();
    differing.sort();
    differing.dedup();
    differing
}

/// A test label and a withheld feature reach no byte outside the private folders: manifests, records of runs, logs,
/// names and sizes of files included, in the store and in what is handed over.
#[test]
fn a_test_label_and_a_withheld_feature_are_told_by_no_byte() {
    let withheld = "features = \"withheld\"\n";
    for (mechanism, features, until, change) in [
        ("blink", "", "train", edited("l.csv", "6,0", "6,1")),
        ("rr", "", "train", edited("l.csv", "6,0", "6,1")),
        ("symrr", "", "train", edited("l.csv", "6,0", "6,1")),
        ("l-dpgcn", "", "train", edited("l.csv", "6,0", "6,1")),
        ("dprr", "", "train", edited("l.csv", "6,0", "6,1")),
        ("ldpgen", "", "train", edited("l.csv", "6,0", "6,1")),
        ("blink", withheld, "construct", edited("f.csv", "7,2,1.0", "7,2,0.25")),
        ("ldpgen", withheld, "construct", edited("f.csv", "7,2,1.0", "7,3,1.0")),
    ] {
        let (one, two) = (Twin::with(mechanism, features, |_| {}), Twin::with(mechanism, features, change));
        let run = ["run", "config.toml", "--until", until, "--jobs", "1"];
        let said = [&one, &two].map(|twin| twin.call(&run).err);
        assert_eq!(said[0], said[1], "what the run says");
        let export = ["export", "config.toml", "--to", "handed", "--yes"];
        let said = [&one, &two].map(|twin| twin.call(&export).out);
        assert_eq!(said[0], said[1], "what the export says");
        for root in ["artifacts", "handed"] {
            let seen = [one.seen(root), two.seen(root)];
            assert!(seen[0].len() > 12, "{root} has {} files and folders", seen[0].len());
            assert_eq!(difference(&seen[0], &seen[1]), Vec::<String>::new(), "{mechanism}: {root}, until {until}");
        }
    }
}

/// Where labels are private, the classes are declared, so that one that nobody but a test node has is told by no byte.
#[test]
fn a_class_that_a_test_node_alone_has_is_told_by_no_byte() {
    let private = |classes: &'static str| {
        move |lab: &Lab| {
            let config = fs::read_to_string(lab.path("config.toml")).expect("there");
            let config = config
                .replace("labels = \"l.csv\"\n", &format!("labels = \"l.csv\"\n{classes}"))
                .replace("budget = 10.0", "budget = { list-bit = 10, label = 2 }");
            let table = "[privatize.labels]\nmechanism = \"randomized-response\"\nepsilon = 2.0\n";
            lab.write("config.toml", format!("{config}{table}"));
        }
    };
    let declared = private("classes = [\"2\", \"1\", \"0\", \"9\"]\n");
    let one = Twin::new("", declared);
    let two = Twin::new("", |lab| {
        declared(lab);
        edited("l.csv", "6,0", "6,9")(lab);
    });
    let run = ["run", "config.toml", "--until", "train", "--jobs", "1"];
    let said = [&one, &two].map(|twin| twin.call(&run).err);
    assert_eq!(said[0], said[1], "what the run says");
    let seen = [one.seen("artifacts"), two.seen("artifacts")];
    assert!(seen[0].len() > 12, "{} files and folders", seen[0].len());
    assert_eq!(difference(&seen[0], &seen[1]), Vec::<String>::new());
    let answer = Twin::new("", private("")).lab.call(&["plan", "config.toml"]);
    assert!(answer.status == 2 && answer.err.contains("declare all of them, `classes = ["), "{}", answer.err);
}

/// A link changes its release, as far as the noise lets it, and nothing else: the same files with the same names, and
/// the same bytes in all that is not made of the release.
#[test]
fn a_leaf_link_is_told_by_its_release_alone() {
    // Node 39 is a leaf of the path once the link that closes the ring is gone, and its last link is then taken away.
    let leaf = |lab: &Lab| edited("e.csv", "39,0", "38,39")(lab);
    let isolated = |lab: &Lab| {
        edited("e.csv", "39,0", "37,38")(lab);
        edited("e.csv", "38,39", "0,1")(lab);
    };
    let (one, two) = (Twin::new("", leaf), Twin::new("", isolated));
    let run = ["run", "config.toml", "--until", "privatize", "--jobs", "1"];
    let said = [&one, &two].map(|twin| twin.call(&run).err);
    assert_eq!(said[0], said[1], "what the run says");
    let seen = [one.seen("artifacts"), two.seen("artifacts")];
    // Keys of the release and of what links to it are digests of the noisy bits.
    let is_of_release = |name: &String| name.contains("privatize") || name.ends_with("run.json");
    let rest = |seen: &BTreeMap<String, Vec<u8>>| -> BTreeMap<String, Vec<u8>> {
        seen.iter()
            .filter(|(name, _)| !is_of_release(name))
            .map(|(name, bytes)| (name.clone(), bytes.clone()))
            .collect()
    };
    assert_eq!(difference(&rest(&seen[0]), &rest(&seen[1])), Vec::<String>::new());
    let names = |seen: &BTreeMap<String, Vec<u8>>| -> Vec<String> {
        let plain = |name: &String| {
            name.split('/').map(|part| if part.len() == 32 { "key" } else { part }).collect::<Vec<_>>().join("/")
        };
        seen.keys().filter(|name| is_of_release(name)).map(plain).collect()
    };
    assert_eq!(names(&seen[0]), names(&seen[1]));
    // The noise is the same in both, so the releases differ in the bits of this link and in two degrees alone.
    let noisy = |twin: &Twin| {
        twin.call(&["show", "twin/privatize/trial-0/noisy_links", "--sql", "SELECT COUNT(*) FROM artifact"]).out
    };
    let changed = |twin: &Twin| -> i64 {
        noisy(twin)
            .split(|c: char| !c.is_ascii_digit())
            .filter_map(|word| word.parse().ok())
            .next_back()
            .expect("a count")
    };
    assert!((changed(&one) - changed(&two)).abs() <= 2, "at most two bits differ");
}
