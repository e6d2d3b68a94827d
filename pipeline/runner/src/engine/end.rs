//! How a task ends, and what its failure stops.

use anyhow::Context;

use super::{Ends, Engine, Going};
use crate::output::causes;
use crate::task::{Done, Status, Task};

impl Engine<'_> {
    /// Says how a task ended, and lets those that waited for it go on. A failure stops everything, unless the run keeps
    /// going: then those that read from the task find that it made nothing.
    pub(super) fn end(&self, index: usize, end: anyhow::Result<Done>, going: &Going) {
        let task = &self.tasks[index];
        let end = match end {
            Err(error) if self.keeps_going => {
                Ok(Done { status: Status::Failed { error: causes(&error).join(": ") }, entry: None })
            }
            end => end,
        };
        let mut state = going.lock();
        match end.with_context(|| format!("stage {}", task.called())) {
            Ok(done) => {
                self.display.finished(task, &done.status);
                let _ = going.ends[index].set(done);
                state.schedule.finish(index);
            }
            Err(error) => {
                state.failed.get_or_insert(error);
            }
        }
        going.changed.notify_all();
    }
}

/// Whether a task cannot run because something that it reads from failed, or could not run itself.
pub(super) fn is_cut_off(task: &Task, ends: &Ends) -> bool {
    let has_failed = |done: &Done| matches!(done.status, Status::Failed { .. } | Status::Skipped);
    task.sources().any(|source| ends[source].get().is_some_and(has_failed))
}
