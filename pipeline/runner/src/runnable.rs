//! A stage with its parameters, whatever its types.

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::Context;
use serde_json::Value;
use veilgraph_contract::{Artifact, Inputs, Loader, Outputs, Progress, RawFile, Side, Stage, StageRng};
use veilgraph_store::{Entry, MemoryLimit, StoreSaver};

use crate::datasets::sha256;

/// What a slot of a stage is filled with.
#[derive(Clone)]
pub(crate) enum Handle {
    /// An artifact of an entry.
    Artifact { entry: Arc<Entry>, name: String },
    /// A file of the user.
    Raw(RawHandle),
}

/// A file of the user, with the name that the config gives it.
#[derive(Clone, Debug)]
pub(crate) struct RawHandle {
    pub name: String,
    pub path: PathBuf,
    pub sha256: Option<String>,
}

/// A stage with its parameters, whatever its types.
pub(crate) trait Runnable: Send + Sync {
    fn stage(&self) -> &'static str;
    fn side(&self) -> &'static str;
    fn is_random(&self) -> bool;
    fn slots(&self) -> Vec<&'static str>;
    fn params(&self) -> &Value;
    fn run(
        &self,
        slots: &[Vec<Handle>],
        rng: &StageRng,
        progress: &Progress,
        saver: &mut StoreSaver,
    ) -> anyhow::Result<()>;
}

/// A stage bound to its parameters.
pub(crate) struct Bound<S: Stage> {
    params: S::Params,
    canonical: Value,
}

impl<S: Stage> Bound<S> {
    pub(crate) fn new(params: S::Params) -> Self {
        let value =
            toml::Value::try_from(&params).unwrap_or_else(|error| unreachable!("parameters are plain data: {error}"));
        Self { params, canonical: canonical(value) }
    }
}

/// Parameters as JSON. JSON has no infinity, so such numbers become text.
fn canonical(value: toml::Value) -> Value {
    match value {
        toml::Value::Float(number) => {
            serde_json::Number::from_f64(number).map_or_else(|| number.to_string().into(), Value::Number)
        }
        toml::Value::Integer(number) => number.into(),
        toml::Value::Boolean(truth) => truth.into(),
        toml::Value::String(text) => text.into(),
        toml::Value::Datetime(time) => time.to_string().into(),
        toml::Value::Array(values) => values.into_iter().map(canonical).collect(),
        toml::Value::Table(table) => table.into_iter().map(|(key, value)| (key, canonical(value))).collect(),
    }
}

impl<S> Runnable for Bound<S>
where
    S: Stage + Send + Sync,
    S::Params: Send + Sync,
{
    fn stage(&self) -> &'static str {
        S::NAME
    }
    fn side(&self) -> &'static str {
        S::Side::NAME
    }
    fn is_random(&self) -> bool {
        S::RANDOM
    }
    fn slots(&self) -> Vec<&'static str> {
        S::Inputs::names()
    }
    fn params(&self) -> &Value {
        &self.canonical
    }
    fn run(
        &self,
        slots: &[Vec<Handle>],
        rng: &StageRng,
        progress: &Progress,
        saver: &mut StoreSaver,
    ) -> anyhow::Result<()> {
        let inputs = S::Inputs::read(&HandleLoader(saver.memory), slots)?;
        let outputs = S::run(inputs, &self.params, rng, progress)?;
        outputs.write(saver)?;
        Ok(())
    }
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
        anyhow::anyhow!("{found} artifacts `{name}` where one was expected; this is a bug in the list of tasks")
    }
}

impl RawHandle {
    /// Bytes of the file, with its checksum compared if one is known.
    pub(crate) fn bytes(&self) -> anyhow::Result<Vec<u8>> {
        let path = self.path.display();
        let bytes = std::fs::read(&self.path).with_context(|| {
            format!(
                "{path}: cannot read the data file; give --data-dir DIR, or download it with `veilgraph fetch DATASET`"
            )
        })?;
        if let Some(expected) = &self.sha256 {
            let found = sha256(&bytes);
            anyhow::ensure!(
                found == *expected,
                "{path}: checksum mismatch (SHA-256 {found}, expected {expected}); fetch the file again, or name your own files with `format` instead of `dataset`"
            );
        }
        Ok(bytes)
    }
}
