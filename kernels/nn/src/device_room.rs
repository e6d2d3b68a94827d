//! Which grids train on a GPU at the same time.
//!
//! A small grid leaves a GPU idle while the host prepares the next kernels, so that other grids may use it meanwhile, as long as
//! all of them fit into its memory together.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use cubecl::stream_id::StreamId;

/// The most grids that train at the same time.
const MOST_GRIDS: usize = 4;

/// Room on a GPU for grids.
#[derive(Debug)]
pub(crate) struct Room {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug)]
struct State {
    /// Bytes that the grid at each place takes.
    taken: [Option<u64>; MOST_GRIDS],
    /// Numbers of the grids that wait, the first one first.
    waiting: VecDeque<u64>,
    /// How many grids have come.
    n_came: u64,
}

/// A grid's place on a GPU, which is free again when this value is dropped.
#[derive(Debug)]
pub(crate) struct Place<'a> {
    room: &'a Room,
    number: usize,
}

impl Room {
    /// Room that nobody has taken.
    pub(crate) const fn new() -> Self {
        let state = State { taken: [None; MOST_GRIDS], waiting: VecDeque::new(), n_came: 0 };
        Self { state: Mutex::new(state), changed: Condvar::new() }
    }

    /// Waits until there is a place for so many bytes beside those of the other grids, and no grid that came before waits. A grid
    /// that needs more than all of `memory` waits until it is alone.
    pub(crate) fn take(&self, bytes: u64, memory: u64) -> Place<'_> {
        let mut state = self.lock();
        let own = state.n_came;
        state.n_came += 1;
        state.waiting.push_back(own);
        loop {
            let others: u64 = state.taken.iter().flatten().fold(0, |sum, &bytes| sum.saturating_add(bytes));
            let fits = others == 0 || others.saturating_add(bytes) <= memory;
            let place = state.taken.iter().position(Option::is_none).filter(|_| fits);
            if let Some(number) = place.filter(|_| state.waiting.front() == Some(&own)) {
                state.waiting.pop_front();
                // A place that takes nothing is taken nevertheless.
                state.taken[number] = Some(bytes.max(1));
                // There may be room for the next one too.
                self.changed.notify_all();
                return Place { room: self, number };
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Place<'_> {
    /// Runs what this grid has to do on the GPU. There, work at different places does not wait for each other.
    pub(crate) fn run<T>(&self, work: impl FnOnce() -> T) -> T {
        StreamId { value: self.number as u64 }.executes(work)
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        self.room.lock().taken[self.number] = None;
        self.room.changed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

    use super::*;

    #[test]
    fn grids_share_the_room_that_they_fit_into() {
        let room = Room::new();
        let (now, most) = (AtomicU64::new(0), AtomicU64::new(0));
        std::thread::scope(|scope| {
            for bytes in [3, 4, 5, 2, 6, 1, 0, 10, 30] {
                let (room, now, most) = (&room, &now, &most);
                scope.spawn(move || {
                    let place = room.take(bytes, 10);
                    let beside = now.fetch_add(bytes, Ordering::SeqCst);
                    assert!(beside == 0 || beside + bytes <= 10, "{bytes} beside {beside}");
                    most.fetch_max(beside + bytes, Ordering::SeqCst);
                    std::thread::sleep(std::time::Duration::from_millis(5));
                    now.fetch_sub(bytes, Ordering::SeqCst);
                    drop(place);
                });
            }
        });
        assert_eq!(most.load(Ordering::SeqCst), 30, "what is too large for the room gets it alone");
        let together: Vec<Place<'_>> = (0..MOST_GRIDS).map(|_| room.take(1, 10)).collect();
        let numbers: Vec<usize> = together.iter().map(|place| place.number).collect();
        assert_eq!(numbers, (0..MOST_GRIDS).collect::<Vec<_>>());
    }

    #[test]
    fn a_small_grid_does_not_overtake_a_large_one() {
        let room = Room::new();
        let is_large_done = AtomicBool::new(false);
        let wait_for = |n_waiting: usize| {
            while room.lock().waiting.len() < n_waiting {
                std::thread::yield_now();
            }
        };
        let first = room.take(6, 10);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let _alone = room.take(u64::MAX, 10);
                is_large_done.store(true, Ordering::SeqCst);
            });
            wait_for(1);
            scope.spawn(|| {
                let _small = room.take(1, 10);
                assert!(is_large_done.load(Ordering::SeqCst));
            });
            wait_for(2);
            drop(first);
        });
    }
}
