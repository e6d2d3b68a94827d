//! Watches one task: shows how far it is, and keeps its checkpoints.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use veilgraph_contract::{Memory, Watcher};
use veilgraph_store::Checkpoints;

/// Shows that a task is so many steps far, of so many.
pub(crate) type ShowSteps<'a> = &'a (dyn Fn(u64, u64) + Sync);

/// Watches one task.
pub(crate) struct TaskWatcher<'a> {
    /// Stage and label, for messages.
    name: String,
    show: ShowSteps<'a>,
    /// None where the state of a task would lie in a folder that others may read although it saw private data.
    checkpoints: Option<Checkpoints>,
    interval: Duration,
    memory: Memory,
    start: Instant,
    /// When each name was last saved.
    saved: Mutex<BTreeMap<String, Instant>>,
}

impl<'a> TaskWatcher<'a> {
    /// Watches the task `name`, which may save each of its states every `interval`, where it may keep any.
    pub(crate) fn new(
        name: String,
        show: ShowSteps<'a>,
        checkpoints: Option<Checkpoints>,
        interval: Duration,
        memory: Memory,
    ) -> Self {
        Self { name, show, checkpoints, interval, memory, start: Instant::now(), saved: Mutex::default() }
    }

    /// The task is done: nothing needs to be kept.
    pub(crate) fn finish(self) {
        // What is left costs disk space until the next `gc`, not correctness.
        if let Some(Err(error)) = self.checkpoints.map(|checkpoints| checkpoints.remove()) {
            tracing::warn!("{error}");
        }
    }
}

impl Watcher for TaskWatcher<'_> {
    fn report(&self, done: u64, total: u64) {
        (self.show)(done, total);
    }

    fn checkpoint(&self, name: &str) -> Option<Vec<u8>> {
        let state = self.checkpoints.as_ref()?.load(name)?;
        tracing::info!("{}: {name} goes on from its checkpoint", self.name);
        Some(state)
    }

    fn checkpoint_is_due(&self, name: &str) -> bool {
        let saved = self.saved.lock().unwrap_or_else(PoisonError::into_inner);
        self.checkpoints.is_some() && saved.get(name).unwrap_or(&self.start).elapsed() >= self.interval
    }

    fn keeps_finished(&self) -> bool {
        self.checkpoints.is_some() && self.start.elapsed() >= self.interval
    }

    fn save_checkpoint(&self, name: &str, state: &[u8]) {
        let Some(checkpoints) = &self.checkpoints else { return };
        // A checkpoint that cannot be written (a full disk, say) costs time later and nothing now.
        if let Err(error) = checkpoints.save(name, state) {
            tracing::warn!("{error}; training goes on without this checkpoint");
        }
        self.saved.lock().unwrap_or_else(PoisonError::into_inner).insert(name.to_owned(), Instant::now());
    }

    fn memory(&self) -> Memory {
        self.memory
    }
}
