//! What a run says about itself while it runs, to whoever asks from another terminal.

use std::fs::{self, File, OpenOptions};
use std::io::{Seek, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use veilgraph_store::{Store, create_private_folder, mark_of_this_process};

/// How far a run is. It holds names of stages and runs, and nothing of what they read.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LiveState {
    /// Names of the experiments.
    pub experiments: Vec<String>,
    /// Stage runs that have ended.
    pub done: usize,
    /// Stage runs in all.
    pub total: usize,
    /// The stage run that was heard of last, and how far it is.
    pub current: String,
    /// Seconds since the beginning.
    pub seconds: u64,
    /// Seconds that are probably left for the stage runs of which something is known.
    pub seconds_left: Option<u64>,
    /// Stage runs that are left and for which these seconds do not stand, since none like them has run yet.
    #[serde(default)]
    pub without_estimate: usize,
}

/// How often the state is written.
const WRITE_EVERY: Duration = Duration::from_millis(500);

/// The file in which a run says how far it is. The run holds a lock on it, so a file without one is of a run that was
/// killed.
pub(crate) struct LiveFile {
    file: File,
    path: PathBuf,
    written: Option<Instant>,
}

impl LiveFile {
    /// Begins a file; none where the store cannot be written, since a run must not fail for it.
    pub(crate) fn begin(store: &Store) -> Option<Self> {
        let folder = folder(store);
        create_private_folder(&folder).ok()?;
        let path = folder.join(format!("{}-{}.json", std::process::id(), mark_of_this_process().ok()?));
        let file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(&path).ok()?;
        file.try_lock().ok()?;
        Some(Self { file, path, written: None })
    }

    /// Writes the state, unless it was written just now.
    pub(crate) fn write(&mut self, state: impl FnOnce() -> LiveState) {
        if self.written.is_some_and(|written| written.elapsed() < WRITE_EVERY) {
            return;
        }
        self.written = Some(Instant::now());
        if let Ok(text) = serde_json::to_vec(&state()) {
            // A reader of a half-written state waits for the next one.
            let _ = self.file.set_len(0).and_then(|()| self.file.rewind()).and_then(|()| self.file.write_all(&text));
        }
    }
}

impl Drop for LiveFile {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
        // It stays while another run has a file there.
        let _ = self.path.parent().map(fs::remove_dir);
    }
}

/// The states of all runs that use this store.
#[must_use]
pub fn states(store: &Store) -> Vec<LiveState> {
    let items = fs::read_dir(folder(store)).into_iter().flatten().flatten();
    let mut paths: Vec<PathBuf> = items.map(|item| item.path()).filter(|path| is_ours(path)).collect();
    paths.sort();
    paths.iter().filter_map(|path| state(path)).collect()
}

/// The state in a file, which is removed where its run was killed.
fn state(path: &Path) -> Option<LiveState> {
    let file = File::open(path).ok()?;
    if file.try_lock_shared().is_ok() {
        let _ = fs::remove_file(path);
        return None;
    }
    serde_json::from_slice(&fs::read(path).ok()?).ok()
}

fn folder(store: &Store) -> PathBuf {
    store.root().join("live")
}

/// Whether the name of a file is that of a process: its number, and a mark that tells it from those of other machines.
fn is_ours(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str()).and_then(|name| name.strip_suffix(".json"));
    let Some((number, mark)) = name.map(|name| name.split_once('-').unwrap_or((name, ""))) else { return false };
    let is_mark = mark.is_empty() || mark.len() == 16 && mark.bytes().all(|byte| byte.is_ascii_hexdigit());
    number.parse::<u32>().is_ok() && is_mark
}
