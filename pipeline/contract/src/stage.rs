//! A stage: a pure function from artifacts and parameters to artifacts.

use serde::{Serialize, de::DeserializeOwned};

use crate::inputs::{Inputs, Outputs};
use crate::random::StageRng;
use crate::side::Side;

/// One step of the pipeline. It reads no file, clock or environment.
pub trait Stage {
    /// Name of the stage, its crate, its config table, its Make target and its folder.
    const NAME: &'static str;
    /// Whether the result depends on the random streams (then seed and trial are part of the key).
    const RANDOM: bool;
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

/// Where a stage reports how far it is. It cannot influence the result.
pub struct Progress<'a>(Option<&'a (dyn Fn(u64, u64) + Sync)>);

impl<'a> Progress<'a> {
    /// Calls `listener(done, total)`.
    #[must_use]
    pub fn new(listener: &'a (dyn Fn(u64, u64) + Sync)) -> Self {
        Self(Some(listener))
    }

    /// Reports to nobody.
    #[must_use]
    pub fn none() -> Self {
        Self(None)
    }

    /// `done` of `total` steps are finished.
    pub fn report(&self, done: u64, total: u64) {
        if let Some(listener) = self.0 {
            listener(done, total);
        }
    }
}
