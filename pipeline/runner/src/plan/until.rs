//! The tasks that `--until` leaves.

use crate::task::{Task, Wire, position};

/// The tasks of the stages up to `until`, and whatever these read from: the server's part between two rounds of reports
/// belongs to a later stage than the reports.
pub(super) fn up_to(tasks: Vec<Task>, until: &str) -> Vec<Task> {
    let mut is_kept = vec![false; tasks.len()];
    for (index, task) in tasks.iter().enumerate().rev() {
        is_kept[index] |= position(task.stage) <= position(until);
        if is_kept[index] {
            task.sources().for_each(|source| is_kept[source] = true);
        }
    }
    let mut places = vec![0; tasks.len()];
    let mut kept: Vec<Task> = Vec::new();
    for (index, mut task) in tasks.into_iter().enumerate().filter(|(index, _)| is_kept[*index]) {
        places[index] = kept.len();
        for wire in task.slots.iter_mut().flat_map(|slot| &mut slot.wires) {
            if let Wire::Output { task, .. } = wire {
                *task = places[*task];
            }
        }
        kept.push(task);
    }
    kept
}
