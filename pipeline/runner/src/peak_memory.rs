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

/// A task whose memory is watched until this value is dropped.
pub(crate) struct PeakMemory {
    number: u64,
    /// The peak of the process before the task began.
    before: Option<u64>,
}

/// The tasks that are watched.
struct Watched {
    next: u64,
    /// The most bytes that were seen so far, by the number of the task.
    seen: BTreeMap<u64, Option<u64>>,
}

static WATCHED: Mutex<Watched> = Mutex::new(Watched { next: 0, seen: BTreeMap::new() });

/// What the operating system says of this process, in bytes.
struct Memory {
    /// What it takes now.
    now: Option<u64>,
    /// The most that it ever took.
    peak: Option<u64>,
}

impl PeakMemory {
    /// Watches a task from now on.
    pub(crate) fn watch() -> Self {
        let memory = memory();
        let mut watched = WATCHED.lock().unwrap_or_else(PoisonError::into_inner);
        let number = watched.next;
        watched.next += 1;
        watched.seen.insert(number, memory.now);
        Self { number, before: memory.peak }
    }

    /// The most bytes that the process was seen to take since; none where the operating system does not tell.
    pub(crate) fn end(self) -> Option<u64> {
        look();
        let peak = memory().peak;
        let seen = WATCHED.lock().unwrap_or_else(PoisonError::into_inner).seen.get(&self.number).copied().flatten();
        // Where the process took more than ever before, that was meanwhile.
        if peak > self.before { peak } else { seen }
    }
}

impl Drop for PeakMemory {
    fn drop(&mut self) {
        WATCHED.lock().unwrap_or_else(PoisonError::into_inner).seen.remove(&self.number);
    }
}

/// Looks at the memory of this process, for all tasks that are watched.
pub(crate) fn look() {
    let now = memory().now;
    let mut watched = WATCHED.lock().unwrap_or_else(PoisonError::into_inner);
    watched.seen.values_mut().for_each(|seen| *seen = (*seen).max(now));
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

    /// What is allocated and written while a task runs is seen in its peak.
    #[cfg(target_os = "linux")]
    #[test]
    fn what_a_task_takes_is_in_its_peak() {
        const BYTES: usize = 64 << 20;
        let before = memory().now.expect("Linux tells");
        let watched = PeakMemory::watch();
        let taken = std::hint::black_box(vec![1_u8; BYTES]);
        look();
        drop(taken);
        let peak = watched.end().expect("Linux tells");
        // Other tests of this process may give memory back meanwhile, but hardly half as much as is taken here.
        assert!(peak >= before + BYTES as u64 / 2, "{peak} is too little after {before}");
    }
}
