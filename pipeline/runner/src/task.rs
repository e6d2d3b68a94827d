//! One run of a stage function, as plain data: what a worker needs to run it, and how it ended.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use serde_json::Value;
use veilgraph_contract::{Draws, Release, Slot, Stage};
use veilgraph_store::Entry;

use crate::datasets::sha256;
use crate::kind::TaskKind;
use crate::peak_memory::TaskMemory;

/// The stages, in their order.
pub const STAGES: [&str; 8] =
    ["ingest", "privatize", "similarity", "estimate", "construct", "train", "audit", "evaluate"];

/// Stages some of whose functions train networks.
pub(crate) const STAGES_THAT_TRAIN: [&str; 3] = ["similarity", "train", "audit"];

/// Position of a stage among all.
#[must_use]
pub fn position(stage: &str) -> usize {
    STAGES.iter().position(|known| *known == stage).unwrap_or(STAGES.len())
}

/// One run of a stage function.
pub struct Task {
    /// Stage; with the function, it names an entry of the registry.
    pub stage: &'static str,
    /// Stage function.
    pub function: &'static str,
    /// Who runs it.
    pub side: &'static str,
    /// When it draws random numbers.
    pub draws: Draws,
    /// Parameters, as the function reads them.
    pub params: toml::Value,
    /// Parameters, as they stand in keys.
    pub canonical: Value,
    /// Slots of the function, in its order.
    pub slots: Vec<BoundSlot>,
    /// Readable names of this run among those of its stage: swept values and trial. Several, where several ways through
    /// an experiment need the same run.
    pub labels: Vec<String>,
    /// The first label without its trial.
    pub cell: String,
    /// Repetition, if the run or what it reads differs from trial to trial.
    pub trial: Option<u32>,
    /// What it releases about protected data.
    pub releases: Vec<Release>,
    /// Whether an earlier task of the plan releases the same.
    pub repeats: bool,
    /// Whose data it releases; empty where it releases nothing.
    pub population: String,
    /// What it has in common with tasks that take about as long.
    pub kind: TaskKind,
}

/// A slot and what it is filled with.
pub struct BoundSlot {
    /// The slot.
    pub slot: Slot,
    /// Where its inputs come from.
    pub wires: Vec<Wire>,
}

impl BoundSlot {
    /// Tasks that fill it.
    pub(crate) fn sources(&self) -> impl Iterator<Item = usize> {
        self.wires.iter().filter_map(|wire| if let Wire::Output { task, .. } = wire { Some(*task) } else { None })
    }
}

/// Where an input comes from.
#[derive(Clone, Debug, PartialEq)]
pub enum Wire {
    /// An output of an earlier task.
    Output {
        /// Position of the task.
        task: usize,
        /// Name of the artifact.
        artifact: &'static str,
    },
    /// A file of the user.
    Raw(RawHandle),
}

/// A file of the user, with the name that the config gives it.
#[derive(Clone, Debug, PartialEq)]
pub struct RawHandle {
    /// The name that the config gives it.
    pub name: String,
    /// Where it lies.
    pub path: PathBuf,
    /// Where it was looked for; `path` is the first place that has it, else the first.
    pub places: Vec<PathBuf>,
    /// The known dataset that it is a file of.
    pub dataset: Option<String>,
    /// SHA-256 that it must have, in hexadecimal digits.
    pub sha256: Option<String>,
}

/// What a slot of a stage is filled with when it runs.
#[derive(Clone)]
pub enum Handle {
    /// An artifact of an entry.
    Artifact {
        /// The entry.
        entry: Arc<Entry>,
        /// Name of the artifact.
        name: String,
    },
    /// A file of the user.
    Raw(RawHandle),
}

