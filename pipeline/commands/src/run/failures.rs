//! What failed in runs that kept going.

use veilgraph_runner::config::Config;
use veilgraph_runner::task::{Done, Status, Task};

/// What failed in the experiments of a run, and how much did not run because of it.
#[derive(Default)]
pub(super) struct Failures {
    /// A line for each task that failed.
    failed: Vec<String>,
    skipped: usize,
    total: usize,
}

impl Failures {
    /// Takes up how the tasks of an experiment ended; whether none of them failed.
    pub(super) fn add(&mut self, config: &Config, tasks: &[Task], done: &[Done]) -> bool {
        let before = self.failed.len();
        self.total += tasks.len();
        for (task, done) in tasks.iter().zip(done) {
            match &done.status {
                Status::Failed { error } => {
                    self.failed.push(format!("  {}: {}: {error}", config.name, task.called()));
                }
                Status::Skipped => self.skipped += 1,
                _ => {}
            }
        }
        self.failed.len() == before
    }

    /// An error with every task that failed, and what to do.
    pub(super) fn ensure_none(&self) -> anyhow::Result<()> {
        let Self { failed, skipped, total } = self;
        anyhow::ensure!(
            failed.is_empty(),
            "{} of {total} stage runs failed, and {skipped} that read from them did not run; everything else ended and is \
             kept:\n{}\nCorrect what these errors name, then run again: only what failed, and what reads from it or from what \
             you changed, is left. `veilgraph table --partial` and `report --partial` show what there is",
            failed.len(),
            failed.join("\n")
        );
        Ok(())
    }
}
