//! What a run depends on, hence its key.

use std::collections::BTreeMap;

use anyhow::Context;
use veilgraph_contract::Draws;
use veilgraph_store::{LAYOUT_VERSION, Recipe};

use super::Engine;
use crate::task::{Handle, Task};
use crate::{code, registry};

/// Stands for the digests of code in recipes of deployed releases.
pub(crate) const DEPLOYED: &str = "deployed";

impl Engine<'_> {
    /// Everything that the result of a task depends on.
    pub(super) fn recipe(&self, task: &Task, slots: &[Vec<Handle>]) -> anyhow::Result<Recipe> {
        let (code, dependencies) = code::digests(&registry::find(task.stage, task.function)?.crate_name());
        let mut inputs = BTreeMap::new();
        for (slot, handles) in task.slots.iter().zip(slots) {
            let digests = handles.iter().map(|handle| self.digest(handle)).collect::<anyhow::Result<Vec<_>>>()?;
            if !digests.is_empty() {
                inputs.insert(slot.slot.artifact.to_owned(), digests);
            }
        }
        // A release of a deployment is drawn once and kept for ever: no change of code may draw it again.
        let deployed = self.is_deployed(task);
        let version = |digest: &str| if deployed { DEPLOYED.to_owned() } else { digest.to_owned() };
        Ok(Recipe {
            layout: LAYOUT_VERSION,
            stage: task.stage.to_owned(),
            task: Some(task.function.to_owned()),
            side: task.side.to_owned(),
            code: version(code),
            dependencies: version(dependencies),
            params: task.canonical.clone(),
            seed: (task.draws != Draws::Never && !deployed).then_some(self.config.seed),
            trial: if task.draws == Draws::EveryTrial { task.trial } else { None },
            inputs,
        })
    }

    fn digest(&self, handle: &Handle) -> anyhow::Result<String> {
        match handle {
            Handle::Artifact { entry, name } => {
                let output = entry.manifest.outputs.get(name);
                let stage = &entry.manifest.recipe.stage;
                Ok(output.with_context(|| format!("stage {stage} wrote no `{name}`"))?.digest.clone())
            }
            // Raw files are private: only a keyed digest may stand in a key.
            Handle::Raw(raw) => Ok(format!("{}:{}", raw.name, self.store.keyed_digest(&raw.bytes()?)?)),
        }
    }
}
