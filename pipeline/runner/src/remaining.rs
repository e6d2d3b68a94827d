//! How much longer a run takes.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::engine::Status;
use crate::tasks::Task;

/// What is left of each kind of task, and what such tasks have cost so far.
#[derive(Default)]
pub(crate) struct Remaining {
    kinds: BTreeMap<String, Kind>,
    jobs: f64,
}

#[derive(Default)]
struct Kind {
    stage: &'static str,
    left: usize,
    /// Those that ran: their number and seconds.
    ran: usize,
    seconds: f64,
}

impl Remaining {
    /// All of these tasks, `jobs` at a time.
    pub(crate) fn of<'a>(tasks: impl IntoIterator<Item = &'a Task>, jobs: usize) -> Self {
        let mut remaining = Self { kinds: BTreeMap::new(), jobs: jobs.max(1) as f64 };
        for task in tasks {
            let kind = remaining.kinds.entry(kind(task)).or_default();
            kind.stage = task.runnable.stage();
            kind.left += 1;
        }
        remaining
    }

    /// A task has ended.
    pub(crate) fn finished(&mut self, task: &Task, status: &Status) {
        let Some(kind) = self.kinds.get_mut(&kind(task)) else { return };
        kind.left = kind.left.saturating_sub(1);
        if let Status::Ran { took, .. } = status {
            kind.ran += 1;
            kind.seconds += took.as_secs_f64();
        }
    }

    /// Number of tasks that are left.
    pub(crate) fn left(&self) -> usize {
        self.kinds.values().map(|kind| kind.left).sum()
    }

    /// About how long they take, if none of them is fresh; none before any has run.
    ///
    /// A kind of which none has run is taken for the mean of its stage.
    pub(crate) fn time(&self) -> Option<Duration> {
        let mean = |kinds: &mut dyn Iterator<Item = &Kind>| {
            let (ran, seconds) = kinds.fold((0, 0.0), |sum, kind| (sum.0 + kind.ran, sum.1 + kind.seconds));
            (ran > 0).then(|| seconds / ran as f64)
        };
        mean(&mut self.kinds.values())?;
        let seconds = self.kinds.values().filter(|kind| kind.left > 0).map(|kind| {
            let own = mean(&mut std::iter::once(kind));
            let of_stage = || mean(&mut self.kinds.values().filter(|other| other.stage == kind.stage));
            kind.left as f64 * own.or_else(of_stage).unwrap_or(0.0)
        });
        Some(Duration::from_secs_f64(seconds.sum::<f64>() / self.jobs))
    }
}

/// Tasks that differ in nothing but their trial cost about the same.
fn kind(task: &Task) -> String {
    let cell = task.label.rsplit_once("trial-").map_or(task.label.as_str(), |(cell, _)| cell);
    format!("{} {cell}", task.runnable.stage())
}
