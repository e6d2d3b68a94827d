//! Runs what is not fresh, several tasks at a time, and says why.

use std::collections::BTreeMap;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use anyhow::Context;
use veilgraph_contract::{Progress, StageRng};
use veilgraph_store::{Entry, Found, LAYOUT_VERSION, MemoryLimit, Recipe, Store, StoreSaver};

use crate::code;
use crate::config::Config;
use crate::ledger::{Allowance, Charge, Ledger};
use crate::progress::Display;
use crate::runnable::Handle;
use crate::runs::RunRecord;
use crate::tasks::{Task, Wire};
use crate::watcher::TaskWatcher;
use crate::why;

/// How a task ended.
#[derive(Clone, Debug)]
pub(crate) enum Status {
    /// Its entry was there.
    Fresh,
    /// It ran.
    Ran { why: Vec<String>, took: Duration },
    /// It would run (a plan).
    WouldRun { why: Vec<String> },
    /// It would run unless what runs before it writes the same bytes again (a plan).
    MayRun,
    /// It belongs to another side.
    Elsewhere,
}

/// A task's end and its entry, if it has one.
#[derive(Clone)]
pub(crate) struct Done {
    pub status: Status,
    pub entry: Option<Arc<Entry>>,
}

/// Which part of the pipeline this machine runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum SideChoice {
    /// Everything.
    #[default]
    All,
    /// The untrusted server alone: owner data are absent, and their entries are taken as the last run left them.
    Server,
}

/// What running needs to know.
pub(crate) struct Engine<'a> {
    pub config: &'a Config,
    pub store: &'a Store,
    pub tasks: &'a [Task],
    pub record: &'a RunRecord,
    pub side: SideChoice,
    /// How much memory an artifact may take.
    pub memory: MemoryLimit,
    /// How much computing a kill may cost.
    pub checkpoint_interval: Duration,
    /// How much may be spent.
    pub allowance: Allowance,
    /// Only say what would run.
    pub is_plan: bool,
    pub display: &'a Display,
}

/// Stands for the digests of code in recipes of deployed releases.
pub(crate) const DEPLOYED: &str = "deployed";

/// What the workers share.
struct Shared {
    done: Vec<Option<Done>>,
    next: usize,
    failed: Option<anyhow::Error>,
}

