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
    pub(super) fn of(tasks: &[Task]) -> Self {
        let sources: Vec<BTreeSet<usize>> = tasks.iter().map(|task| task.sources().collect()).collect();
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

#[cfg(test)]
mod tests {
    use super::*;

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
