//! Every stage function by name: one line for each, here or, where one mechanism alone has it, in the file of that
//! mechanism. A worker that is told a name and parameters can run it.

use anyhow::Context;
use veilgraph_construct::{
    Construct, ConstructFromBits, ConstructFromCounts, ConstructFromEntries, ConstructWithoutLinks,
};
use veilgraph_contract::{Artifact, Inputs, Loader, Outputs, Progress, RawFile, Stage, StageRng};
use veilgraph_estimate::{Estimate, EstimateWithBins, GroupAtRandom, GroupByCounts, PairReports};
use veilgraph_evaluate::{EvaluateClasses, EvaluateGraph, EvaluateLinks};
use veilgraph_ingest::Ingest;
use veilgraph_similarity::Similarity;
use veilgraph_store::{MemoryLimit, StoreSaver};
use veilgraph_train::{ChooseSetting, SearchGrid, Train};

use crate::systems;
use crate::task::Handle;

/// A stage function, whatever its types.
pub(crate) struct Function {
    pub stage: &'static str,
    pub name: &'static str,
    /// Crate that it stands in: an edit there, or below, runs it again.
    pub crate_name: &'static str,
    run: Run,
}

type Run = fn(&toml::Value, &[Vec<Handle>], &StageRng, &Progress, &mut StoreSaver) -> anyhow::Result<()>;

/// Stage functions that belong to no single mechanism.
const SHARED: &[Function] = &[
    function::<Ingest>("veilgraph-ingest"),
    function::<Similarity>("veilgraph-similarity"),
    function::<PairReports>("veilgraph-estimate"),
    function::<Estimate>("veilgraph-estimate"),
    function::<EstimateWithBins>("veilgraph-estimate"),
    function::<GroupAtRandom>("veilgraph-estimate"),
    function::<GroupByCounts>("veilgraph-estimate"),
    function::<Construct>("veilgraph-construct"),
    function::<ConstructFromBits>("veilgraph-construct"),
    function::<ConstructFromCounts>("veilgraph-construct"),
    function::<ConstructFromEntries>("veilgraph-construct"),
    function::<ConstructWithoutLinks>("veilgraph-construct"),
    function::<Train>("veilgraph-train"),
    function::<SearchGrid>("veilgraph-train"),
    function::<ChooseSetting>("veilgraph-train"),
    function::<EvaluateLinks>("veilgraph-evaluate"),
    function::<EvaluateGraph>("veilgraph-evaluate"),
    function::<EvaluateClasses>("veilgraph-evaluate"),
];

/// The stage function `S`, of the crate below `stages/` that it stands in.
pub(crate) const fn function<S: Stage>(crate_name: &'static str) -> Function {
    Function { stage: S::STAGE, name: S::TASK, crate_name, run: run::<S> }
}

/// All stage functions.
fn all() -> impl Iterator<Item = &'static Function> {
    SHARED.iter().chain(systems::functions())
}

/// The function `name` of `stage`.
pub(crate) fn find(stage: &str, name: &str) -> anyhow::Result<&'static Function> {
    let found = all().find(|function| function.stage == stage && function.name == name);
    found.with_context(|| {
        format!(
            "{stage} has no function `{name}`; register it in pipeline/runner/src/registry.rs or beside its mechanism"
        )
    })
}

impl Function {
    /// Reads the inputs, runs the function and writes its outputs.
    pub(crate) fn run(
        &self,
        params: &toml::Value,
        slots: &[Vec<Handle>],
        rng: &StageRng,
        progress: &Progress,
        saver: &mut StoreSaver,
    ) -> anyhow::Result<()> {
        (self.run)(params, slots, rng, progress, saver)
    }
}

fn run<S: Stage>(
    params: &toml::Value,
    slots: &[Vec<Handle>],
    rng: &StageRng,
    progress: &Progress,
    saver: &mut StoreSaver,
) -> anyhow::Result<()> {
    let params: S::Params = params.clone().try_into()?;
    let inputs = S::Inputs::read(&HandleLoader(saver.memory), slots)?;
    S::run(inputs, &params, rng, progress)?.write(saver)?;
    Ok(())
}

struct HandleLoader(MemoryLimit);

impl Loader for HandleLoader {
    type Handle = Handle;
    type Error = anyhow::Error;

    fn load<A: Artifact>(&self, handle: &Handle) -> anyhow::Result<A> {
        match handle {
            Handle::Artifact { entry, name } => Ok(entry.read(name, self.0)?),
            Handle::Raw(raw) => anyhow::bail!("{} is a raw file, not the artifact {}", raw.path.display(), A::NAME),
        }
    }

    fn raw(&self, handle: &Handle) -> anyhow::Result<RawFile> {
        match handle {
            Handle::Raw(raw) => Ok(RawFile { name: raw.name.clone(), bytes: raw.bytes()? }),
            Handle::Artifact { name, .. } => anyhow::bail!("{name} is an artifact, not a raw file"),
        }
    }

    fn miscounted(&self, name: &str, found: usize) -> anyhow::Error {
        anyhow::anyhow!("{found} artifacts `{name}` where one was expected; this is a bug in the wiring of a system")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_stage_function_has_a_name_of_its_own() {
        let mut names: Vec<(&str, &str)> = all().map(|function| (function.stage, function.name)).collect();
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
        for function in all() {
            // The crate is one whose code is digested.
            crate::code::digests(function.crate_name);
        }
    }
}
