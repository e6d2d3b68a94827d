//! An order: one task of a plan as a file, so that another machine can run it. It names its inputs by the keys of their
//! entries, and holds nothing of what they say.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use anyhow::{Context, ensure};
use serde::{Deserialize, Serialize};
use veilgraph_cache::{Cache, CacheError};
use veilgraph_store::{Recipe, Store, create_private_folder, is_key, write_private_file};

use crate::build;
use crate::config::sweep::canonical;
use crate::registry;
use crate::task::{Handle, Task};

/// Version of the file: a program refuses the orders of another one.
const VERSION: u32 = 1;

/// One task, as another machine needs it.
#[derive(Debug, Serialize, Deserialize)]
pub struct Order {
    version: u32,
    /// What the entry will be made from. It names the stage function and the code that it must have.
    pub recipe: Recipe,
    /// Readable name, for messages.
    pub label: String,
    /// Parameters as the function reads them, as TOML: JSON has no infinity.
    params: String,
    /// What each slot of the function is filled with.
    inputs: Vec<Vec<Input>>,
    /// Seed of the experiment.
    pub seed: u64,
    /// The trial, counted from 0.
    pub trial: u32,
    /// How much computing a kill may cost, in seconds.
    pub checkpoint_seconds: u64,
}

/// An artifact of an entry that is there already.
#[derive(Debug, Serialize, Deserialize)]
struct Input {
    stage: String,
    key: String,
    artifact: String,
}

/// Whether another machine may run a task. Workers are servers: they get what a server may see, and release nothing.
/// What is charged runs where the ledger is.
pub(crate) fn may_leave(task: &Task) -> bool {
    task.side == "server" && task.releases.is_empty()
}

impl Order {
    /// The order for a task whose inputs are there.
    pub(crate) fn of(
        task: &Task,
        recipe: &Recipe,
        slots: &[Vec<Handle>],
        seed: u64,
        checkpoint_seconds: u64,
    ) -> anyhow::Result<Self> {
        let input = |handle: &Handle| match handle {
            Handle::Artifact { entry, name } => Ok(Input {
                stage: entry.manifest.recipe.stage.clone(),
                key: entry.manifest.key.clone(),
                artifact: name.clone(),
            }),
            Handle::Raw(raw) => {
                anyhow::bail!(
                    "{}: a file of the user was about to leave this machine; this is a bug",
                    raw.path.display()
                )
            }
        };
        let inputs = slots.iter().map(|handles| handles.iter().map(input).collect()).collect::<anyhow::Result<_>>()?;
        Ok(Self {
            version: VERSION,
            recipe: recipe.clone(),
            label: task.label().to_owned(),
            params: toml::to_string(&task.params).context("the parameters cannot be written; this is a bug")?,
            inputs,
            seed,
            trial: task.drawn_trial().unwrap_or(0),
            checkpoint_seconds,
        })
    }

    /// Writes the order where workers look for it: into the cache where there is one, else into the store.
    pub(crate) fn write(&self, store: &Store, cache: Option<&Cache>) -> anyhow::Result<()> {
        let (key, bytes) = (self.recipe.key(), serde_json::to_vec_pretty(self)?);
        if let Some(cache) = cache {
            return Ok(cache.put_order(&key, bytes)?);
        }
        create_private_folder(&folder(store))?;
        Ok(write_private_file(&path(store, &key), &bytes)?)
    }

    /// Reads the order of the entry `key`; none if there is none, here or in the cache.
    ///
    /// # Errors
    /// When the order is damaged or cannot be read.
    pub fn read(store: &Store, cache: Option<&Cache>, key: &str) -> anyhow::Result<Option<Self>> {
        let place = path(store, key);
        let bytes = match (fs::read(&place), cache) {
            (Ok(bytes), _) => Some(bytes),
            (Err(_), Some(cache)) => cache.order(key)?,
            (Err(error), None) if error.kind() == std::io::ErrorKind::NotFound => None,
            (Err(error), None) => return Err(error).with_context(|| format!("{}: cannot read", place.display())),
        };
        let Some(bytes) = bytes else { return Ok(None) };
        let damaged = || format!("the order for {key} is damaged, or of another version of the program");
        let order: Self = serde_json::from_slice(&bytes).with_context(damaged)?;
        ensure!(order.version == VERSION && order.recipe.key() == key, "{}", damaged());
        Ok(Some(order))
    }

    /// Removes an order that was carried out, if that is allowed: one that stays asks a worker for what is there already.
    pub(crate) fn remove(store: &Store, cache: Option<&Cache>, key: &str) {
        if let Some(cache) = cache {
            if let Err(error) = cache.remove_order(key) {
                tracing::debug!("the order for {key} stays: {error}");
            }
        } else {
            // The folder stays, because another order may be on its way into it.
            let _ = fs::remove_file(path(store, key));
        }
    }

