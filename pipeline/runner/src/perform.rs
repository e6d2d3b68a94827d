//! Runs the function of one task, on whichever machine.

use std::time::Duration;

use veilgraph_contract::{Memory, Progress, StageRng};
use veilgraph_store::{CompleteDraft, Entry, KeyLock, MemoryLimit, Part, Recipe, ReleaseRecord, Store, StoreSaver};

use crate::registry;
use crate::task::Handle;
use crate::watcher::{ShowSteps, TaskWatcher};

/// Everything that a stage function needs to run.
pub struct Performance<'a> {
    /// Where entries lie.
    pub store: &'a Store,
    /// What the entry will be made from.
    pub recipe: Recipe,
    /// Readable name, for messages.
    pub label: &'a str,
    /// Parameters, as the function reads them.
    pub params: &'a toml::Value,
    /// What each slot of the function is filled with.
    pub slots: &'a [Vec<Handle>],
    /// Randomness of the stage.
    pub rng: &'a StageRng,
    /// What the entry releases about protected data.
    pub release: Option<ReleaseRecord>,
    /// How much memory an artifact may take.
    pub memory: MemoryLimit,
    /// So many tasks that train may run at the same time; they share the memory.
    pub tasks_at_a_time: usize,
    /// How much computing a kill may cost.
    pub checkpoint_interval: Duration,
    /// Who is told of steps.
    pub show: ShowSteps<'a>,
}

impl Performance<'_> {
    /// Runs the function, and publishes its entry as `publish` does. Whoever calls this holds the lock of the entry.
    ///
    /// # Errors
    /// When the function fails, runs out of the memory that it may take, or its entry cannot be written.
    pub fn run(
        self,
        lock: KeyLock,
        publish: impl FnOnce(CompleteDraft) -> anyhow::Result<Entry>,
    ) -> anyhow::Result<Entry> {
        let (stage, side) = (self.recipe.stage.clone(), self.recipe.side.clone());
        let function = registry::find(&stage, self.recipe.task.as_deref().unwrap_or_default())?;
        // The state of a task that sees private data must not lie in a public folder.
        let may_keep = side == "server" || Part::of(&self.recipe).is_private();
        let checkpoints = may_keep.then(|| self.store.checkpoints(&self.recipe));
        let name = format!("{stage} {}", self.label);
        let limit = self.memory.0;
        let memory = Memory { limit, share: limit / self.tasks_at_a_time.max(1) as u64 };
        let watcher = TaskWatcher::new(name, self.show, checkpoints, self.checkpoint_interval, memory);
        let mut draft = self.store.draft(self.recipe, lock)?;
        draft.set_release(self.release);
        let mut saver = StoreSaver { draft: &mut draft, memory: self.memory };
        function.run(self.params, self.slots, self.rng, &Progress::new(&watcher), &mut saver)?;
        let entry = publish(draft.complete()?)?;
        watcher.finish();
        Ok(entry)
    }
}
