//! Readable names: `<part>/runs/<config>/<stage>/<label>/` links to the entries of the last run of a config. Each part of
//! the store names its own files alone, so that a copy of a part that follows links holds nothing of another.

mod history;
mod log;
mod names;
mod ours;
mod record;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anyhow::Context;
use veilgraph_store::{Entry, Part, Store, StoreKind, mark_of_this_process, replace_folder};

use crate::config::Config;
use crate::nearest::did_you_mean;
use crate::task::{Done, Status, Task};
use history::last_failures;
pub use history::{FailedTask, last_records, name_and_number, run_numbered, runs_of};
pub(crate) use log::ran_tasks;
pub use log::{LogLine, RanTask, lines_with, log_of};
use names::Names;
pub use record::RunRecord;

/// Folder of the readable names of the config `name` in a part.
pub(crate) fn folder(store: &Store, part: Part, name: &str) -> PathBuf {
    store.part(part).join("runs").join(name)
}

/// Folders of readable names of all configs in all parts.
#[must_use]
pub fn folders(store: &Store) -> Vec<PathBuf> {
    all_folders(store).into_iter().filter(|place| !is_half_written(place)).collect()
}

/// Folders of readable names that killed runs left before they were done.
#[must_use]
pub fn half_written(store: &Store) -> Vec<PathBuf> {
    all_folders(store).into_iter().filter(|place| is_half_written(place)).collect()
}

/// What lies where folders of readable names lie.
fn all_folders(store: &Store) -> Vec<PathBuf> {
    let parts = Part::ALL.into_iter().map(|part| store.part(part));
    let mut all: Vec<PathBuf> = Vec::new();
    for part in parts.chain([store.root().to_owned()]) {
        let items = fs::read_dir(part.join("runs")).into_iter().flatten().flatten();
        all.extend(items.map(|item| item.path()).filter(|path| path.is_dir() && !path.is_symlink()));
    }
    all.sort();
    all.dedup();
    all
}

