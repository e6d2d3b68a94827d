//! How much longer a run takes.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::task::{Status, Task};

/// What is left of each kind of task, and what such tasks have cost so far.
#[derive(Default)]
pub(crate) struct Remaining {
    kinds: BTreeMap<String, Kind>,
    /// Whether a task has run, so that something is known about times.
    has_run: bool,
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
        let mut remaining = Self { kinds: BTreeMap::new(), has_run: false, jobs: jobs.max(1) as f64 };
        for task in tasks {
            let kind = remaining.kinds.entry(kind(task)).or_default();
            kind.stage = task.stage;
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
            self.has_run = true;
            kind.seconds += took.as_secs_f64();
        }
    }

    /// Number of tasks that are left.
    pub(crate) fn left(&self) -> usize {
        self.kinds.values().map(|kind| kind.left).sum()
    }

    /// About how long they take, if none of them is fresh; none before any has run.
    ///
    /// A kind of which none has run is taken for the median kind of its stage.
    pub(crate) fn time(&self) -> Option<Duration> {
        if !self.has_run {
            return None;
        }
        let mut of_stage: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
        for kind in self.kinds.values() {
            of_stage.entry(kind.stage).or_default().extend(kind.mean());
        }
        let medians: BTreeMap<&str, f64> = of_stage.into_iter().map(|(stage, means)| (stage, median(means))).collect();
        let seconds = self.kinds.values().map(|kind| kind.left as f64 * kind.mean().unwrap_or(medians[kind.stage]));
        Some(Duration::from_secs_f64(seconds.sum::<f64>() / self.jobs))
    }
}

impl Kind {
    /// Seconds of those that ran.
    fn mean(&self) -> Option<f64> {
        (self.ran > 0).then(|| self.seconds / self.ran as f64)
    }
}

/// The middle value; 0 of none.
fn median(mut values: Vec<f64>) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(0.0)
}

/// Tasks that differ in nothing but their trial cost about the same.
fn kind(task: &Task) -> String {
    format!("{} {}", task.stage, task.cell)
}
