//! Nothing is removed or overwritten that this program did not make.

use std::fs;
use std::process::Command;

use crate::support::{Answer, Lab};

fn says(answer: &Answer, words: &str) {
    assert!(answer.status != 0 && answer.err.contains(words), "{words}: {}", answer.err);
}

/// The program with another folder as its store.
fn at(lab: &Lab, store: &str, arguments: &[&str]) -> Answer {
    let mut command = Command::new(env!("CARGO_BIN_EXE_veilgraph"));
    Answer::of(command.args(["--store", store]).args(arguments).current_dir(lab.path("")))
}

/// `report --name ..` deleted the store, and `--name DIR` any folder.
#[test]
fn the_name_of_a_report_is_no_path() {
    let lab = Lab::tiny();
    lab.json(&[]);
    lab.write("mine/thesis.txt", "years of work");
    assert_eq!(lab.call(&["report", "config.toml"]).status, 0);
    let absolute = lab.path("mine").to_string_lossy().into_owned();
    for name in ["..", ".", "", "../..", "mine/..", &absolute, "a/b", ".hidden", "x\u{1b}y"] {
        let answer = lab.call(&["report", "config.toml", "--name", name]);
        assert_eq!(answer.status, 2, "{name}: {}", answer.err);
        says(&answer, "is no path");
    }
    assert_eq!(fs::read_to_string(lab.path("mine/thesis.txt")).expect("there"), "years of work");
    assert_eq!(lab.call(&["verify"]).status, 0);
    assert!(lab.ran(&[]).is_empty(), "the store is as it was");
}

