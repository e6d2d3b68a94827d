//! The runs of a config so far: a file for each, with its config and the entries that it used.
//!
//! A run that has the config and the entries of the one before adds no file.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context;
use serde::{Deserialize, Serialize};

use super::{RunRecord, now};

/// The folder of the history, among the readable names of a config.
const FOLDER: &str = "history";

/// A run of a config.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct PastRun {
    /// When it ended, in milliseconds since 1970: the name of its file.
    #[serde(skip)]
    pub time: u64,
    /// The config, with all that was laid under and over it.
    pub config: String,
    /// The entries that it used.
    #[serde(flatten)]
    pub record: RunRecord,
}

/// The runs that a folder of readable names keeps, the last one first.
pub(crate) fn past_runs(place: &Path) -> anyhow::Result<Vec<PastRun>> {
    let items = fs::read_dir(place.join(FOLDER)).into_iter().flatten().flatten();
    let is_run = |path: &PathBuf| path.is_file() && !path.is_symlink() && time_of(path).is_some();
    let mut files: Vec<PathBuf> = items.map(|item| item.path()).filter(is_run).collect();
    files.sort();
    files.reverse();
    let read = |path: &PathBuf| -> anyhow::Result<PastRun> {
        let wrong = || format!("{}: damaged; remove this file of the history", path.display());
        let run: PastRun = serde_json::from_slice(&fs::read(path).with_context(wrong)?).with_context(wrong)?;
        Ok(PastRun { time: time_of(path).unwrap_or_default(), ..run })
    };
    files.iter().map(read).collect()
}

/// The records of the last runs that a folder of readable names keeps; of a folder without a history, its record.
pub(crate) fn last_records(place: &Path, last: usize) -> anyhow::Result<Vec<RunRecord>> {
    let runs = past_runs(place)?;
    if runs.is_empty() {
        return Ok(vec![RunRecord::read(place)?]);
    }
    Ok(runs.into_iter().take(last).map(|run| run.record).collect())
}

/// Puts the history of `place` into `draft`, with a run that ends now.
pub(super) fn carry_on(place: &Path, draft: &Path, config: String, record: RunRecord) -> anyhow::Result<()> {
    let past = past_runs(place)?;
    let (earlier, folder) = (place.join(FOLDER), draft.join(FOLDER));
    fs::create_dir_all(&folder)?;
    for run in &past {
        let name = file_name(run.time);
        let (from, to) = (earlier.join(&name), folder.join(&name));
        // Not every file system has second names for a file.
        fs::hard_link(&from, &to).or_else(|_| fs::copy(&from, &to).map(|_| ()))?;
    }
    let last = past.first();
    if last.is_none_or(|last| last.record != record || last.config != config) {
        let time = now().as_millis() as u64;
        let time = last.map_or(time, |last| time.max(last.time + 1));
        let run = PastRun { time, config, record };
        fs::write(folder.join(file_name(time)), serde_json::to_vec_pretty(&run)?)?;
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
