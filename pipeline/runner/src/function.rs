//! A stage function, whatever its types: read the inputs, run, write the outputs.

use veilgraph_contract::{Artifact, Inputs, Loader, Outputs, Progress, RawFile, Stage, StageRng};
use veilgraph_store::{MemoryLimit, StoreSaver};

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

/// The stage function `S`, of the crate below `stages/` that it stands in.
pub(crate) const fn function<S: Stage>(crate_name: &'static str) -> Function {
    Function { stage: S::STAGE, name: S::TASK, crate_name, run: run::<S> }
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