#[test]
fn a_report_replaces_its_own_figures_and_nothing_else() {
    let lab = Lab::tiny();
    lab.json(&[]);
    assert_eq!(lab.call(&["report", "config.toml"]).status, 0);
    let folder = lab.path("artifacts/auditor/reports/tiny");
    let figures = || {
        let mut names: Vec<String> = fs::read_dir(&folder)
            .expect("figures")
            .map(|item| item.expect("readable").file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    };
    let drawn = figures();
    lab.write("artifacts/auditor/reports/tiny/mine.csv", "a,b\n");
    lab.write("artifacts/auditor/reports/tiny/notes/deep.txt", "text");
    assert_eq!(lab.call(&["report", "config.toml"]).status, 0);
    let mut expected = [drawn, vec!["mine.csv".to_owned(), "notes".to_owned()]].concat();
    expected.sort();
    assert_eq!(figures(), expected);
    assert_eq!(fs::read_to_string(folder.join("notes/deep.txt")).expect("there"), "text");
}

/// A dataset of any name wrote its figures outside the store.
#[test]
fn the_name_of_a_dataset_is_no_path() {
    let lab = Lab::with(
        "config.toml",
        "name = \"own\"\n[ingest]\nedges = \"e.csv\"\nlabels = \"l.csv\"\n\
        dataset = \"../../../pwn\"\n[privatize.links]\nepsilon = [4, 6]\n[estimate]\nmethod = \"published\"\nridge = 0.5\n[evaluate]\nmetrics = [\"link-error\"]\n",
    );
    lab.write("e.csv", (0..30).map(|node| format!("{node},{}\n", (node + 1) % 30)).collect::<String>());
    lab.write("l.csv", (0..30).map(|node| format!("{node},{}\n", node % 2)).collect::<String>());
    lab.json(&[]);
    let before = fs::read_dir(lab.path("")).expect("readable").count();
    let answer = lab.call(&["report", "config.toml"]);
    assert_eq!(answer.status, 0, "{}", answer.err);
    assert_eq!(fs::read_dir(lab.path("")).expect("readable").count(), before, "nothing beside the store");
    let folder = lab.path("artifacts/auditor/reports/own");
    let names = fs::read_dir(folder).expect("figures").map(|item| item.expect("readable").file_name());
    assert!(names.filter(|name| name.to_string_lossy().contains("pwn")).count() > 0);
}

#[test]
fn cleaning_leaves_what_a_user_put_into_the_store() {
    let lab = Lab::tiny();
    lab.json(&[]);
    let mine = [
        "tmp/mine.txt",
        "tmp/estimate-notes/mine.txt",
        "simulation/checkpoints/mine.txt",
        "simulation/runs/tiny/mine.txt",
        "simulation/runs/tiny/history/mine.txt",
        "simulation/runs/tiny/history/7.json",
        "ingest/mine.txt",
        "mine/mine.txt",
    ];
    for file in mine {
        lab.write(&format!("artifacts/{file}"), "mine");
    }
    lab.json(&["--set", "train.epochs=3"]);
    for arguments in [vec!["gc", "--older-than", "0"], vec!["gc", "--forget", "tiny"], vec!["gc", "--all"]] {
        let answer = lab.call(&arguments);
        assert_eq!(answer.status, 0, "{}", answer.err);
    }
    for file in mine {
        assert!(lab.path("artifacts").join(file).is_file(), "{file}");
    }
}

/// Links of a user were taken for readable names, and what lay in the folder of an entry went with the entry.
#[test]
fn links_and_files_of_a_user_outlive_runs_and_cleaning() {
    use std::os::unix::fs::symlink;
    let lab = Lab::tiny();
    lab.json(&[]);
    let runs = lab.path("artifacts/simulation/runs/tiny");
    let model = fs::canonicalize(runs.join("train/trial-0/model.parquet")).expect("a model");
    let entry = model.parent().expect("the folder of an entry");
    let key = "0123456789abcdef0123456789abcdef";
    let (draft, checkpoints) = (format!("tmp/estimate-{key}"), format!("simulation/checkpoints/train-{key}"));
    let files = [
        entry.join("notes.txt"),
        lab.path("artifacts").join(&draft).join("notes.txt"),
        lab.path("artifacts/orders").join(format!("{key}.txt")),
    ];
    let links = [
        (runs.join("best"), "train/trial-0"),
        (runs.join("train/trial-0/best.parquet"), "model.parquet"),
        (runs.join("thesis"), "/nowhere/thesis.txt"),
        (entry.join("copy.parquet"), "model.parquet"),
        (lab.path("artifacts").join(&draft).join("simulation/state.parquet"), "/nowhere/state.parquet"),
        (lab.path("artifacts").join(&checkpoints).join("state"), "/nowhere/state"),
    ];
    for file in &files {
        fs::create_dir_all(file.parent().expect("a folder")).expect("made");
        fs::write(file, "mine").expect("written");
    }
    for (link, target) in &links {
        fs::create_dir_all(link.parent().expect("a folder")).expect("made");
        symlink(target, link).expect("a link");
    }
    let are_there = |after: &str| {
        for file in &files {
            assert_eq!(fs::read_to_string(file).unwrap_or_default(), "mine", "{after}: {}", file.display());
        }
        for (link, target) in &links {
            let found = fs::read_link(link).unwrap_or_default();
            assert_eq!(found, std::path::Path::new(target), "{after}: {}", link.display());
        }
    };
    lab.json(&["--set", "train.epochs=3"]);
    are_there("another run");
    for arguments in [vec!["gc", "--older-than", "0"], vec!["gc", "--forget", "tiny"], vec!["gc", "--all"]] {
        let answer = lab.call(&arguments);
        assert_eq!(answer.status, 0, "{}", answer.err);
        are_there(&arguments.join(" "));
    }
    assert!(!model.exists() && !runs.join("train/trial-0/model.parquet").is_symlink(), "what is ours is gone");
    assert!(lab.ran(&[]).contains(&"train".to_owned()));
    assert!(model.is_file(), "the entry is published beside what lies in its folder");
    are_there("the same run again");
    // The program needs a folder where the user has a link.
    lab.write("victim/mine.txt", "mine");
    fs::remove_dir_all(runs.join("train")).expect("removed");
    symlink(lab.path("victim"), runs.join("train")).expect("a link");
    says(&lab.call(&["run", "config.toml"]), "is in the way");
    assert_eq!(fs::read_dir(lab.path("victim")).expect("readable").count(), 1, "nothing was written there");
    assert!(runs.join("train").is_symlink());
}

#[test]
fn a_folder_that_is_no_store_is_left_alone() {
    let lab = Lab::tiny();
    lab.write("project/tmp/estimate-0123456789abcdef0123456789abcdef/mine.txt", "mine");
    lab.write("project/train/0123456789abcdef0123456789abcdef/mine.txt", "mine");
    for arguments in [vec!["gc", "--older-than", "0"], vec!["gc", "--all"]] {
        says(&at(&lab, "project", &arguments), "is no store of this program");
    }
    assert!(lab.path("project/tmp/estimate-0123456789abcdef0123456789abcdef/mine.txt").is_file());
    assert!(lab.path("project/train/0123456789abcdef0123456789abcdef/mine.txt").is_file());
}

/// `gc` and `verify --remove` took folders that look like entries for their own, and followed links.
#[test]
fn a_folder_of_another_program_is_left_alone() {
    let lab = Lab::tiny();
    let key = "0123456789abcdef0123456789abcdef";
    for file in ["images/KEY/manifest.json", "train/KEY/manifest.json", "tmp/backup-KEY/mine.txt", "runs/exp/log.jsonl"]
    {
        lab.write(&format!("project/{}", file.replace("KEY", key)), "{\"of\": \"another tool\"}");
    }
    for arguments in [vec!["gc", "--older-than", "0"], vec!["gc", "--all"], vec!["verify", "--remove"]] {
        says(&at(&lab, "project", &arguments), "is no store of this program");
    }
    for file in ["images/KEY/manifest.json", "train/KEY/manifest.json", "tmp/backup-KEY/mine.txt", "runs/exp/log.jsonl"]
    {
        assert!(lab.path("project").join(file.replace("KEY", key)).is_file(), "{file}");
    }
}

/// Whoever can put a link into a store must not have files written, emptied or removed elsewhere.
#[test]
fn links_in_a_store_lead_nowhere() {
    use std::os::unix::fs::symlink;
    for place in ["simulation/runs/tiny", "auditor/reports/tiny", "simulation/ingest", "owner/runs", "tmp", "locks"] {
        let lab = Lab::tiny();
        lab.json(&[]);
        assert_eq!(lab.call(&["report", "config.toml"]).status, 0);
        lab.write("victim/log.jsonl", "mine");
        lab.write("victim/sub/scores.csv", "mine");
        lab.write("victim/estimate-0123456789abcdef0123456789abcdef/mine.txt", "mine");
        symlink("sub", lab.path("victim/link")).expect("a link");
        let path = lab.path("artifacts").join(place);
        fs::remove_dir_all(&path).expect("removed");
        symlink(lab.path("victim"), &path).expect("a link");
        for arguments in [
            vec!["run", "config.toml", "--set", "train.epochs=3"],
            vec!["report", "config.toml"],
            vec!["gc", "--all"],
            vec!["verify", "--remove"],
        ] {
            let answer = lab.call(&arguments);
            assert!(!answer.err.contains("panicked"), "{place}, {arguments:?}: {}", answer.err);
        }
        for (file, text) in [
            ("log.jsonl", "mine"),
            ("sub/scores.csv", "mine"),
            ("estimate-0123456789abcdef0123456789abcdef/mine.txt", "mine"),
        ] {
            let found = fs::read_to_string(lab.path("victim").join(file)).unwrap_or_default();
            assert_eq!(found, text, "{place}: {file}");
        }
        assert!(lab.path("victim/link").is_symlink(), "{place}");
        assert_eq!(fs::read_dir(lab.path("victim")).expect("readable").count(), 4, "{place}: nothing was added");
    }
    // A lock that is a link to somebody's file.
    let lab = Lab::tiny();
    lab.write("thesis.txt", "years of work");
    fs::create_dir_all(lab.path("artifacts/locks")).expect("a folder");
    symlink(lab.path("thesis.txt"), lab.path("artifacts/locks/layout.lock")).expect("a link");
    says(&lab.call(&["run", "config.toml"]), "open the lock");
    assert_eq!(fs::read_to_string(lab.path("thesis.txt")).expect("there"), "years of work");
}

/// A pipe or a device in place of a file of the store is an error, and nobody waits for it.
#[test]
fn what_is_no_file_is_not_read() {
    let lab = Lab::tiny();
    lab.json(&[]);
    let link = lab.path("artifacts/simulation/runs/tiny/privatize/trial-0/noisy_links.parquet");
    let file = fs::canonicalize(link).expect("there");
    fs::remove_file(&file).expect("removed");
    assert!(Command::new("mkfifo").arg(&file).status().expect("mkfifo starts").success());
    let answer = lab.call(&["verify"]);
    says(&answer, "no plain file");
    fs::remove_file(&file).expect("removed");
    std::os::unix::fs::symlink("/dev/zero", &file).expect("a link");
    assert_eq!(lab.call(&["verify"]).status, 1);
}

#[test]
fn what_is_in_the_way_stays() {
    let lab = Lab::with(
        "config.toml",
        crate::support::TINY.replace("trials = 2", "").replace(
            "[ingest.synthetic]",
            "[privacy]\nrandomness = \"os\"\npopulation = \"people\"\nbudget = 10\n[ingest.synthetic]",
        ),
    );
    lab.json(&[]);
    lab.write("out/mine.txt", "mine");
    says(&lab.call(&["export", "config.toml", "--to", "out", "--yes"]), "exists already");
    let model = "artifacts/server/runs/tiny/train/trial-0/model.safetensors";
    says(&lab.call(&["predict", model, "config.toml", "--to", "out"]), "exists already");
    says(&lab.call(&["parameters", "config.toml", "--to", "out"]), "exists already");
    says(&lab.call(&["collect", "out", "config.toml", "--to", "out"]), "exists already");
    assert_eq!(fs::read_to_string(lab.path("out/mine.txt")).expect("there"), "mine");
    // A file of a known dataset that somebody else put there.
    lab.write("data/cora/ind.cora.x", "mine");
    says(&lab.call(&["fetch", "cora", "--data-dir", "data"]), "which this program did not make");
    assert_eq!(fs::read_to_string(lab.path("data/cora/ind.cora.x")).expect("there"), "mine");
}

/// H4: withheld features are read by nothing that classifies.
#[test]
fn a_model_is_not_applied_to_withheld_features() {
    let lab = Lab::tiny();
    lab.json(&[]);
    let model = "artifacts/simulation/runs/tiny/train/trial-0/model.safetensors";
    let charged = lab.call(&["ledger", "--json"]).out;
    // At another budget, links would have to be released again.
    let sets = ["--set", "privacy.features=\"withheld\"", "--set", "privatize.links.epsilon=7.0"];
    let answer = lab.call(&[&["predict", model, "config.toml", "--to", "out"], &sets[..]].concat());
    says(&answer, "none that the server may read");
    assert!(!lab.path("out").exists());
    assert_eq!(lab.call(&["ledger", "--json"]).out, charged, "nothing was released");
}

/// Scripts for Slurm replace their own kind alone.
#[test]
fn scripts_for_slurm_replace_no_file_of_the_user() {
    let words = ["run", "config.toml", "--executor", "slurm-array", "--array-folder", "jobs"];
    for name in ["submit.sh", "array.sh", "continue.sh", "wave"] {
        let lab = Lab::tiny();
        lab.write(&format!("jobs/{name}"), "#!/bin/bash\necho mine\n");
        says(&lab.call(&words), name);
        assert_eq!(fs::read_to_string(lab.path("jobs").join(name)).expect("there"), "#!/bin/bash\necho mine\n");
        assert!(!lab.has_entries(), "{name} is found in the way before anything runs");
    }
    let lab = Lab::tiny();
    let first = lab.call(&words);
    assert_eq!(first.status, 0, "{}", first.err);
    let again = lab.call(&words);
    assert_eq!(again.status, 0, "it replaces its own files: {}", again.err);
    let list = fs::read_to_string(lab.path("jobs/wave")).expect("the name of a list");
    lab.write(&format!("jobs/{list}"), "mine");
    says(&lab.call(&words), &list);
    assert_eq!(fs::read_to_string(lab.path("jobs").join(&list)).expect("there"), "mine");
}

/// A link that leads nowhere yet is the user's, and so is what it would lead to.
#[test]
fn a_config_is_not_written_through_a_link() {
    use std::os::unix::fs::symlink;
    let lab = Lab::new();
    lab.write("edges.csv", "a,b\nb,c\nc,a\n");
    symlink(lab.path("elsewhere.toml"), lab.path("mine.toml")).expect("a link");
    says(&lab.call(&["init", "edges.csv", "--to", "mine.toml"]), "mine.toml");
    assert!(lab.path("mine.toml").is_symlink() && !lab.path("elsewhere.toml").exists());
}
