//! A run while it goes on, as its threads see it.

use std::collections::BTreeMap;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use super::Ends;
use super::remote::Sent;
use super::schedule::Schedule;
use crate::peak_memory;
use crate::task::Done;

/// What the threads share.
pub(super) struct Shared {
    pub schedule: Schedule,
    /// Tasks that other machines run, by the key of their entry: several, where several have the same inputs.
    pub sent: BTreeMap<String, Vec<Sent>>,
    pub failed: Option<anyhow::Error>,
}

/// A run of all tasks, as its threads see it.
pub(super) struct Going<'a> {
    pub shared: &'a Mutex<Shared>,
    pub changed: &'a Condvar,
    pub ends: &'a Ends,
}

/// How far this machine brought a task.
pub(super) enum Brought {
    /// To its end.
    Done(Done),
    /// To where another machine goes on.
    ToBeSent { key: String, why: Vec<String> },
}

impl Going<'_> {
    pub(super) fn lock(&self) -> MutexGuard<'_, Shared> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ends the run, because of something that belongs to no single task.
    pub(super) fn fail(&self, error: anyhow::Error) {
        self.lock().failed.get_or_insert(error);
        self.changed.notify_all();
    }
}

impl Shared {
    /// Whether nothing more is to be done.
    pub(super) fn is_over(&self) -> bool {
        self.failed.is_some() || self.schedule.is_done()
    }
}

impl From<Done> for Brought {
    fn from(done: Done) -> Self {
        Self::Done(done)
    }
}

/// Looks at the memory of this process again and again, until everything is done.
pub(super) fn watch_memory(going: &Going) {
    loop {
        // Reading takes a while, in which the others must not wait for the lock.
        peak_memory::look();
        let state = going.lock();
        if state.is_over() {
            return;
        }
        drop(going.changed.wait_timeout(state, peak_memory::LOOK_EVERY));
    }
}
