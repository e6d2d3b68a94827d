//! Which grids train on a GPU at the same time.
//!
//! A small grid leaves a GPU idle while the host prepares the next kernels, so that other grids may use it meanwhile, as long as
//! all of them fit into its memory together.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use cubecl::stream_id::StreamId;

/// The most grids that train at the same time.
const MOST_GRIDS: usize = 4;

/// Room on a GPU for grids.
#[derive(Debug)]
pub(crate) struct Room {
    taken: Mutex<[Option<u64>; MOST_GRIDS]>,
    freed: Condvar,
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
        Self { taken: Mutex::new([None; MOST_GRIDS]), freed: Condvar::new() }
    }

    /// Waits until there is a place for so many bytes beside those of the other grids. A grid that needs more than all of `memory`
    /// waits until it is alone.
    pub(crate) fn take(&self, bytes: u64, memory: u64) -> Place<'_> {
        let mut taken = self.lock();
        loop {
            let others: u64 = taken.iter().flatten().sum();
            let fits = others == 0 || others.saturating_add(bytes) <= memory;
            if let Some(number) = taken.iter().position(Option::is_none).filter(|_| fits) {
                // A place that takes nothing is taken nevertheless.
                taken[number] = Some(bytes.max(1));
                return Place { room: self, number };
            }
            taken = self.freed.wait(taken).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn lock(&self) -> MutexGuard<'_, [Option<u64>; MOST_GRIDS]> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Place<'_> {
    /// Runs what this grid has to do on the GPU. Work at different places waits for nothing there, and memory that one grid has left is
    /// used again by the next grid at its place.
    pub(crate) fn run<T>(&self, work: impl FnOnce() -> T) -> T {
        StreamId { value: self.number as u64 }.executes(work)
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        self.room.lock()[self.number] = None;
        self.room.freed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering};

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
}
