//! Runs what is not fresh, several tasks at a time, and says why.

mod budget;
mod elsewhere;
mod end;
mod going;
mod look_ahead;
mod recipe;
mod release;
mod remote;
mod schedule;
mod side;

use std::collections::BTreeMap;
use std::sync::{Arc, Condvar, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use anyhow::Context;
use veilgraph_contract::StageRng;
use veilgraph_store::{Entry, Found, KeyLock, MemoryLimit, Recipe, ReleaseRecord, Store};

use crate::config::Config;
use crate::executor::OtherMachines;
use crate::host::host;
use crate::ledger::{Allowance, Charge, Ledger, Program, mark_drawn, unmark_drawn};
use crate::order::may_leave;
use crate::peak_memory::PeakMemory;
use crate::perform::Performance;
use crate::progress::Display;
use crate::registry;
use crate::runs::RunRecord;
use crate::task::{Done, Handle, STAGES_THAT_TRAIN, Status, Task};
use crate::why;
pub(crate) use budget::outstanding_releases;
use end::is_cut_off;
use going::{Brought, Going, Shared, watch_memory};
use recipe::handles;
pub use recipe::recipe_of_release;
use release::release_record;
use schedule::Schedule;
pub use side::SideChoice;

/// What running needs to know.
pub struct Engine<'a> {
    /// The experiment.
    pub config: &'a Config,
    /// Where its entries lie.
    pub store: &'a Store,
    /// Everything that the plan holds, each task after those that it reads from.
    pub tasks: &'a [Task],
    /// Keys of the entries of the last run.
    pub record: &'a RunRecord,
    /// Read once for all releases of this run.
    pub ledger: &'a Ledger,
    /// Which part of the pipeline runs.
    pub side: SideChoice,
    /// Whether the server's side may take releases whose noise whoever knows the seed can remove.
    pub is_simulation: bool,
    /// How much memory an artifact may take.
    pub memory: MemoryLimit,
    /// At most so many tasks run at a time.
    pub jobs: usize,
    /// So many of them may train networks ([`n_that_train_side_by_side`]); these share the memory.
    pub training_jobs: usize,
    /// How much computing a kill may cost.
    pub checkpoint_interval: Duration,
    /// How much may be spent.
    pub allowance: Allowance,
    /// Only say what would run.
    pub is_plan: bool,
    /// Whether a task that fails stops only those that read from it.
    pub keeps_going: bool,
    /// What there is beside this machine.
    pub others: &'a OtherMachines,
    /// Where progress is shown.
    pub display: &'a Display,
}

/// The ends of tasks, by task; a task that has not ended has none.
type Ends = [OnceLock<Done>];

