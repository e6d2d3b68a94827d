//! What a run says while it runs: bars on a terminal, plain lines otherwise.

use std::collections::{BTreeMap, BTreeSet};
use std::io::IsTerminal;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use indicatif::{HumanDuration, ProgressBar, ProgressStyle};

use veilgraph_store::Store;

use crate::host::host;
use crate::live::{LiveFile, LiveState};
use crate::measured::Measurements;
use crate::remaining::{Remaining, TimeLeft};
use crate::task::{STAGES, Status, Task};

/// Where a run says what it does.
pub struct Display {
    bar: ProgressBar,
    quiet: bool,
    /// Whether what would run is the result that was asked for, and no news about a run.
    is_plan: bool,
    /// How many tasks have no line of their own, by how they ended and by stage.
    counts: Mutex<BTreeMap<(Counted, &'static str), usize>>,
    remaining: Mutex<Remaining>,
    total: usize,
    start: Instant,
    /// When the time that is left was last said.
    said: Mutex<Instant>,
    /// Where other terminals can see how far the run is.
    live: Mutex<Option<LiveFile>>,
    experiments: Vec<String>,
    /// Stages and labels that tasks of several functions have: these are told with their function.
    alike: BTreeSet<(&'static str, String)>,
    /// When it was last reckoned, which takes a look at every kind of task.
    reckoned: Mutex<Option<Instant>>,
}

/// Ends of tasks that are counted in place of one line each, in the order in which they are said.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Counted {
    Perhaps,
    Skipped,
    Fetched,
    Fresh,
}

impl Counted {
    fn in_words(self) -> &'static str {
        match self {
            Self::Perhaps => "after these, unless their inputs stay as they are",
            Self::Skipped => "not run, because what they read from failed",
            Self::Fetched => "taken from the cache",
            Self::Fresh => "fresh",
        }
    }
}

/// How often a run without bars says how long it takes.
const SAY_EVERY: Duration = Duration::from_mins(1);

/// How often the time that is left is reckoned.
const RECKON_EVERY: Duration = Duration::from_millis(100);