    /// Refuses what no worker may run, and an order of a program with other code or with other parameters than its key says:
    /// the key would not say what was run.
    ///
    /// # Errors
    /// When the order is such a one, or its stage function is unknown: the message says which.
    pub fn check(&self) -> anyhow::Result<()> {
        ensure!(
            self.recipe.side == "server",
            "the order is for the side `{}`, and workers are servers",
            self.recipe.side
        );
        let (stage, name) = (&self.recipe.stage, self.recipe.task.as_deref().unwrap_or_default());
        let (code, dependencies) = build::digests(&registry::find(stage, name)?.crate_name());
        ensure!(
            code == self.recipe.code && dependencies == self.recipe.dependencies,
            "the order was written by another version of veilgraph than this one ({}, code {}; the order asks for {}); \
             install the program of the run on this machine",
            env!("CARGO_PKG_VERSION"),
            &code[..12.min(code.len())],
            self.recipe.code.get(..12).unwrap_or("none")
        );
        // Parameters, seed and trial stand beside the recipe, in the form in which they are used.
        ensure!(
            canonical(&self.params()?) == self.recipe.params
                && self.recipe.seed.is_none_or(|seed| seed == self.seed)
                && self.recipe.trial.unwrap_or(0) == self.trial,
            "the order asks for other parameters than the entry {} is named after; run the same command again",
            self.recipe.key()
        );
        Ok(())
    }

    /// Parameters, as the function reads them.
    ///
    /// # Errors
    /// When the order is damaged.
    pub fn params(&self) -> anyhow::Result<toml::Value> {
        let table: toml::Table = toml::from_str(&self.params).context("the parameters of the order are damaged")?;
        Ok(toml::Value::Table(table))
    }

    /// The inputs, from the store, or else from the cache.
    ///
    /// # Errors
    /// When an input is in neither of them, is damaged, or is not the one that was asked for.
    pub fn slots(&self, store: &Store, cache: Option<&Cache>) -> anyhow::Result<Vec<Vec<Handle>>> {
        let handle = |input: &Input| -> anyhow::Result<Handle> {
            let entry = match cache {
                None => store.find(&input.stage, &input.key)?,
                Some(cache) => match store.find(&input.stage, &input.key) {
                    Ok(Some(entry)) if entry.is_sound_for_server() => Some(entry),
                    _ => match cache.take_entry(store, &input.stage, &input.key) {
                        Err(error @ CacheError::Damaged { is_forgotten: true, .. }) => {
                            return Err(error).context("an input was damaged; give the command of the run again");
                        }
                        taken => taken?,
                    },
                },
            };
            let entry = entry.with_context(|| {
                format!(
                    "the input `{}` ({} {}) is gone; run the same command again",
                    input.artifact, input.stage, input.key
                )
            })?;
            let digest = entry.manifest.outputs.get(&input.artifact).map(|output| entry.manifest.digest_of(output));
            let asked_for = self.recipe.inputs.get(&input.artifact);
            ensure!(
                digest.is_some_and(|digest| asked_for.is_some_and(|asked_for| asked_for.contains(&digest))),
                "the input `{}` ({} {}) is not the one that the order is about",
                input.artifact,
                input.stage,
                input.key
            );
            Ok(Handle::Artifact { entry: Arc::new(entry), name: input.artifact.clone() })
        };
        self.inputs.iter().map(|inputs| inputs.iter().map(handle).collect()).collect()
    }
}

/// Folder of the orders of a store.
pub(crate) fn folder(store: &Store) -> PathBuf {
    store.root().join("orders")
}

fn path(store: &Store, key: &str) -> PathBuf {
    folder(store).join(format!("{key}.json"))
}

/// Removes orders that nobody has carried out for so long.
///
/// # Errors
/// When an old order cannot be removed.
pub fn remove_old(store: &Store, least_age: Duration) -> anyhow::Result<()> {
    let folder = folder(store);
    for item in fs::read_dir(&folder).into_iter().flatten().flatten() {
        let path = item.path();
        // An order, or what a killed process left of one; a link is somebody else's.
        let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
        let is_order = ending == "json" || ending.starts_with("draft-");
        let is_ours = is_order && is_key(&path.with_extension("")) && item.file_type().is_ok_and(|kind| kind.is_file());
        let written = item.metadata().and_then(|metadata| metadata.modified());
        let age = written.ok().and_then(|written| SystemTime::now().duration_since(written).ok()).unwrap_or_default();
        if is_ours && age >= least_age {
            fs::remove_file(&path).with_context(|| format!("{}: cannot remove", path.display()))?;
        }
    }
    // It stays where somebody else put something into it.
    let _ = fs::remove_dir(&folder);
    Ok(())
}

#[cfg(test)]
mod tests;
