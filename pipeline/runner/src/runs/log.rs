//! What keys must not know: when the tasks of each run ran, for how long, and why.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::{FailedTask, now};
use crate::build;

/// The file of the log, among the readable names of a config: a line for each run.
pub(super) const FILE: &str = "log.jsonl";

/// A task that ran.
#[derive(Debug, Serialize, Deserialize)]
pub struct RanTask {
    /// Its stage.
    pub stage: String,
    /// Stage function.
    #[serde(default)]
    pub function: String,
    /// Readable name.
    pub label: String,
    /// How long it took, in seconds.
    pub seconds: f64,
    /// Why it ran.
    #[serde(default)]
    pub why: Vec<String>,
    /// The machine that ran it.
    #[serde(default)]
    pub host: String,
    /// The key of the entry that it made.
    #[serde(default)]
    pub key: Option<String>,
    /// What it has in common with tasks that take about as long; none in logs of earlier versions.
    #[serde(default)]
    pub kind: Option<String>,
    /// The most bytes that the process was seen to take meanwhile.
    #[serde(default)]
    pub peak_memory: Option<u64>,
    /// How much of that the task took itself, in bytes, where nothing else was going on.
    #[serde(default)]
    pub own_memory: Option<u64>,
}

/// What is read of a line.
#[derive(Deserialize)]
pub struct LogLine {
    /// When the run ended, in seconds since 1970.
    #[serde(default)]
    pub time: u64,
    /// The version of the program.
    #[serde(default)]
    pub version: String,
    /// Tasks that ran.
    #[serde(default)]
    pub ran: Vec<RanTask>,
}

/// Puts the log of `place` into `draft`, with a line for a run that ends now.
pub(super) fn carry_on(place: &Path, draft: &Path, ran: &[RanTask], failed: &[FailedTask]) -> anyhow::Result<()> {
    let (before, path) = (place.join(FILE), draft.join(FILE));
    if before.is_file() {
        fs::copy(&before, &path)?;
    }
    let (version, commit) = (env!("CARGO_PKG_VERSION"), build::commit());
    let line = serde_json::json!({
        "time": now().as_secs(), "version": version, "commit": commit, "ran": ran, "failed": failed,
    });
    let mut file = OpenOptions::new().append(true).create(true).open(&path)?;
    // One call for the whole line: each part of a formatted one would be a call of its own.
    file.write_all(format!("{line}\n").as_bytes())?;
    Ok(())
}

/// The text of the log of `place`; empty where there is none.
#[must_use]
pub fn log_of(place: &Path) -> String {
    fs::read_to_string(place.join(FILE)).unwrap_or_default()
}

/// The lines of a log that hold `word`. One that cannot be read, because a crash cut it short, is passed over: nothing rests
/// on it.
#[must_use]
pub fn lines_with(log: &str, word: &str) -> impl DoubleEndedIterator<Item = LogLine> {
    log.lines().filter(move |line| line.contains(word)).filter_map(|line| serde_json::from_str(line).ok())
}

/// Every task that ran, as far as the log of `place` tells.
#[must_use]
pub(crate) fn ran_tasks(place: &Path) -> Vec<RanTask> {
    let log = log_of(place);
    lines_with(&log, "").flat_map(|line| line.ran).collect()
}