impl Engine<'_> {
    /// Brings every task to its end.
    ///
    /// # Errors
    /// When a task fails, a refused charge included, and the run does not keep going.
    pub fn run(&self) -> anyhow::Result<Vec<Done>> {
        let releases_wait = self.config.is_deployment() && self.side == SideChoice::All;
        // One that keeps going is told by the charge, which stops no other experiment.
        if releases_wait && !self.is_plan && !self.keeps_going {
            self.check_budgets()?;
        }
        let schedule = Schedule::of(self.tasks, releases_wait);
        let shared = Mutex::new(Shared { schedule, sent: BTreeMap::new(), failed: None });
        let ends: Vec<OnceLock<Done>> = self.tasks.iter().map(|_| OnceLock::new()).collect();
        let going = Going { shared: &shared, changed: &Condvar::new(), ends: &ends };
        std::thread::scope(|scope| {
            for _ in 0..self.jobs.max(1) {
                scope.spawn(|| self.work(&going));
                // Results are checked as they come, several at a time.
                scope.spawn(|| self.listen(&going));
            }
            if !self.is_plan {
                scope.spawn(|| watch_memory(&going));
            }
        });
        let shared = shared.into_inner().unwrap_or_else(PoisonError::into_inner);
        match shared.failed {
            Some(error) => Err(error),
            None => ends
                .into_iter()
                .map(OnceLock::into_inner)
                .collect::<Option<_>>()
                .context("a worker thread died; please report this"),
        }
    }

    /// Takes the first task in the order of the plan whose inputs are there, until none is left. A slow task keeps
    /// nobody from those that do not read from it.
    fn work(&self, going: &Going) {
        let mut state = going.lock();
        loop {
            if state.is_over() {
                return;
            }
            let Some(index) = state.schedule.take() else {
                state = going.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            drop(state);
            let task = &self.tasks[index];
            let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| self.bring(task, going.ends)));
            // A task that dies must not leave the others waiting for it.
            let result = result.unwrap_or_else(|_| Err(anyhow::anyhow!("it panicked; please report this")));
            match result {
                Ok(Brought::Done(done)) => self.end(index, Ok(done), going),
                Ok(Brought::ToBeSent { key, why }) => self.send(index, &key, &why, going),
                Err(error) => self.end(index, Err(error), going),
            }
            state = going.lock();
        }
    }

    /// Brings one task to its end, or to where another machine goes on.
    fn bring(&self, task: &Task, ends: &Ends) -> anyhow::Result<Brought> {
        let is_elsewhere = match self.side {
            SideChoice::All => false,
            SideChoice::Server => task.side != "server",
            SideChoice::Auditor => task.side == "server" || !task.releases.is_empty(),
        };
        if is_elsewhere {
            return self.recorded(task).map(Brought::Done);
        }
        let Some(slots) = handles(task, |source| ends[source].get()?.entry.clone()) else {
            let status = if is_cut_off(task, ends) { Status::Skipped } else { Status::MayRun };
            return Ok(Done { status, entry: None }.into());
        };
        if self.is_deployed(task) {
            return self.bring_release(task, &slots, ends).map(Brought::Done);
        }
        let recipe = self.recipe(task, &slots)?;
        let found = self.store.sound(task.stage, &recipe.key())?;
        if let Found::Whole(entry) = found {
            if may_leave(task) && !self.is_plan {
                self.others.share(&entry)?;
            }
            return Ok(Done { status: Status::Fresh, entry: Some(Arc::from(entry)) }.into());
        }
        let key_before = self.record.key(task, task.label());
        let before = key_before.and_then(|key| self.store.find(task.stage, key).ok().flatten());
        let why = match found {
            Found::Damaged(damage) => vec![format!("its entry was damaged ({damage})")],
            _ if key_before.is_some() && before.is_none() => vec!["the entry of its last run is gone".to_owned()],
            _ => why::reasons(before.as_ref().map(|entry| &entry.manifest.recipe), &recipe),
        };
        if self.is_plan {
            return Ok(Done { status: Status::WouldRun { why }, entry: None }.into());
        }
        if may_leave(task) {
            if let Some(entry) = self.fetch(task, &recipe.key())? {
                return Ok(Done { status: Status::Fetched, entry: Some(entry) }.into());
            }
            if self.others.executor.is_some() {
                self.order(task, &recipe, &slots)?;
                return Ok(Brought::ToBeSent { key: recipe.key(), why });
            }
        }
        let lock = self.store.lock(&recipe, || self.tell_of_waiting(task))?;
        // Another process may have made it while we waited.
        if let Found::Whole(entry) = self.store.sound(task.stage, &recipe.key())? {
            return Ok(Done { status: Status::Fresh, entry: Some(Arc::from(entry)) }.into());
        }
        let (start, memory) = (Instant::now(), PeakMemory::watch());
        self.charge(task, &recipe, &slots, ends)?;
        let rng = StageRng::new(self.config.seed, task.stage, task.drawn_trial().unwrap_or(0));
        let release = release_record(task, 1, &recipe.key());
        let entry = self.make(task, recipe, &slots, &rng, release, lock)?;
        if may_leave(task) {
            self.others.share(&entry)?;
        }
        let (took, memory) = (start.elapsed(), memory.end());
        let status = Status::Ran { why, took, host: host().to_owned(), memory };
        Ok(Done { status, entry: Some(Arc::new(entry)) }.into())
    }

    /// Runs the function of a task and publishes its entry.
    fn make(
        &self,
        task: &Task,
        recipe: Recipe,
        slots: &[Vec<Handle>],
        rng: &StageRng,
        release: Option<ReleaseRecord>,
        lock: KeyLock,
    ) -> anyhow::Result<Entry> {
        let (key, stage, inputs) = (recipe.key(), recipe.stage.clone(), recipe.inputs.clone());
        let performance = Performance {
            store: self.store,
            recipe,
            label: task.label(),
            params: &task.params,
            slots,
            rng,
            release,
            memory: self.memory,
            tasks_at_a_time: self.training_jobs,
            checkpoint_interval: self.checkpoint_interval,
            show: &|done, total| self.display.step(task, done, total),
        };
        performance.run(lock, |draft| {
            self.refuse_changed_files(slots, &inputs)?;
            // From its publication on somebody may see the release.
            let mark = || mark_drawn(self.store, &key, &Program::of(task.stage, task.function)?);
            let marked = if self.is_deployed(task) { mark() } else { Ok(()) };
            let published = marked.and_then(|()| Ok(draft.publish()?));
            // Publishing may also fail after the entry is in its place.
            let is_absent = || matches!(self.store.find(&stage, &key), Ok(None));
            published.inspect_err(|_| {
                if is_absent() {
                    unmark_drawn(self.store, &key);
                }
            })
        })
    }

    /// Two runs at once do the work once; the second one says why nothing seems to happen.
    fn tell_of_waiting(&self, task: &Task) {
        self.display.say_of(task, "waiting for another run, which makes it");
    }

    /// Whether a task draws noise that nobody can draw again.
    fn is_deployed(&self, task: &Task) -> bool {
        self.config.is_deployment() && !task.releases.is_empty()
    }

    /// Writes a task's simulated releases into the ledger, before any noise is drawn.
    fn charge(&self, task: &Task, recipe: &Recipe, slots: &[Vec<Handle>], ends: &Ends) -> anyhow::Result<()> {
        // A seeded entry that is made again has the same bytes: it is the release that was charged.
        if task.releases.is_empty() || self.ledger.has(&recipe.key(), task.releases.len()) {
            return Ok(());
        }
        registry::find(task.stage, task.function)?.check(&task.params, slots, self.memory)?;
        // Each release is about the private data that its subject names, whatever else the task reads.
        let releases = task.releases.iter().map(|release| {
            let digest = release.subject.artifacts().iter().find_map(|name| recipe.inputs.get(*name)?.first());
            (release.clone(), digest.cloned().unwrap_or_default())
        });
        let charge = Charge {
            experiment: &self.config.name,
            population: &task.population,
            trial: task.trial.unwrap_or(0),
            entry: &recipe.key(),
            function: task.function,
            question: "",
            number: 1,
            randomness: self.config.privacy.randomness,
            deployment: None,
            releases: releases.collect(),
        };
        // A part of a plan must not be spent when the whole of it cannot be.
        let judged = self.check_whole_plan(&charge, ends)?;
        self.ledger.charge(&charge, |spent| self.check_charge(&charge, spent, judged))
    }
}

/// Returns how many of these tasks may train networks at the same time, where `jobs` tasks run at a time. Those that are fresh count
/// too.
#[must_use]
pub fn n_that_train_side_by_side(tasks: &[Task], jobs: usize) -> usize {
    tasks.iter().filter(|task| STAGES_THAT_TRAIN.contains(&task.stage)).take(jobs).count()
}
