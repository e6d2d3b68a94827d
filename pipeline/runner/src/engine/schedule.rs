//! Which task is next: the first in the order of the plan whose inputs are there.

use std::collections::BTreeSet;

use crate::task::Task;

/// Tasks that have not ended, by what they wait for.
pub(super) struct Schedule {
    /// Tasks whose inputs are there and that nobody has taken yet.
    ready: BTreeSet<usize>,
    /// Number of tasks that each task still waits for.
    missing: Vec<usize>,
    /// Tasks that read from each task.
    readers: Vec<Vec<usize>>,
    /// Number of tasks that have not ended.
    left: usize,
}

impl Schedule {
    /// The schedule of a run. Where `releases_wait`, a release waits for everything that owner and server can do without one: a
    /// mistake that is found there has cost nothing.
    pub(super) fn of(tasks: &[Task], releases_wait: bool) -> Self {
        let mut sources: Vec<BTreeSet<usize>> = tasks.iter().map(|task| task.sources().collect()).collect();
        if releases_wait {
            // What an auditor says about private data must not decide whether something is released.
            let is_free: Vec<bool> =
                tasks.iter().map(|task| task.releases.is_empty() && task.side != "auditor").collect();
            let is_release: Vec<bool> = tasks.iter().map(|task| !task.releases.is_empty()).collect();
            let_releases_wait(&mut sources, &is_free, &is_release);
        }
        Self::new(&sources)
    }

    /// The schedule of tasks that read from these others.
    fn new(sources: &[BTreeSet<usize>]) -> Self {
        let mut readers = vec![Vec::new(); sources.len()];
        for (index, sources) in sources.iter().enumerate() {
            sources.iter().for_each(|&source| readers[source].push(index));
        }
        let missing: Vec<usize> = sources.iter().map(BTreeSet::len).collect();
        let ready = (0..sources.len()).filter(|&index| missing[index] == 0).collect();
        Self { ready, missing, readers, left: sources.len() }
    }

    /// Takes the next task; none if all that are left wait for tasks that are being run.
    pub(super) fn take(&mut self) -> Option<usize> {
        self.ready.pop_first()
    }

    /// A task has ended: those that waited for it alone become ready.
    pub(super) fn finish(&mut self, task: usize) {
        self.left -= 1;
        for &reader in &self.readers[task] {
            self.missing[reader] -= 1;
            if self.missing[reader] == 0 {
                self.ready.insert(reader);
            }
        }
    }

    /// Whether every task has ended.
    pub(super) fn is_done(&self) -> bool {
        self.left == 0
    }
}

/// Lets every release wait for the free tasks that read from no release, near or far. Each task stands after those that it reads from.
fn let_releases_wait(sources: &mut [BTreeSet<usize>], is_free: &[bool], is_release: &[bool]) {
    let mut before: BTreeSet<usize> = BTreeSet::new();
    for (task, sources) in sources.iter().enumerate() {
        if is_free[task] && sources.is_subset(&before) {
            before.insert(task);
        }
    }
    for (task, sources) in sources.iter_mut().enumerate() {
        if is_release[task] {
            sources.extend(&before);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Tasks 0 and 4 read data, 1 and 5 release them, 2 is free, 3 reads from 1, and 6 scores 0 for the auditor.
    #[test]
    fn releases_wait_for_what_needs_none() {
        let sources = [vec![], vec![0], vec![0], vec![1], vec![], vec![4], vec![0]];
        let mut sources: Vec<BTreeSet<usize>> = sources.into_iter().map(|list| list.into_iter().collect()).collect();
        let is_free = [true, false, true, true, true, false, false];
        let_releases_wait(&mut sources, &is_free, &[false, true, false, false, false, true, false]);
        assert_eq!(sources[1], BTreeSet::from([0, 2, 4]));
        assert_eq!(sources[5], BTreeSet::from([0, 2, 4]));
        assert_eq!([sources[3].len(), sources[6].len()], [1, 1], "nothing else waits");
    }

    /// Task 0 is slow; 1 reads from it; 3 reads from 2, and 4 from 1 and 3.
    #[test]
    fn a_slow_task_keeps_nobody_from_the_others() {
        let sources = [vec![], vec![0], vec![], vec![2], vec![1, 3]];
        let sources: Vec<BTreeSet<usize>> = sources.into_iter().map(|list| list.into_iter().collect()).collect();
        let mut schedule = Schedule::new(&sources);
        assert_eq!([schedule.take(), schedule.take(), schedule.take()], [Some(0), Some(2), None]);
        schedule.finish(2);
        assert_eq!(schedule.take(), Some(3), "although task 0 has not ended");
        schedule.finish(3);
        assert_eq!(schedule.take(), None);
        schedule.finish(0);
        assert_eq!(schedule.take(), Some(1));
        schedule.finish(1);
        assert_eq!(schedule.take(), Some(4));
        assert!(!schedule.is_done());
        schedule.finish(4);
        assert!(schedule.is_done());
    }
}