impl Engine<'_> {
    /// Brings every task to its end, at most `jobs` at a time.
    pub(crate) fn run(&self, jobs: usize) -> anyhow::Result<Vec<Done>> {
        let shared = Mutex::new(Shared { done: vec![None; self.tasks.len()], next: 0, failed: None });
        let changed = Condvar::new();
        std::thread::scope(|scope| {
            for _ in 0..jobs.max(1) {
                scope.spawn(|| self.work(&shared, &changed));
            }
        });
        let shared = shared.into_inner().unwrap_or_else(PoisonError::into_inner);
        match shared.failed {
            Some(error) => Err(error),
            None => shared.done.into_iter().collect::<Option<_>>().context("a worker thread died; please report this"),
        }
    }

    /// Takes tasks in order; each waits for what it reads from. Earlier tasks never wait for later
    /// ones, so somebody can always go on.
    fn work(&self, shared: &Mutex<Shared>, changed: &Condvar) {
        let lock = || -> MutexGuard<Shared> { shared.lock().unwrap_or_else(PoisonError::into_inner) };
        loop {
            let mut state = lock();
            let index = state.next;
            if state.failed.is_some() || index == self.tasks.len() {
                return;
            }
            state.next += 1;
            let task = &self.tasks[index];
            let before: Vec<usize> = sources(task);
            while state.failed.is_none() && before.iter().any(|&source| state.done[source].is_none()) {
                state = changed.wait(state).unwrap_or_else(PoisonError::into_inner);
            }
            if state.failed.is_some() {
                return;
            }
            let inputs: BTreeMap<usize, Done> =
                before.into_iter().filter_map(|source| Some((source, state.done[source].clone()?))).collect();
            drop(state);
            let result =
                self.bring(task, &inputs).with_context(|| format!("stage {} ({})", task.runnable.stage(), task.label));
            let mut state = lock();
            match result {
                Ok(done) => {
                    self.display.finished(task, &done.status);
                    state.done[index] = Some(done);
                }
                Err(error) => {
                    state.failed.get_or_insert(error);
                }
            }
            drop(state);
            changed.notify_all();
        }
    }

    /// Brings one task to its end.
    fn bring(&self, task: &Task, inputs: &BTreeMap<usize, Done>) -> anyhow::Result<Done> {
        if self.side == SideChoice::Server && task.runnable.side() != "server" {
            return self.recorded(task);
        }
        let Some(slots) = handles(task, inputs) else {
            return Ok(Done { status: Status::MayRun, entry: None });
        };
        let recipe = self.recipe(task, &slots)?;
        let stage = task.runnable.stage();
        let found = self.store.sound(stage, &recipe.key())?;
        if let Found::Whole(entry) = found {
            return Ok(Done { status: Status::Fresh, entry: Some(Arc::from(entry)) });
        }
        let before = self.record.key(stage, &task.label).and_then(|key| self.store.find(stage, key).ok().flatten());
        let why = match found {
            Found::Damaged(damage) => vec![format!("its entry was damaged ({damage})")],
            _ => why::reasons(before.as_ref().map(|entry| &entry.manifest.recipe), &recipe),
        };
        if self.is_plan {
            return Ok(Done { status: Status::WouldRun { why }, entry: None });
        }
        let lock = self.store.lock(&recipe)?;
        // Another process may have made it while we waited.
        if let Found::Whole(entry) = self.store.sound(stage, &recipe.key())? {
            return Ok(Done { status: Status::Fresh, entry: Some(Arc::from(entry)) });
        }
        let start = Instant::now();
        self.charge(task, &recipe)?;
        let rng = self.rng(task)?;
        let watcher = TaskWatcher::new(self.display, task, self.store.checkpoints(&recipe), self.checkpoint_interval);
        let mut draft = self.store.draft(recipe, lock)?;
        let mut saver = StoreSaver { draft: &mut draft, memory: self.memory };
        task.runnable.run(&slots, &rng, &Progress::new(&watcher), &mut saver)?;
        let entry = draft.publish()?;
        watcher.finish();
        Ok(Done { status: Status::Ran { why, took: start.elapsed() }, entry: Some(Arc::new(entry)) })
    }

    /// Whether a task draws noise that nobody can draw again.
    fn is_deployed(&self, task: &Task) -> bool {
        self.config.is_deployment() && !task.releases.is_empty()
    }

    fn rng(&self, task: &Task) -> anyhow::Result<StageRng> {
        if !self.is_deployed(task) {
            return Ok(StageRng::new(self.config.seed, task.runnable.stage(), task.trial.unwrap_or(0)));
        }
        let mut entropy = [0; 32];
        getrandom::fill(&mut entropy).context("the operating system gives no random numbers; nothing was released")?;
        Ok(StageRng::from_os(&entropy))
    }

    /// What the last run left of a task of another side.
    fn recorded(&self, task: &Task) -> anyhow::Result<Done> {
        let stage = task.runnable.stage();
        if task.runnable.side() == "auditor" {
            return Ok(Done { status: Status::Elsewhere, entry: None });
        }
        let key = self.record.key(stage, &task.label);
        let entry = key.map(|key| self.store.find(stage, key)).transpose()?.flatten();
        let entry = entry.context(
            "the owner has not run this stage for this config; run it without --side server where the data are",
        )?;
        Ok(Done { status: Status::Elsewhere, entry: Some(Arc::new(entry)) })
    }

    fn recipe(&self, task: &Task, slots: &[Vec<Handle>]) -> anyhow::Result<Recipe> {
        let stage = task.runnable.stage();
        let (code, dependencies) = code::digests(stage);
        let mut inputs = BTreeMap::new();
        for (name, handles) in task.runnable.slots().into_iter().zip(slots) {
            let digests = handles.iter().map(|handle| self.digest(handle)).collect::<anyhow::Result<Vec<_>>>()?;
            if !digests.is_empty() {
                inputs.insert(name.to_owned(), digests);
            }
        }
        let random = task.runnable.is_random();
        // A release of a deployment is drawn once and kept for ever: no change of code may draw it again.
        let deployed = self.is_deployed(task);
        let version = |digest: &str| if deployed { DEPLOYED.to_owned() } else { digest.to_owned() };
        Ok(Recipe {
            layout: LAYOUT_VERSION,
            stage: stage.to_owned(),
            side: task.runnable.side().to_owned(),
            code: version(code),
            dependencies: version(dependencies),
            params: task.runnable.params().clone(),
            seed: (random && !deployed).then_some(self.config.seed),
            trial: random.then_some(task.trial).flatten(),
            inputs,
        })
    }

    fn digest(&self, handle: &Handle) -> anyhow::Result<String> {
        match handle {
            Handle::Artifact { entry, name } => {
                let output = entry.manifest.outputs.get(name);
                Ok(output
                    .with_context(|| format!("stage {} wrote no `{name}`", entry.manifest.recipe.stage))?
                    .digest
                    .clone())
            }
            // Raw files are private: only a keyed digest may stand in a key.
            Handle::Raw(raw) => Ok(format!("{}:{}", raw.name, self.store.keyed_digest(&raw.bytes()?)?)),
        }
    }

    /// Writes the task's releases into the ledger, before any noise is drawn.
    fn charge(&self, task: &Task, recipe: &Recipe) -> anyhow::Result<()> {
        if task.releases.is_empty() {
            return Ok(());
        }
        let graph = recipe.inputs.values().flatten().next().cloned().unwrap_or_default();
        let charge = Charge {
            experiment: &self.config.name,
            population: &task.population,
            trial: task.trial.unwrap_or(0),
            graph: &graph,
            entry: &recipe.key(),
            randomness: self.config.privacy.randomness,
            releases: &task.releases,
        };
        Ledger::of(self.store.root()).charge(&charge, self.allowance)
    }
}

/// Tasks that this one reads from.
pub(crate) fn sources(task: &Task) -> Vec<usize> {
    let wires = task.slots.iter().flatten();
    wires.filter_map(|wire| if let Wire::Output { task, .. } = wire { Some(*task) } else { None }).collect()
}

/// Handles for every slot; `None` if an input is not known yet (a plan).
fn handles(task: &Task, inputs: &BTreeMap<usize, Done>) -> Option<Vec<Vec<Handle>>> {
    let mut slots = Vec::new();
    for wires in &task.slots {
        let mut handles = Vec::new();
        for wire in wires {
            match wire {
                Wire::Raw(raw) => handles.push(Handle::Raw(raw.clone())),
                Wire::Output { task, artifact } => match inputs.get(task).and_then(|done| done.entry.as_ref()) {
                    Some(entry) => {
                        handles.push(Handle::Artifact { entry: entry.clone(), name: (*artifact).to_owned() });
                    }
                    None => return None,
                },
            }
        }
        slots.push(handles);
    }
    Some(slots)
}
