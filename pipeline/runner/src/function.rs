//! A stage function, whatever its types: read the inputs, run, write the outputs.

use std::path::Path;

use veilgraph_contract::{Artifact, Inputs, Loader, Outputs, Progress, RawFile, Slot, Stage, StageRng, Stored};
use veilgraph_store::{MemoryLimit, Rehearsal, StoreSaver};

use crate::config::read_value;
use crate::task::Handle;

/// A stage function, whatever its types.
pub struct Function {
    /// Its stage.
    pub stage: &'static str,
    /// Its name within the stage.
    pub name: &'static str,
    /// Name of its type, which begins with the crate that it stands in.
    type_name: fn() -> &'static str,
    outputs: fn() -> Vec<Slot>,
    run: RunFunction,
    rehearse: RehearseFunction,
    /// None where nothing is checked before a charge.
    check: Option<CheckFunction>,
}

type RunFunction = fn(&toml::Value, &[Vec<Handle>], &StageRng, &Progress, &mut StoreSaver) -> anyhow::Result<()>;

type CheckFunction = fn(&toml::Value, &[Vec<Handle>], MemoryLimit) -> anyhow::Result<()>;

type RehearseFunction = fn(&toml::Value, &[Vec<Handle>], &mut Rehearsal) -> anyhow::Result<()>;

/// The stage function `S`.
pub(crate) const fn function<S: Stage>() -> Function {
    Function {
        stage: S::STAGE,
        name: S::TASK,
        type_name: std::any::type_name::<S>,
        outputs: S::Outputs::slots,
        run: run::<S>,
        rehearse: rehearse::<S>,
        check: if S::CHECKS { Some(check::<S>) } else { None },
    }
}

impl Function {
    /// The crate that it stands in: an edit there, or below, runs it again.
    #[must_use]
    pub fn crate_name(&self) -> String {
        let type_name = (self.type_name)();
        type_name.split("::").next().unwrap_or(type_name).replace('_', "-")
    }

    /// What it makes.
    #[must_use]
    pub fn outputs(&self) -> Vec<Slot> {
        (self.outputs)()
    }

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

    /// Refuses parameters that do not fit the public inputs, before anything is charged.
    pub(crate) fn check(&self, params: &toml::Value, slots: &[Vec<Handle>], memory: MemoryLimit) -> anyhow::Result<()> {
        self.check.map_or(Ok(()), |check| check(params, slots, memory))
    }

    /// Does the same up to the first byte that would be written, with random numbers that are used for nothing else:
    /// parameters and sizes that cannot work are found before anything is charged.
    pub(crate) fn rehearse(
        &self,
        params: &toml::Value,
        slots: &[Vec<Handle>],
        memory: MemoryLimit,
        place: &Path,
    ) -> anyhow::Result<()> {
        (self.rehearse)(params, slots, &mut Rehearsal { memory, place: place.to_owned() })
    }
}

fn check<S: Stage>(params: &toml::Value, slots: &[Vec<Handle>], memory: MemoryLimit) -> anyhow::Result<()> {
    let params: S::Params = read_value(params.clone())?;
    let inputs = S::Inputs::read(&HandleLoader(memory), slots)?;
    Ok(S::check(&inputs, &params)?)
}

fn rehearse<S: Stage>(params: &toml::Value, slots: &[Vec<Handle>], rehearsal: &mut Rehearsal) -> anyhow::Result<()> {
    let params: S::Params = read_value(params.clone())?;
    let inputs = S::Inputs::read(&HandleLoader(rehearsal.memory), slots)?;
    let rng = StageRng::new(0, "rehearsal", 0);
    S::run(inputs, &params, &rng, &Progress::none())?.write(rehearsal)?;
    Ok(())
}

fn run<S: Stage>(
    params: &toml::Value,
    slots: &[Vec<Handle>],
    rng: &StageRng,
    progress: &Progress,
    saver: &mut StoreSaver,
) -> anyhow::Result<()> {
    let params: S::Params = read_value(params.clone())?;
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

    fn open<A: Artifact>(&self, handle: &Handle) -> anyhow::Result<Stored<A>> {
        match handle {
            Handle::Artifact { entry, name } => Ok(entry.open(name, self.0)?),
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
