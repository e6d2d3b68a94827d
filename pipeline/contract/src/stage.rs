//! A stage: a pure function from artifacts and parameters to artifacts.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::inputs::{Inputs, Outputs};
use crate::memory::Memory;
use crate::random::StageRng;
use crate::release::Release;
use crate::side::Side;

/// One step of the pipeline. It reads no file, clock or environment.
///
/// A stage (`STAGE`) may have several functions (`TASK`): `privatize` has one for each mechanism. The key of a result
/// holds both names, so that two functions never take each other's results for their own.
pub trait Stage {
    /// Name of the stage: of its folder of artifacts and of its Make target.
    const STAGE: &'static str;
    /// Name of this function among those of its stage.
    const TASK: &'static str;
    /// When this function draws random numbers. Seed and trial are part of the key accordingly.
    const DRAWS: Draws;
    /// Who runs it.
    type Side: Side;
    /// Its config table.
    type Params: Serialize + DeserializeOwned + Send + Sync;
    /// What it reads: only what its side may see.
    type Inputs: Inputs<Self::Side>;
    /// What it writes.
    type Outputs: Outputs;
    /// Why it can fail.
    type Error: std::error::Error + Send + Sync + 'static;

    /// What one run releases about protected data; nothing for post-processing. It is known from the parameters alone,
    /// so that it can be charged before any data is read.
    #[must_use]
    fn releases(_: &Self::Params) -> Vec<Release> {
        Vec::new()
    }

    /// Refuses parameters that [`Stage::run`] would refuse whatever the inputs are. The plan asks for it, before anything is charged.
    ///
    /// # Errors
    /// As for [`Stage::run`].
    fn check_params(_: &Self::Params) -> Result<(), Self::Error> {
        Ok(())
    }

    /// Whether [`Stage::check`] has anything to say. The inputs are read for it once more.
    const CHECKS: bool = false;

    /// Refuses what [`Stage::run`] would refuse, while a release has not been charged. What it says must follow from public
    /// data alone, because it is said before anything is paid.
    ///
    /// # Errors
    /// As for [`Stage::run`].
    fn check(_: &Self::Inputs, _: &Self::Params) -> Result<(), Self::Error> {
        Ok(())
    }

    /// Computes the outputs.
    ///
    /// # Errors
    /// When the inputs or parameters admit no result; the message names value and remedy.
    fn run(
        inputs: Self::Inputs,
        params: &Self::Params,
        rng: &StageRng,
        progress: &Progress,
    ) -> Result<Self::Outputs, Self::Error>;
}

/// The parameters of a stage function that reads none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NoParams {}

/// When a stage function draws random numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Draws {
    /// Never: the result is a function of inputs and parameters.
    Never,
    /// Once for all trials of an experiment: the seed is part of the key.
    OncePerExperiment,
    /// Anew in every trial: seed and trial are part of the key.
    EveryTrial,
}

/// Who watches a stage run, and keeps what a long run must not lose.
pub trait Watcher: Sync {
    /// `done` of `total` steps are finished.
    fn report(&self, done: u64, total: u64);

    /// What an interrupted run of the same task kept under `name`.
    fn checkpoint(&self, _name: &str) -> Option<Vec<u8>> {
        None
    }

    /// Whether enough was computed under `name` since its last checkpoint to make another worth while.
    fn checkpoint_is_due(&self, _name: &str) -> bool {
        false
    }

    /// Whether the task has taken so long that what is finished in it is worth a checkpoint, however short that took.
    fn keeps_finished(&self) -> bool {
        false
    }

    /// Keeps `state` until the task is done.
    fn save_checkpoint(&self, _name: &str, _state: &[u8]) {}

    /// The memory that the stage may take.
    fn memory(&self) -> Memory {
        Memory::of_one_task(u64::MAX)
    }
}

/// How a stage speaks with its watcher. It cannot influence the result: a checkpoint is the stage's own
/// state, at a moment that only decides how much is computed again, and a limit of memory decides only whether there is a
/// result at all and how much is computed at a time.
pub struct Progress<'a> {
    watcher: Option<&'a dyn Watcher>,
    memory: Memory,
}

impl<'a> Progress<'a> {
    /// Tells `watcher`.
    #[must_use]
    pub fn new(watcher: &'a dyn Watcher) -> Self {
        Self { watcher: Some(watcher), memory: watcher.memory() }
    }

    /// Tells nobody.
    #[must_use]
    pub fn none() -> Self {
        Self::within(u64::MAX)
    }

    /// Tells nobody, under this limit of memory, as a task beside which no other one runs.
    #[must_use]
    pub fn within(memory_limit: u64) -> Self {
        Self { watcher: None, memory: Memory::of_one_task(memory_limit) }
    }

    /// Tells nobody, with the same memory: for a part whose steps are none of the whole.
    #[must_use]
    pub fn of_part(&self) -> Progress<'static> {
        Progress { watcher: None, memory: self.memory }
    }

    /// `done` of `total` steps are finished.
    pub fn report(&self, done: u64, total: u64) {
        if let Some(watcher) = self.watcher {
            watcher.report(done, total);
        }
    }

    /// See [`Watcher::checkpoint`].
    #[must_use]
    pub fn checkpoint(&self, name: &str) -> Option<Vec<u8>> {
        self.watcher?.checkpoint(name)
    }

    /// See [`Watcher::checkpoint_is_due`].
    #[must_use]
    pub fn checkpoint_is_due(&self, name: &str) -> bool {
        self.watcher.is_some_and(|watcher| watcher.checkpoint_is_due(name))
    }

    /// See [`Watcher::keeps_finished`].
    #[must_use]
    pub fn keeps_finished(&self) -> bool {
        self.watcher.is_some_and(Watcher::keeps_finished)
    }

    /// See [`Watcher::memory`].
    #[must_use]
    pub fn memory(&self) -> Memory {
        self.memory
    }

    /// See [`Watcher::save_checkpoint`].
    pub fn save_checkpoint(&self, name: &str, state: &[u8]) {
        if let Some(watcher) = self.watcher {
            watcher.save_checkpoint(name, state);
        }
    }
}
