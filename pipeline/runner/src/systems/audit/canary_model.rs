//! Canaries in the training of a curator's model: fair coins decide labels of training nodes, and guesses from the model bound from
//! below what a node costs.

use veilgraph_audit::{CanariesOf, GuessFromModel, PlantParams, PlantTrainingLabels};
use veilgraph_contract::NoParams;
use veilgraph_evaluate::{CanaryParams, EvaluateRankedCanaries};

use super::canaries::{KIND, asked_for};
use super::{Attack, On, TABLE, fields_of};
use crate::config::ConfigError;
use crate::function::function;
use crate::plan::{Branch, Plan, Run};

/// Guesses from a curator's model.
pub(super) const ATTACK: Attack = Attack {
    name: "canary-model",
    on: On::Models,
    is_about_links: super::never,
    fields: fields_of::<PlantParams>,
    run: guess,
    functions: &[function::<PlantTrainingLabels>(), function::<GuessFromModel>()],
};

/// The data from which a curator's model is trained, with canaries, once for each trial, or as they are where none are asked for.
pub(in crate::systems) fn planted(plan: &mut Plan, data: &Branch) -> Result<Vec<Branch>, ConfigError> {
    let Some(params) = asked_for(plan)? else { return Ok(vec![data.clone()]) };
    if params.canaries_of != CanariesOf::TrainingLabels {
        // Another part of the config may have what is audited.
        if plan.config.alternative.is_some() {
            return Ok(vec![data.clone()]);
        }
        let problem = "a curator's model is audited by canaries_of = \"training-labels\"";
        return Err(plan.config.error(&format!("{TABLE}.{KIND}"), problem));
    }
    let run = Run { table: TABLE, step: "planted", ..Run::default() };
    let trials = plan.every_trial(data);
    trials.iter().map(|trial| plan.run::<PlantTrainingLabels>(&[trial], &params, run)).collect()
}

fn guess(plan: &mut Plan, models: &[Branch], _: &[f64]) -> Result<(), ConfigError> {
    let run = Run { table: TABLE, ..Run::default() };
    let mut guessed = Vec::new();
    for model in models {
        guessed.push(plan.run::<GuessFromModel>(&[model], &NoParams {}, run)?);
    }
    plan.score_under::<EvaluateRankedCanaries>(&guessed, &[], CanaryParams::from)
}
