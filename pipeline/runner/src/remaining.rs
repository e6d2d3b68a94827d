//! How much longer a run takes.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::kind::TaskKind;
use crate::measured::{Measured, Measurements};
use crate::peak_memory::TaskMemory;
use crate::task::{Status, Task};

/// What is left of each kind of task, and what such tasks take.
#[derive(Default)]
pub struct Remaining {
    kinds: BTreeMap<String, KindLeft>,
    jobs: usize,
}

/// What is left of one kind.
#[derive(Default)]
struct KindLeft {
    left: usize,
    /// Those that ran in this run.
    ran: Measured,
    /// Those that ran in earlier ones.
    earlier: Measured,
}

/// About how long what is left takes, if none of it is fresh.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TimeLeft {
    /// Of the tasks of which something is known.
    pub time: Duration,
    /// Number of these tasks.
    pub known: usize,
    /// Number of tasks of whose kind none has ever run.
    pub unknown: usize,
}

impl Remaining {
    /// All of these tasks, `jobs` at a time.
    pub fn of<'a>(tasks: impl IntoIterator<Item = &'a Task>, jobs: usize) -> Self {
        Self::of_kinds(tasks.into_iter().map(|task| &task.kind), jobs)
    }

    fn of_kinds<'a>(kinds: impl Iterator<Item = &'a TaskKind>, jobs: usize) -> Self {
        let mut remaining = Self { kinds: BTreeMap::new(), jobs: jobs.max(1) };
        for kind in kinds {
            remaining.kinds.entry(kind.name().to_owned()).or_default().left += 1;
        }
        remaining
    }

    /// Takes up what such tasks took in earlier runs.
    pub fn learn(&mut self, earlier: &Measurements) {
        for (kind, left) in &mut self.kinds {
            left.earlier = earlier.of_kind(kind).copied().unwrap_or_default();
        }
    }

    /// A task has ended.
    pub(crate) fn finished(&mut self, task: &Task, status: &Status) {
        let took = if let Status::Ran { took, .. } = status { Some(*took) } else { None };
        self.ended(&task.kind, took);
    }

    /// A task of this kind has ended, after so long if it ran.
    fn ended(&mut self, kind: &TaskKind, took: Option<Duration>) {
        let Some(of_kind) = self.kinds.get_mut(kind.name()) else { return };
        of_kind.left = of_kind.left.saturating_sub(1);
        if let Some(took) = took {
            of_kind.ran.add(took.as_secs_f64(), TaskMemory::default());
        }
    }

    /// Number of tasks that are left.
    pub(crate) fn left(&self) -> usize {
        self.kinds.values().map(|kind| kind.left).sum()
    }

    /// About how long they take; none where nothing is known of any of them.
    ///
    /// A kind takes what its tasks took in this run, else what they took in earlier ones. Of a kind of which none has ever
    /// run, nothing is said.
    #[must_use]
    pub fn time(&self) -> Option<TimeLeft> {
        let (mut seconds, mut longest) = (0.0, 0.0_f64);
        let (mut known, mut unknown) = (0, 0);
        for kind in self.kinds.values().filter(|kind| kind.left > 0) {
            match kind.ran.mean().or(kind.earlier.mean()) {
                Some(mean) => {
                    known += kind.left;
                    seconds += kind.left as f64 * mean;
                    longest = longest.max(mean);
                }
                None => unknown += kind.left,
            }
        }
        // However many run at a time, the longest of them takes its time.
        let seconds = (seconds / self.jobs as f64).max(longest);
        (known > 0).then(|| TimeLeft { time: Duration::from_secs_f64(seconds), known, unknown })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn kind(model: &str) -> TaskKind {
        TaskKind::of("train", "classify", &json!({"model": model}), &[], &[], std::iter::empty())
    }

    fn left(remaining: &Remaining) -> (f64, usize, usize) {
        let left = remaining.time().expect("something is known");
        (left.time.as_secs_f64(), left.known, left.unknown)
    }

    /// A schedule whose slowest kind comes first: four tasks of 100 seconds, then twenty of 1 second. As long as only slow ones
    /// have run, the quick ones are not taken for slow ones.
    #[test]
    fn the_slowest_kind_tells_nothing_of_the_others() {
        let (slow, quick) = (kind("gat"), kind("gcn"));
        let all = std::iter::repeat_n(&slow, 4).chain(std::iter::repeat_n(&quick, 20));
        let mut remaining = Remaining::of_kinds(all, 2);
        assert_eq!(remaining.time(), None, "nothing has run");
        remaining.ended(&slow, Some(Duration::from_secs(100)));
        assert_eq!(
            left(&remaining),
            (150.0, 3, 20),
            "three slow ones, two at a time, and twenty of which nothing is known"
        );
        remaining.ended(&quick, Some(Duration::from_secs(1)));
        assert_eq!(left(&remaining), (159.5, 22, 0));
        for _ in 0..2 {
            remaining.ended(&slow, Some(Duration::from_secs(100)));
        }
        assert_eq!(left(&remaining), (100.0, 20, 0), "the last slow one takes its time, although two run at once");
        remaining.ended(&slow, None);
        for _ in 0..19 {
            remaining.ended(&quick, None);
        }
        assert_eq!((remaining.time(), remaining.left()), (None, 0), "nothing is left");
    }

    /// Earlier runs tell from the beginning on, until this one knows better.
    #[test]
    fn earlier_runs_tell_of_kinds_that_have_not_run_yet() {
        let (slow, quick) = (kind("gat"), kind("gcn"));
        let earlier: Measurements = [(&quick, 4.0), (&quick, 2.0)].into_iter().collect();
        let mut remaining = Remaining::of_kinds([&slow, &quick, &quick].into_iter(), 1);
        remaining.learn(&earlier);
        assert_eq!(left(&remaining), (6.0, 2, 1));
        remaining.ended(&quick, Some(Duration::from_secs(10)));
        assert_eq!(left(&remaining), (10.0, 1, 1));
    }
}
