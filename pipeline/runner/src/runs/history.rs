//! The runs of a config so far: a file for each, with its config and the entries that it used.
//!
//! A run that has the config, the entries and the failures of the one before adds no file.

use std::cmp::Reverse;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use veilgraph_store::Store;

use super::{RunRecord, folders, name_of, now};

/// The folder of the history, among the readable names of a config.
const FOLDER: &str = "history";

/// A run of a config.
#[derive(Debug, Serialize, Deserialize)]
pub struct PastRun {
    /// When it ended, in milliseconds since 1970: the name of its file.
    #[serde(skip)]
    pub time: u64,
    /// The config, with all that was laid under and over it.
    pub config: String,
    /// The entries that it used.
    #[serde(flatten)]
    pub record: RunRecord,
    /// What failed, where the run kept going.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failed: Vec<FailedTask>,
    /// The most memory that the process was seen to take while a task ran, in bytes. None where nothing ran on this machine,
    /// and where the operating system does not tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub peak_memory: Option<u64>,
}

/// A task that failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FailedTask {
    /// Its stage.
    pub stage: String,
    /// Stage function.
    pub function: String,
    /// Readable name.
    pub label: String,
    /// What went wrong, and what to do about it.
    pub error: String,
}

/// How many runs of a config are kept.
const MOST: usize = 200;

/// The files of a history, that of the last run first.
fn files(place: &Path) -> Vec<PathBuf> {
    let items = fs::read_dir(place.join(FOLDER)).into_iter().flatten().flatten();
    let is_run = |path: &PathBuf| path.is_file() && !path.is_symlink() && time_of(path).is_some();
    let mut files: Vec<PathBuf> = items.map(|item| item.path()).filter(is_run).collect();
    files.sort();
    files.reverse();
    files
}

/// Whether a folder of readable names keeps no run.
pub(super) fn is_empty(place: &Path) -> bool {
    files(place).is_empty()
}

/// The runs of the experiment `name` that a store keeps, the last one first: those of all parts in the order of their times.
#[must_use]
pub fn runs_of(store: &Store, name: &str) -> Vec<PastRun> {
    let places = folders(store).into_iter().filter(|place| name_of(place) == name);
    let mut runs: Vec<PastRun> = places.flat_map(|place| past_runs(&place)).collect();
    runs.sort_by_key(|run| Reverse(run.time));
    runs
}

/// The experiment and the number of a run that is called `NAME@NUMBER`.
#[must_use]
pub fn name_and_number(called: &str) -> Option<(&str, usize)> {
    let (name, number) = called.rsplit_once('@')?;
    Some((name, number.parse().ok()?))
}

/// A run of the experiment `name` by its number, of which 1 is the last run; otherwise what is to be said where the store
/// does not keep it.
///
/// # Errors
/// When the store keeps no run of this number.
pub fn run_numbered(store: &Store, name: &str, number: usize) -> Result<PastRun, String> {
    let past = runs_of(store, name);
    let n_runs = past.len();
    past.into_iter().nth(number.wrapping_sub(1)).ok_or_else(|| {
        format!("{name}@{number}: the history of `{name}` has {n_runs} runs here (`veilgraph ls {name} --runs`)")
    })
}

/// The runs that a folder of readable names keeps, the last one first. A file is read when its run is asked for.
fn past_runs(place: &Path) -> impl Iterator<Item = PastRun> + use<> {
    files(place).into_iter().filter_map(|path| read(&path))
}

/// The records of the last runs that a folder of readable names keeps.
pub fn last_records(place: &Path, last: usize) -> impl Iterator<Item = RunRecord> + use<> {
    past_runs(place).take(last).map(|run| run.record)
}

/// The run that a file holds. A damaged file is passed over with a warning: it is a memory of an earlier run, and nothing
/// rests on it.
fn read(path: &Path) -> Option<PastRun> {
    let parsed = || -> anyhow::Result<PastRun> {
        let run: PastRun = serde_json::from_slice(&fs::read(path)?)?;
        Ok(PastRun { time: time_of(path).unwrap_or_default(), ..run })
    };
    let warn =
        |error: &anyhow::Error| tracing::warn!("{}: damaged, and no run is known from it: {error}", path.display());
    parsed().inspect_err(warn).ok()
}

/// What failed in the last run that a folder of readable names keeps, if that run had this config.
pub(super) fn last_failures(place: &Path, config: &str) -> Vec<FailedTask> {
    let last = past_runs(place).next().filter(|run| run.config == config);
    last.map(|run| run.failed).unwrap_or_default()
}

/// Puts the history of `place` into `draft`, with `run`, which ends now.
pub(super) fn carry_on(place: &Path, draft: &Path, run: &PastRun) -> anyhow::Result<()> {
    let folder = draft.join(FOLDER);
    fs::create_dir_all(&folder)?;
    for from in files(place).iter().take(MOST) {
        let to = folder.join(file_name(time_of(from).unwrap_or_default()));
        // Not every file system has second names for a file.
        fs::hard_link(from, &to).or_else(|_| fs::copy(from, &to).map(|_| ()))?;
    }
    // A history of many runs takes a while to read, and only its last run is compared.
    let last = past_runs(place).next();
    let is_new = |last: &PastRun| last.record != run.record || last.config != run.config || last.failed != run.failed;
    if last.as_ref().is_none_or(is_new) {
        let time = now().as_millis() as u64;
        let time = last.map_or(time, |last| time.max(last.time + 1));
        fs::write(folder.join(file_name(time)), serde_json::to_vec_pretty(run)?)?;
    }
    Ok(())
}

/// Whether this program made a file, by its path among the readable names of a config.
pub(super) fn is_ours(inside: &Path) -> bool {
    inside.parent() == Some(Path::new(FOLDER)) && time_of(inside).is_some()
}

/// Names in the order of the times.
fn file_name(time: u64) -> String {
    format!("{time:013}.json")
}

/// The time in the name of a file of the history.
fn time_of(path: &Path) -> Option<u64> {
    let stem = path.file_stem().and_then(OsStr::to_str)?;
    let time = stem.parse().ok()?;
    (path.file_name().and_then(OsStr::to_str) == Some(file_name(time).as_str())).then_some(time)
}