/// How a task ended.
#[derive(Clone, Debug)]
pub enum Status {
    /// Its entry was there.
    Fresh,
    /// It ran, on the machine of this name.
    Ran {
        /// Why it ran.
        why: Vec<String>,
        /// How long it took.
        took: Duration,
        /// Name of the machine.
        host: String,
        /// What memory it took.
        memory: TaskMemory,
    },
    /// Its entry was taken from a cache that machines share.
    Fetched,
    /// It waits for a job of the batch system, which a script asks for.
    Queued {
        /// Why it has to run.
        why: Vec<String>,
    },
    /// It would run (a plan).
    WouldRun {
        /// Why it has to run.
        why: Vec<String>,
    },
    /// It would run unless what runs before it writes the same bytes again (a plan).
    MayRun,
    /// It belongs to another side.
    Elsewhere,
    /// It failed, and what does not read from it went on.
    Failed {
        /// What went wrong, and what to do about it.
        error: String,
    },
    /// Something that it reads from failed, so it did not run.
    Skipped,
}

/// A task's end and its entry, if it has one.
#[derive(Clone)]
pub struct Done {
    /// How it ended.
    pub status: Status,
    /// Its entry, if it has one.
    pub entry: Option<Arc<Entry>>,
}

impl Done {
    /// Whether the task would run, or may have to (a plan).
    #[must_use]
    pub fn would_run(&self) -> bool {
        matches!(self.status, Status::WouldRun { .. } | Status::MayRun)
    }
}

impl Task {
    /// Whether it is a run of the stage function `S`.
    #[must_use]
    pub fn is_of<S: Stage>(&self) -> bool {
        (self.stage, self.function) == (S::STAGE, S::TASK)
    }

    /// What it adds to the releases of the tasks before it.
    #[must_use]
    pub fn added_releases(&self) -> &[Release] {
        if self.repeats { &[] } else { &self.releases }
    }

    /// The first of its readable names.
    pub fn label(&self) -> &str {
        self.labels.first().map_or("all", String::as_str)
    }

    /// What messages call it: its stage and label, with the function between them where that has another name.
    #[must_use]
    pub fn called(&self) -> String {
        let (stage, function, label) = (self.stage, self.function, self.label());
        if function == stage { format!("{stage} {label}") } else { format!("{stage} {function}/{label}") }
    }

    /// The trial for which random numbers are drawn; none where they are the same in every trial, or none are drawn.
    #[must_use]
    pub fn drawn_trial(&self) -> Option<u32> {
        drawn_trial(self.draws, self.trial)
    }

    /// Tasks that this one reads from.
    pub fn sources(&self) -> impl Iterator<Item = usize> {
        self.slots.iter().flat_map(BoundSlot::sources)
    }
}

/// The part of a trial that random numbers depend on; see [`Task::drawn_trial`].
pub(crate) fn drawn_trial(draws: Draws, trial: Option<u32>) -> Option<u32> {
    trial.filter(|_| draws == Draws::EveryTrial)
}

impl RawHandle {
    /// Bytes of the file, with its checksum compared if one is known.
    pub(crate) fn bytes(&self) -> anyhow::Result<Vec<u8>> {
        let path = self.path.display();
        let bytes = std::fs::read(&self.path).with_context(|| self.unreadable())?;
        if let Some(expected) = &self.sha256 {
            let found = sha256(&bytes);
            anyhow::ensure!(
                found == *expected,
                "{path}: checksum mismatch (SHA-256 {found}, expected {expected}); fetch the file again, or name your own files with `format` instead of `dataset`"
            );
        }
        Ok(bytes)
    }

    /// That the file cannot be read, and what to do.
    fn unreadable(&self) -> String {
        let places: Vec<String> = self.places.iter().map(|place| place.display().to_string()).collect();
        let remedy = match &self.dataset {
            Some(dataset) => format!(
                "`veilgraph fetch {dataset} --data-dir DIR` brings it, and --data-dir DIR then names the folder here"
            ),
            None => {
                "correct its path in the config, which begins in the folder of the config, or in that of --data-dir DIR"
                    .to_owned()
            }
        };
        format!("{}: cannot read the data file (looked for {}); {remedy}", self.path.display(), places.join(", "))
    }
}
