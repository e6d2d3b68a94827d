//! Work that other threads do before its result is needed.
//!
//! The promised work must not itself wait for work of the pool, and a thread of the pool must not wait while it holds a lock: the
//! work that it takes up meanwhile could need that lock.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::mpsc::{Receiver, TryRecvError, sync_channel};

use rayon::Yield;

/// The result of work that was given to the thread pool.
pub(super) struct Promised<T>(Receiver<Result<T, Box<dyn Any + Send>>>);

/// Returns what the thread pool is to run, and the promise of its result.
pub(super) fn promise<T>(work: impl FnOnce() -> T) -> (impl FnOnce(), Promised<T>) {
    let (sender, receiver) = sync_channel(1);
    // Sending fails only where the promise was dropped, and then nobody needs the result.
    let run = move || _ = sender.send(catch_unwind(AssertUnwindSafe(work)));
    (run, Promised(receiver))
}

impl<T> Promised<T> {
    /// Waits for the result. Where a thread of the pool waits, it does other work of the pool meanwhile. In a pool of one thread
    /// nobody else could do the promised work.
    ///
    /// # Panics
    /// Where the work has panicked.
    pub(super) fn wait(self) -> T {
        let result = loop {
            match self.0.try_recv() {
                Ok(result) => break result,
                Err(TryRecvError::Empty) if rayon::yield_now() == Some(Yield::Executed) => {}
                // The pool has nothing left to take up, so another thread is at the promised work.
                Err(_) => break self.0.recv().unwrap_or_else(|_| unreachable!("the pool runs what it was given")),
            }
        };
        result.unwrap_or_else(|panic| resume_unwind(panic))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pool(threads: usize) -> rayon::ThreadPool {
        rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads")
    }

    /// Also the only thread of a pool gets what it waits for, and so does a thread outside of the pool.
    #[test]
    fn results_come_to_whoever_waits() {
        let squares = || -> Vec<u64> {
            let spawned = (0..9_u64).map(|number| {
                let (run, promised) = promise(move || number * number);
                rayon::spawn(run);
                promised
            });
            let spawned: Vec<Promised<u64>> = spawned.collect();
            spawned.into_iter().map(Promised::wait).collect()
        };
        let expected: Vec<u64> = (0..9).map(|number| number * number).collect();
        assert_eq!(squares(), expected);
        for threads in [1, 3] {
            assert_eq!(pool(threads).install(squares), expected);
        }
    }

    /// A panic is that of whoever waits, and no panic of the pool, which would end the process.
    #[test]
    fn a_panic_reaches_whoever_waits() {
        let (run, promised) = promise(|| -> u8 { panic!("while it works") });
        pool(1).spawn(run);
        let panic = catch_unwind(AssertUnwindSafe(|| promised.wait())).expect_err("it has panicked");
        assert_eq!(panic.downcast_ref::<&str>(), Some(&"while it works"));
    }

    #[test]
    fn a_promise_may_be_dropped() {
        let (run, promised) = promise(|| 5);
        drop(promised);
        run();
    }
}
