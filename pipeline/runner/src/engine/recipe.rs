//! What a run depends on, hence its key.

use std::collections::BTreeMap;
use std::sync::Arc;

use anyhow::Context;
use serde_json::json;
use veilgraph_contract::Draws;
use veilgraph_store::{DEPLOYED, Entry, LAYOUT_VERSION, Recipe};

use super::Engine;
use crate::ledger::statement;
use crate::task::{Handle, Task, Wire};
use crate::{build, registry};

/// The layout from which on releases of deployments are named by what they say.
const FIRST_LAYOUT_OF_STATEMENTS: u32 = 3;

impl Engine<'_> {
    /// Everything that the result of a task depends on.
    pub(super) fn recipe(&self, task: &Task, slots: &[Vec<Handle>]) -> anyhow::Result<Recipe> {
        let (code, dependencies) = build::digests(&registry::find(task.stage, task.function)?.crate_name());
        let mut inputs = BTreeMap::new();
        for (slot, handles) in task.slots.iter().zip(slots) {
            let digests = handles.iter().map(|handle| self.digest(handle)).collect::<anyhow::Result<Vec<_>>>()?;
            if !digests.is_empty() {
                inputs.insert(slot.slot.artifact.to_owned(), digests);
            }
        }
        Ok(Recipe {
            layout: LAYOUT_VERSION,
            stage: task.stage.to_owned(),
            task: Some(task.function.to_owned()),
            side: task.side.to_owned(),
            code: code.to_owned(),
            dependencies: dependencies.to_owned(),
            params: task.canonical.clone(),
            seed: (task.draws != Draws::Never).then_some(self.config.seed),
            trial: task.drawn_trial(),
            inputs,
            deployment: self.config.is_deployment(),
        })
    }

    /// Refuses to publish under a digest of raw files what was made from others: a user may have edited them meanwhile.
    pub(super) fn refuse_changed_files(
        &self,
        slots: &[Vec<Handle>],
        inputs: &BTreeMap<String, Vec<String>>,
    ) -> anyhow::Result<()> {
        for handle in slots.iter().flatten() {
            if let Handle::Raw(raw) = handle {
                let digest = self.digest(handle)?;
                let is_known = inputs.values().flatten().any(|known| *known == digest);
                anyhow::ensure!(is_known, "{}: the file changed while it was read; run again", raw.path.display());
            }
        }
        Ok(())
    }

    pub(super) fn digest(&self, handle: &Handle) -> anyhow::Result<String> {
        match handle {
            Handle::Artifact { entry, name } => {
                let output = entry.manifest.outputs.get(name).with_context(|| absent(entry, name))?;
                Ok(entry.manifest.digest_of(output))
            }
            // Raw files are private: only a keyed digest may stand in a key.
            Handle::Raw(raw) => Ok(format!("{}:{}", raw.name, self.store.keyed_digest(&raw.bytes()?)?)),
        }
    }
}

/// Handles for every slot; `None` if an input is not known yet (a plan).
pub(super) fn handles(task: &Task, entry_of: impl Fn(usize) -> Option<Arc<Entry>>) -> Option<Vec<Vec<Handle>>> {
    let mut slots = Vec::new();
    for slot in &task.slots {
        let mut handles = Vec::new();
        for wire in &slot.wires {
            handles.push(match wire {
                Wire::Raw(raw) => Handle::Raw(raw.clone()),
                Wire::Output { task, artifact } => {
                    Handle::Artifact { entry: entry_of(*task)?, name: (*artifact).to_owned() }
                }
            });
        }
        slots.push(handles);
    }
    Some(slots)
}

/// What names a release of a deployment: no seed, no code and no data, for none of them may draw it again.
#[must_use]
pub fn recipe_of_release(task: &Task, number: u32) -> Recipe {
    let statement = statement(task.function, &task.releases);
    Recipe {
        layout: FIRST_LAYOUT_OF_STATEMENTS,
        stage: task.stage.to_owned(),
        task: Some(task.function.to_owned()),
        side: task.side.to_owned(),
        code: DEPLOYED.to_owned(),
        dependencies: DEPLOYED.to_owned(),
        params: json!({"population": task.population, "statement": statement, "number": number}),
        seed: None,
        trial: None,
        inputs: BTreeMap::new(),
        deployment: true,
    }
}

/// Says that a stage wrote no such artifact, because the data have none.
pub(super) fn absent(entry: &Entry, name: &str) -> String {
    format!(
        "{} found no `{name}` in the data; give them in [ingest], or, where nodes report for themselves, gather their reports \
         with `veilgraph collect` and add --side server",
        entry.manifest.recipe.stage
    )
}