/// The config whose readable names a folder holds.
#[must_use]
pub fn name_of(place: &Path) -> String {
    place.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

/// Whether the last run of the config `name` had a run of this stage and label.
#[must_use]
pub fn is_named(store: &Store, name: &str, stage: &str, label: &str) -> bool {
    Part::ALL.into_iter().any(|part| folder(store, part, name).join(stage).join(label).is_dir())
}

/// Whether a folder of readable names is that of a config which has run, and not what a user left there.
#[must_use]
pub fn has_run(place: &Path) -> bool {
    ours::FILES.iter().any(|name| place.join(name).is_file()) || !history::is_empty(place)
}

/// The error about an experiment that has not run in this store; it names the one that was probably meant.
pub fn unknown(store: &Store, name: &str) -> anyhow::Error {
    let ran = folders(store).into_iter().filter(|place| has_run(place));
    let known: BTreeSet<String> = ran.map(|place| name_of(&place)).collect();
    let known: Vec<&str> = known.iter().map(String::as_str).collect();
    let hint = did_you_mean(name, &known);
    anyhow::anyhow!("no experiment `{name}` has run in {}{hint}", store.root().display())
}

/// Whether a folder of names is not done yet.
fn is_half_written(place: &Path) -> bool {
    place.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'))
}

/// Removes a folder of readable names, and leaves what this program did not put there.
///
/// # Errors
/// When a file of this program cannot be removed.
pub fn remove(place: &Path) -> std::io::Result<()> {
    veilgraph_store::remove_ours(place, &|inside: &Path| ours::is_ours(place, inside))
}

/// Writes the readable names of a finished run, a line to the log of each part that keeps one, and what `add` puts beside the scores.
///
/// # Errors
/// When a file cannot be written, or `add` fails.
pub fn publish(
    store: &Store,
    config: &Config,
    tasks: &[Task],
    done: &[Done],
    add: impl FnOnce(&Path) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let mut parts: BTreeMap<Part, Names> = BTreeMap::new();
    let whole = part_of_record(store, config);
    for (task, done) in tasks.iter().zip(done) {
        if let Status::Ran { why, took, host, memory } = &done.status {
            // How long private data took says something about them.
            let part = match task.side {
                "server" => whole,
                "auditor" => Part::Auditor,
                _ => Part::Owner,
            };
            parts.entry(part).or_default().ran.push(RanTask {
                stage: task.stage.to_owned(),
                function: task.function.to_owned(),
                label: task.label().to_owned(),
                seconds: took.as_secs_f64(),
                why: why.clone(),
                host: host.clone(),
                key: done.entry.as_ref().map(|entry| entry.manifest.key.clone()),
                kind: Some(task.kind.name().to_owned()),
                peak_memory: memory.peak,
                own_memory: memory.own,
            });
            let of_run = &mut parts.entry(whole).or_default().peak_memory;
            *of_run = (*of_run).max(memory.peak);
        }
        if let Status::Failed { error } = &done.status {
            let (stage, function) = (task.stage.to_owned(), task.function.to_owned());
            let failed = FailedTask { stage, function, label: task.label().to_owned(), error: error.clone() };
            parts.entry(whole).or_default().failed.push(failed);
        }
        let Some(entry) = &done.entry else { continue };
        gather(store, config, task, entry, &mut parts)?;
    }
    // Two runs of one config write one after the other, so that the log has a line of each.
    let _lock = store.lock_name(&format!("runs-{}", config.name), || {})?;
    let mut add = Some(add);
    for (part, names) in parts {
        let place = folder(store, part, &config.name);
        let wrong = || {
            format!(
                "{}: cannot write the readable names of the run; free space (`veilgraph gc`) or make it writable, and run \
                 again",
                place.display()
            )
        };
        let draft = place.with_file_name(format!(".{}-{}", config.name, mark_of_this_process()?));
        let before = RunRecord::read(&place)?;
        prepare(&place, &draft, part).with_context(wrong)?;
        // A server's own store keeps the runs of the server. The part that an owner may copy keeps none: it would tell the
        // server when the owner ran what, with the paths of the owner's files.
        let keeps_runs = part.is_private() || store.kind() == StoreKind::ServerAlone;
        names.write(before, keeps_runs.then(|| config.text()), store, part, &place, &draft).with_context(wrong)?;
        if part == Part::Auditor
            && let Some(add) = add.take()
        {
            add(&draft).with_context(wrong)?;
            keep_scores(&place, &draft).with_context(wrong)?;
        }
        replace_folder(&draft, &place, &|inside: &Path| ours::is_ours(&place, inside)).with_context(wrong)?;
    }
    Ok(())
}

/// Scores of the last run that had some stay where this run has none: it may have stopped before them.
fn keep_scores(place: &Path, draft: &Path) -> anyhow::Result<()> {
    for name in ["scores.parquet", "scores.csv"] {
        if place.join(name).is_file() && !draft.join(name).exists() {
            fs::copy(place.join(name), draft.join(name))?;
        }
    }
    Ok(())
}

/// The part that may know everything of a run.
fn part_of_record(store: &Store, config: &Config) -> Part {
    match (store.kind(), config.is_deployment()) {
        (StoreKind::ServerAlone, _) => Part::Server,
        (StoreKind::Whole, true) => Part::Owner,
        (StoreKind::Whole, false) => Part::Simulation,
    }
}

/// What failed in the last run of an experiment, as far as its history tells; nothing where that run had other settings,
/// of which it says nothing.
#[must_use]
pub fn failures(store: &Store, config: &Config) -> Vec<FailedTask> {
    last_failures(&folder(store, part_of_record(store, config), &config.name), &config.text())
}

/// Sorts the files of an entry by the parts that may name them.
fn gather(
    store: &Store,
    config: &Config,
    task: &Task,
    entry: &Entry,
    parts: &mut BTreeMap<Part, Names>,
) -> anyhow::Result<()> {
    let recipe = &entry.manifest.recipe;
    let own = match store.kind() {
        StoreKind::ServerAlone => Part::Server,
        StoreKind::Whole if recipe.deployment || !config.is_deployment() => Part::of(recipe),
        // An entry of an earlier layout.
        StoreKind::Whole => Part::Owner,
    };
    // The whole record stands where everything of the run may be known.
    let whole = if config.is_deployment() && store.kind() == StoreKind::Whole { Part::Owner } else { own };
    parts.entry(whole).or_default().record.note(task, &entry.manifest.key);
    for output in entry.manifest.outputs.values() {
        let part = match output.zone.as_str() {
            "owner" => Part::Owner,
            "auditor" => Part::Auditor,
            _ => own,
        };
        if entry.path(output).is_file() {
            parts.entry(part).or_default().add(task, &output.file, &entry.path(output));
        }
    }
    if config.is_deployment() && store.kind() == StoreKind::Whole && task.side != "auditor" {
        // What the server may see of it, as the server will find it.
        let server = store.server();
        let public =
            if own == Part::Server { entry.clone() } else { entry.publish_to(&server, task.canonical.clone())? };
        let names = parts.entry(Part::Server).or_default();
        names.record.note(task, &public.manifest.key);
        if own != Part::Server {
            for output in public.manifest.outputs.values() {
                names.add(task, &output.file, &public.path(output));
            }
        }
    }
    Ok(())
}

/// Begins a folder of names, which only its owner may enter where the part is private.
fn prepare(place: &Path, draft: &Path, part: Part) -> anyhow::Result<()> {
    if part.is_private() {
        veilgraph_store::create_private_folder(place.parent().unwrap_or(place))?;
    }
    if draft.is_dir() {
        // A killed process with our number left it.
        remove(draft)?;
    }
    Ok(fs::create_dir_all(draft)?)
}

/// The time since 1970.
#[must_use]
pub fn now() -> Duration {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()
}
