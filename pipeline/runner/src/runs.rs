//! Readable names: `runs/<config>/<stage>/<label>/` links to the entries of the last run of a config.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use anyhow::Context;
use serde::{Deserialize, Serialize};
use veilgraph_store::Store;

use crate::task::{Done, Status, Task};

/// Which entries the last run of a config used.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct RunRecord {
    /// Stage to key, by stage function and label.
    entries: BTreeMap<String, BTreeMap<String, String>>,
}

impl RunRecord {
    /// The record of the config `name`; empty if it never ran.
    pub(crate) fn load(store: &Store, name: &str) -> anyhow::Result<Self> {
        let path = folder(store, name).join("run.json");
        if !path.exists() {
            return Ok(Self::default());
        }
        let text =
            fs::read(&path).with_context(|| format!("{}: cannot read the record of the last run", path.display()))?;
        serde_json::from_slice(&text).with_context(|| format!("{}: damaged; remove it and run again", path.display()))
    }

    /// Key of the entry that a run called `label` of the task's stage function used.
    pub(crate) fn key(&self, task: &Task, label: &str) -> Option<&str> {
        let of_stage = self.entries.get(task.stage)?;
        // Records of layout 1 hold bare labels.
        of_stage.get(&recorded_name(task, label)).or_else(|| of_stage.get(label)).map(String::as_str)
    }

    /// Stage and key of every entry.
    pub(crate) fn all(&self) -> impl Iterator<Item = (&str, &str)> {
        self.entries.iter().flat_map(|(stage, labels)| labels.values().map(move |key| (stage.as_str(), key.as_str())))
    }
}

/// What a run is called in the record: functions of one stage share labels.
fn recorded_name(task: &Task, label: &str) -> String {
    format!("{} {label}", task.function)
}

/// Folder of the readable names of the config `name`.
pub(crate) fn folder(store: &Store, name: &str) -> PathBuf {
    store.root().join("runs").join(name)
}

/// Names of the configs that have run.
pub(crate) fn names(store: &Store) -> Vec<String> {
    let items = fs::read_dir(store.root().join("runs")).into_iter().flatten().flatten();
    let mut names: Vec<String> = items
        .filter(|item| item.path().join("run.json").is_file())
        .map(|item| item.file_name().to_string_lossy().into_owned())
        .filter(|name| !name.starts_with('.'))
        .collect();
    names.sort();
    names
}

/// Half-written names that killed runs left.
pub(crate) fn leftovers(store: &Store) -> impl Iterator<Item = PathBuf> {
    let items = fs::read_dir(store.root().join("runs")).into_iter().flatten().flatten();
    items
        .map(|item| item.path())
        .filter(|path| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.')))
}

/// Writes the readable names of a finished run, a line to its log, and what `add` puts beside them.
pub(crate) fn publish(
    store: &Store,
    name: &str,
    tasks: &[Task],
    done: &[Done],
    add: impl FnOnce(&Path) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let place = folder(store, name);
    let wrong = || {
        format!(
            "{}: cannot write the readable names of the run; free space (`veilgraph gc`) or make it writable, and run again",
            place.display()
        )
    };
    let draft = store.root().join("runs").join(format!(".{name}-{}", std::process::id()));
    let _ = fs::remove_dir_all(&draft);
    fs::create_dir_all(&draft).with_context(wrong)?;
    let mut record = RunRecord::load(store, name).unwrap_or_default();
    record.entries.values_mut().for_each(|labels| labels.retain(|name, _| name.contains(' ')));
    for (task, done) in tasks.iter().zip(done) {
        let Some(entry) = &done.entry else { continue };
        for label in &task.labels {
            let of_stage = record.entries.entry(task.stage.to_owned()).or_default();
            of_stage.insert(recorded_name(task, label), entry.manifest.key.clone());
            let labelled = draft.join(task.stage).join(label);
            fs::create_dir_all(&labelled).with_context(wrong)?;
            for output in entry.manifest.outputs.values() {
                let inside = entry.path(output).strip_prefix(store.root()).map(Path::to_owned).with_context(wrong)?;
                link(&Path::new("../../../..").join(inside), &labelled.join(&output.file)).with_context(wrong)?;
            }
        }
    }
    fs::write(draft.join("run.json"), serde_json::to_vec_pretty(&record)?).with_context(wrong)?;
    let log = place.join("log.jsonl");
    if log.is_file() {
        fs::copy(&log, draft.join("log.jsonl")).with_context(wrong)?;
    }
    append_log(&draft.join("log.jsonl"), tasks, done).with_context(wrong)?;
    add(&draft)?;
    let _ = fs::remove_dir_all(&place);
    match fs::rename(&draft, &place) {
        // Another run of the same config published in between: its names are as good as ours.
        Err(_) if place.is_dir() => fs::remove_dir_all(&draft).with_context(wrong),
        other => other.with_context(wrong),
    }
}

/// A readable name for a file. Two functions of a stage may write artifacts of one name under one label: the evidence of
/// paired reports, and the same evidence with bins. The name then leads to the file of the later function.
fn link(to: &Path, name: &Path) -> std::io::Result<()> {
    if name.is_symlink() {
        fs::remove_file(name)?;
    }
    symlink(to, name)
}

/// What keys must not know: time, machine, version, durations.
fn append_log(path: &Path, tasks: &[Task], done: &[Done]) -> anyhow::Result<()> {
    use std::io::Write;
    let time = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).map_or(0, |since| since.as_secs());
    let ran: Vec<_> = tasks
        .iter()
        .zip(done)
        .filter_map(|(task, done)| match &done.status {
            Status::Ran { why, took } => Some(serde_json::json!({
                "stage": task.stage, "function": task.function, "label": task.label(), "seconds": took.as_secs_f64(), "why": why,
            })),
            _ => None,
        })
        .collect();
    let host = fs::read_to_string("/etc/hostname").unwrap_or_default();
    let line = serde_json::json!({"time": time, "host": host.trim(), "version": env!("CARGO_PKG_VERSION"), "ran": ran});
    let mut file = fs::OpenOptions::new().append(true).create(true).open(path)?;
    writeln!(file, "{line}")?;
    Ok(())
}
