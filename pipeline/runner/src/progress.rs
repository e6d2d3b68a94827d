//! What a run says while it runs: bars on a terminal, plain lines otherwise.

use std::collections::BTreeMap;
use std::io::IsTerminal;
use std::sync::{Mutex, PoisonError};

use indicatif::{ProgressBar, ProgressStyle};

use crate::engine::Status;
use crate::tasks::{STAGES, Task};

/// Where a run says what it does.
pub(crate) struct Display {
    bar: ProgressBar,
    quiet: bool,
    fresh: Mutex<BTreeMap<&'static str, usize>>,
}

impl Display {
    /// For `total` tasks. Bars appear on a terminal only.
    pub(crate) fn new(total: usize, quiet: bool) -> Self {
        let bar = if quiet || !std::io::stderr().is_terminal() {
            ProgressBar::hidden()
        } else {
            ProgressBar::new(total as u64)
        };
        let style = ProgressStyle::with_template("{bar:24} {pos}/{len} {elapsed} (about {eta} left)  {msg}");
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        Self { bar, quiet, fresh: Mutex::default() }
    }

    /// A task is `done` of `total` steps far.
    pub(crate) fn step(&self, task: &Task, done: u64, total: u64) {
        self.bar.set_message(format!("{} {} {done}/{total}", task.runnable.stage(), task.label));
        self.bar.tick();
    }

    /// A task has ended.
    pub(crate) fn finished(&self, task: &Task, status: &Status) {
        self.bar.inc(1);
        let stage = task.runnable.stage();
        let line = match status {
            Status::Fresh => {
                *self.fresh.lock().unwrap_or_else(PoisonError::into_inner).entry(stage).or_insert(0) += 1;
                return;
            }
            Status::Ran { why, took } => format!("ran ({:.2} s): {}", took.as_secs_f64(), why.join(", ")),
            Status::WouldRun { why } => format!("would run: {}", why.join(", ")),
            Status::MayRun => "would run, unless its inputs stay as they are".to_owned(),
            Status::Elsewhere => return,
        };
        self.line(&format!("{stage:<10} {:<40} {line}", task.label));
    }

    /// Ends the display with what was fresh.
    pub(crate) fn close(&self) {
        self.bar.finish_and_clear();
        let fresh = self.fresh.lock().unwrap_or_else(PoisonError::into_inner);
        for stage in STAGES {
            if let Some(count) = fresh.get(stage) {
                self.line(&format!("{stage:<10} {count} fresh"));
            }
        }
    }

    fn line(&self, text: &str) {
        if !self.quiet {
            self.bar.suspend(|| crate::output::error_line(text));
        }
    }
}
