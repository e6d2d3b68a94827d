//! A stage function and its parameters without their types: the plan is compiled once, and not for every function.

use veilgraph_contract::{Draws, Inputs, Outputs, Release, Side, Slot, Stage};

use super::binding::{Bound, bind};
use super::branch::{Branch, Made};
use super::{Plan, Run};
use crate::config::ConfigError;
use crate::config::sweep::written;
use crate::task::Wire;

/// What the plan asks of a stage function.
pub(super) struct Signature {
    pub stage: &'static str,
    pub name: &'static str,
    pub side: &'static str,
    pub draws: Draws,
    pub inputs: Vec<Slot>,
    pub outputs: Vec<Slot>,
}

/// A stage function with the parameters of one run.
pub(super) struct Call {
    pub of: Signature,
    pub params: toml::Value,
    pub releases: Vec<Release>,
}

impl Signature {
    pub(super) fn of<S: Stage>() -> Self {
        Self {
            stage: S::STAGE,
            name: S::TASK,
            side: S::Side::NAME,
            draws: S::DRAWS,
            inputs: S::Inputs::slots(),
            outputs: S::Outputs::slots(),
        }
    }

    /// A mistake in the wiring of a system.
    pub(super) fn bug(&self, problem: &str) -> ConfigError {
        let Self { stage, name, .. } = self;
        ConfigError(format!("{stage} {name}: {problem}; correct the wiring in pipeline/runner/src/systems"))
    }
}

impl Call {
    pub(super) fn new<S: Stage>(params: &S::Params) -> Self {
        Self { of: Signature::of::<S>(), params: written(params), releases: S::releases(params) }
    }
}

impl Plan<'_> {
    /// See [`Plan::run`].
    pub(super) fn run_call(&mut self, from: &[&Branch], call: Call, run: Run) -> Result<Branch, ConfigError> {
        let function = &call.of;
        let Some(last) = from.last() else { return Err(function.bug("it is run on no branch")) };
        let made = match bind(function, from, run.files)? {
            Bound::Filled(inputs) => Ok(self.task(last, &call, inputs, run)?),
            Bound::Absent(absence) => Err(absence),
        };
        let mut branch = (*last).clone();
        for &output in &function.outputs {
            let mut inputs = function.inputs.iter();
            let is_replaced = inputs.any(|input| (input.artifact, input.zone) == (output.artifact, output.zone));
            if branch.is_made(output) && !is_replaced {
                return Err(function.bug(&format!(
                    "it makes `{}`, which another stage function of this way through the experiment made; drop that \
                     one first",
                    output.artifact
                )));
            }
            branch.set(
                output,
                match &made {
                    Ok((task, choices)) => {
                        Made::By(Wire::Output { task: *task, artifact: output.artifact }, choices.clone())
                    }
                    Err(absence) => Made::Not(*absence),
                },
            );
        }
        branch.releases.extend(call.releases);
        Ok(branch)
    }

    /// Says that a task releases what an earlier one releases.
    pub(crate) fn mark_repeated(&mut self, task: usize) {
        self.tasks[task].repeats = true;
    }
}