impl Display {
    /// For these tasks, `jobs` at a time. Bars appear on a terminal only.
    pub fn new<'a>(tasks: impl IntoIterator<Item = &'a Task>, jobs: usize, quiet: bool) -> Self {
        let tasks: Vec<&Task> = tasks.into_iter().collect();
        let alike = of_several_functions(&tasks);
        let remaining = Remaining::of(tasks, jobs);
        let total = remaining.left();
        let bar = if quiet || !std::io::stderr().is_terminal() {
            ProgressBar::hidden()
        } else {
            ProgressBar::new(total as u64)
        };
        let style = ProgressStyle::with_template("{bar:24} {pos}/{len} {elapsed} {prefix} {msg}");
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        let start = Instant::now();
        Self {
            bar,
            quiet,
            is_plan: false,
            counts: Mutex::default(),
            remaining: Mutex::new(remaining),
            total,
            start,
            said: Mutex::new(start),
            live: Mutex::default(),
            experiments: Vec::new(),
            alike,
            reckoned: Mutex::default(),
        }
    }

    /// The same, seen from other terminals as well, with what earlier runs of the store tell of the time.
    #[must_use]
    pub fn watched(mut self, store: &Store, experiments: Vec<String>) -> Self {
        (self.live, self.experiments) = (Mutex::new(LiveFile::begin(store)), experiments);
        self.remaining.get_mut().unwrap_or_else(PoisonError::into_inner).learn(&Measurements::of(store));
        self
    }

    /// Tells other terminals how far the run is.
    fn tell(&self, current: impl FnOnce() -> String) {
        let mut live = self.live.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(live) = live.as_mut() else { return };
        live.write(|| {
            let remaining = self.remaining.lock().unwrap_or_else(PoisonError::into_inner);
            let left = remaining.time();
            LiveState {
                experiments: self.experiments.clone(),
                done: self.total - remaining.left(),
                total: self.total,
                current: current(),
                seconds: self.start.elapsed().as_secs(),
                seconds_left: left.map(|left| left.time.as_secs()).filter(|seconds| *seconds > 0),
                without_estimate: left.map_or_else(|| remaining.left(), |left| left.unknown),
            }
        });
    }

    /// The same for several experiments, in each of which tasks are told apart by themselves.
    #[must_use]
    pub fn of_experiments<'a>(mut self, experiments: impl IntoIterator<Item = &'a [Task]>) -> Self {
        let each = experiments.into_iter().map(|tasks| of_several_functions(&tasks.iter().collect::<Vec<_>>()));
        self.alike = each.flatten().collect();
        self
    }

    /// For a plan, which is a result.
    pub fn of_plan<'a>(tasks: impl IntoIterator<Item = &'a Task>, quiet: bool) -> Self {
        let mut display = Self::new(tasks, 1, quiet);
        (display.is_plan, display.bar) = (true, ProgressBar::hidden());
        display
    }

    /// A task is `done` of `total` steps far.
    pub(crate) fn step(&self, task: &Task, done: u64, total: u64) {
        self.bar.set_message(format!("{} {} {done}/{total}", task.stage, self.name_of(task)));
        self.bar.tick();
        self.tell(|| format!("{} {} {done}/{total}", task.stage, self.name_of(task)));
    }

    /// A task has ended.
    pub(crate) fn finished(&self, task: &Task, status: &Status) {
        self.bar.inc(1);
        self.say_what_is_left(task, status);
        self.tell(|| format!("{} {}", task.stage, self.name_of(task)));
        let line = match status {
            Status::Fresh => return self.count(task, Counted::Fresh),
            Status::Fetched => return self.count(task, Counted::Fetched),
            Status::MayRun => return self.count(task, Counted::Perhaps),
            Status::Skipped => return self.count(task, Counted::Skipped),
            Status::Elsewhere => return,
            Status::Ran { why, took, host: machine, .. } => {
                let place = if machine == host() { String::new() } else { format!(" on {machine}") };
                format!("ran ({:.2} s{place}): {}", took.as_secs_f64(), why.join(", "))
            }
            Status::Queued { why } => format!("waits for Slurm: {}", why.join(", ")),
            Status::WouldRun { why } => format!("would run: {}", why.join(", ")),
            Status::Failed { error } => format!("FAILED: {error}"),
        };
        self.say_of(task, &line);
    }

    fn count(&self, task: &Task, end: Counted) {
        let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        *counts.entry((end, task.stage)).or_default() += 1;
    }

    /// Says what was fresh in an experiment, and what would follow what runs.
    pub fn close(&self) {
        let counts = std::mem::take(&mut *self.counts.lock().unwrap_or_else(PoisonError::into_inner));
        for end in [Counted::Perhaps, Counted::Skipped, Counted::Fetched, Counted::Fresh] {
            for stage in STAGES {
                if let Some(count) = counts.get(&(end, stage)) {
                    self.line(&format!("{stage:<10} {count} {}", end.in_words()));
                }
            }
        }
    }

    fn say_what_is_left(&self, task: &Task, status: &Status) {
        let mut remaining = self.remaining.lock().unwrap_or_else(PoisonError::into_inner);
        remaining.finished(task, status);
        let mut reckoned = self.reckoned.lock().unwrap_or_else(PoisonError::into_inner);
        if reckoned.is_some_and(|last| last.elapsed() < RECKON_EVERY) {
            return;
        }
        *reckoned = Some(Instant::now());
        let Some(time) = remaining.time() else { return };
        let left = format!("({})", in_words(time));
        let mut said = self.said.lock().unwrap_or_else(PoisonError::into_inner);
        if self.bar.is_hidden() && said.elapsed() >= SAY_EVERY && remaining.left() > 0 {
            *said = Instant::now();
            let (done, elapsed) = (self.total - remaining.left(), HumanDuration(self.start.elapsed()));
            self.line(&format!("{done} of {} stage runs after {elapsed} {left}", self.total));
        }
        self.bar.set_prefix(left);
    }

    /// Says something that whoever runs this must know before it goes on.
    pub(crate) fn say(&self, text: &str) {
        self.line(text);
    }

    /// Says something about a task.
    pub(crate) fn say_of(&self, task: &Task, text: &str) {
        self.line(&format!("{:<10} {:<40} {text}", task.stage, self.name_of(task)));
    }

    /// The label of a task, with its function where that alone tells it from another one.
    fn name_of(&self, task: &Task) -> String {
        let label = task.label().to_owned();
        if self.alike.contains(&(task.stage, label.clone())) { format!("{}/{label}", task.function) } else { label }
    }

    fn line(&self, text: &str) {
        match (self.quiet, self.is_plan) {
            (true, _) => {}
            (false, true) => crate::output::line(text),
            (false, false) => self.bar.suspend(|| crate::output::error_line(text)),
        }
    }
}

fn of_several_functions(tasks: &[&Task]) -> BTreeSet<(&'static str, String)> {
    let mut functions: BTreeMap<(&str, &str), &str> = BTreeMap::new();
    let mut alike = BTreeSet::new();
    for task in tasks {
        if *functions.entry((task.stage, task.label())).or_insert(task.function) != task.function {
            alike.insert((task.stage, task.label().to_owned()));
        }
    }
    alike
}

/// How much time is left, and of how many tasks that is not known.
fn in_words(left: TimeLeft) -> String {
    let time = HumanDuration(left.time);
    match left.unknown {
        0 => format!("about {time} left"),
        unknown => format!("about {time} left without {unknown} runs of which none like them has run yet"),
    }
}

impl Drop for Display {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
