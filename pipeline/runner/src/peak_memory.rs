//! How much memory this process takes while a task runs.
//!
//! The tasks of one process share its memory, so what is seen while one of them runs also holds what the others take at
//! that time, and what earlier ones did not give back. It is an upper bound of what the task itself needs, up to what
//! nobody looked at.

use std::collections::BTreeMap;
use std::fs;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// How often to look while a task runs.
pub(crate) const LOOK_EVERY: Duration = Duration::from_millis(50);

/// How much memory a task took, as far as its process can tell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TaskMemory {
    /// The most bytes that the process was seen to take meanwhile; none where the operating system does not tell.
    pub peak: Option<u64>,
    /// How much more that was than when the task began, where no other task was going on at any time: so much of it the task
    /// took itself.
    pub own: Option<u64>,
}

/// A task whose memory is watched until this value is dropped.
pub(crate) struct PeakMemory {
    number: u64,
    /// What the process took when the task began, and the most that it had taken until then.
    before: Memory,
}

/// The tasks that are watched.
struct Watched {
    next: u64,
    tasks: BTreeMap<u64, Seen>,
}

/// What was seen of a task so far.
#[derive(Clone, Copy)]
struct Seen {
    most: Option<u64>,
    /// Whether no other task was watched at the same time.
    is_alone: bool,
}

static WATCHED: Mutex<Watched> = Mutex::new(Watched { next: 0, tasks: BTreeMap::new() });

/// What the operating system says of this process, in bytes.
#[derive(Clone, Copy)]
struct Memory {
    /// What it takes now.
    now: Option<u64>,
    /// The most that it ever took.
    peak: Option<u64>,
}

impl PeakMemory {
    /// Watches a task from now on.
    pub(crate) fn watch() -> Self {
        let before = memory();
        let mut watched = WATCHED.lock().unwrap_or_else(PoisonError::into_inner);
        let number = watched.next;
        watched.next += 1;
        let is_alone = watched.tasks.is_empty();
        watched.tasks.values_mut().for_each(|other| other.is_alone = false);
        watched.tasks.insert(number, Seen { most: before.now, is_alone });
        Self { number, before }
    }

    /// How much memory the task took.
    pub(crate) fn end(self) -> TaskMemory {
        look();
        let peak = memory().peak;
        let seen = WATCHED.lock().unwrap_or_else(PoisonError::into_inner).tasks.get(&self.number).copied();
        let Some(seen) = seen else { return TaskMemory::default() };
        // Where the process took more than ever before, that was meanwhile.
        let peak = if peak > self.before.peak { peak } else { seen.most };
        let own = peak.zip(self.before.now).map(|(peak, before)| peak.saturating_sub(before));
        TaskMemory { peak, own: own.filter(|_| seen.is_alone) }
    }
}

impl Drop for PeakMemory {
    fn drop(&mut self) {
        WATCHED.lock().unwrap_or_else(PoisonError::into_inner).tasks.remove(&self.number);
    }
}

/// Looks at the memory of this process, for all tasks that are watched.
pub(crate) fn look() {
    let now = memory().now;
    let mut watched = WATCHED.lock().unwrap_or_else(PoisonError::into_inner);
    watched.tasks.values_mut().for_each(|seen| seen.most = seen.most.max(now));
}

/// What Linux says of this process; nothing elsewhere.
fn memory() -> Memory {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    Memory { now: field(&status, "VmRSS:"), peak: field(&status, "VmHWM:") }
}

/// A field of the status of a process, which counts in kibibytes, as bytes.
fn field(status: &str, name: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix(name))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kibibytes * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_status_of_a_process_is_read_in_bytes() {
        let status = "Name:\tx\nVmHWM:\t    2048 kB\nVmRSS:\t    1024 kB\n";
        assert_eq!((field(status, "VmRSS:"), field(status, "VmHWM:")), (Some(1 << 20), Some(2 << 20)));
        assert_eq!(field("VmRSS:\t a lot\n", "VmRSS:"), None);
        assert_eq!(field("", "VmRSS:"), None);
    }

    /// What is allocated and written while a task runs is seen in its peak. Where two tasks run, none of it is said to be of one of them.
    #[cfg(target_os = "linux")]
    #[test]
    fn what_a_task_takes_is_in_its_peak() {
        const BYTES: usize = 64 << 20;
        let before = memory().now.expect("Linux tells");
        let watched = PeakMemory::watch();
        let taken = std::hint::black_box(vec![1_u8; BYTES]);
        look();
        drop(taken);
        let other = PeakMemory::watch();
        assert_eq!(other.end().own, None, "two tasks at a time have no memory of their own");
        let TaskMemory { peak, own } = watched.end();
        let peak = peak.expect("Linux tells");
        // Other tests of this process may give memory back meanwhile, but hardly half as much as is taken here.
        assert!(peak >= before + BYTES as u64 / 2, "{peak} is too little after {before}");
        assert_eq!(own, None, "another task was going on");
    }
}
