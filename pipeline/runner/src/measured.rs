//! What tasks took in earlier runs of a store, by their kinds.

use std::collections::BTreeMap;

use veilgraph_store::Store;

use crate::peak_memory::TaskMemory;
use crate::runs;

/// What tasks of one kind took.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Measured {
    /// Number of them.
    pub tasks: usize,
    /// Seconds of all of them together.
    pub seconds: f64,
    /// The most bytes that a process was seen to take while one of them ran.
    pub peak_memory: Option<u64>,
    /// The fewest bytes that one of them took itself, where that is known.
    pub least_own: Option<u64>,
}

impl Measured {
    /// One more task.
    pub(crate) fn add(&mut self, seconds: f64, memory: TaskMemory) {
        self.tasks += 1;
        self.seconds += seconds;
        self.peak_memory = self.peak_memory.max(memory.peak);
        self.least_own = self.least_own.into_iter().chain(memory.own).min();
    }

    /// Seconds of one of them; none where there is none.
    pub(crate) fn mean(&self) -> Option<f64> {
        (self.tasks > 0).then(|| self.seconds / self.tasks as f64)
    }
}

/// What tasks took in earlier runs, by their kinds.
#[derive(Clone, Debug, Default)]
pub struct Measurements(BTreeMap<String, Measured>);

impl Measurements {
    /// What the logs of all experiments of a store tell.
    #[must_use]
    pub fn of(store: &Store) -> Self {
        let mut all = Self::default();
        for place in &runs::folders(store) {
            for task in runs::ran_tasks(place) {
                if let Some(kind) = task.kind {
                    let memory = TaskMemory { peak: task.peak_memory, own: task.own_memory };
                    all.0.entry(kind).or_default().add(task.seconds, memory);
                }
            }
        }
        all
    }

    /// What tasks of a kind took; none where none ran.
    #[must_use]
    pub fn of_kind(&self, kind: &str) -> Option<&Measured> {
        self.0.get(kind)
    }
}

#[cfg(test)]
impl<'a> FromIterator<(&'a crate::kind::TaskKind, f64)> for Measurements {
    /// Tasks that took so many seconds.
    fn from_iter<I: IntoIterator<Item = (&'a crate::kind::TaskKind, f64)>>(tasks: I) -> Self {
        let mut all = Self::default();
        for (kind, seconds) in tasks {
            all.0.entry(kind.name().to_owned()).or_default().add(seconds, TaskMemory::default());
        }
        all
    }
}
