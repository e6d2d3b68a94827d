//! A run becomes a task: named after what it depends on, and merged with an equal one.

use veilgraph_contract::{Draws, Relation, Release, Stage, Subject};
use veilgraph_ingest::Ingest;
use veilgraph_privacy::composition::total_epsilon;

use std::collections::BTreeMap;
use std::sync::Arc;

use super::binding::Inputs;
use super::call::{Call, Signature};
use super::{Branch, Plan, Run};
use crate::config::ConfigError;
use crate::config::sweep::{SweptField, canonical};
use crate::kind::TaskKind;
use crate::task::{BoundSlot, Task, Wire, drawn_trial};

/// Above this cost of one part of a report, a deployment is refused: one bit in 500 million would be flipped.
const MOST_NATS_PER_PART: f64 = 20.0;

impl Plan<'_> {
    /// The task with these inputs, which may be known, and the choices under which this way needs it.
    pub(super) fn task(
        &mut self,
        branch: &Branch,
        call: &Call,
        inputs: Inputs,
        run: Run,
    ) -> Result<(usize, Arc<[SweptField]>), ConfigError> {
        let Call { of: function, params, releases } = call;
        if self.config.is_deployment() {
            self.check_deployment(releases, run.table)?;
        }
        let Inputs { slots, mut choices } = inputs;
        let mut trial = slots.iter().flat_map(BoundSlot::sources).find_map(|source| self.tasks[source].trial);
        // A score is of one trial even where its inputs are the same in all.
        if function.draws == Draws::EveryTrial || function.stage == "evaluate" {
            trial = branch.trial;
        }
        if run.is_over_trials {
            trial = None;
        }
        let own = |choice: &&SweptField| !run.table.is_empty() && choice.field.starts_with(&format!("{}.", run.table));
        choices.extend(branch.choices.iter().filter(own).cloned());
        branch.in_order(&mut choices);
        let cell = self.cell_label(function, &choices, run.step);
        let parts = [cell.clone(), trial.map_or_else(String::new, |trial| format!("trial-{trial}"))];
        let label = parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(",");
        let label = if label.is_empty() { "all".to_owned() } else { label };
        let canonical = canonical(params);
        let population = if releases.is_empty() { String::new() } else { branch.population.clone() };
        let drawn = drawn_trial(function.draws, trial);
        let wires: Vec<&[Wire]> = slots.iter().map(|slot| slot.wires.as_slice()).collect();
        let (stage, name) = (function.stage, function.name);
        let identity = format!("{stage} {name} {canonical} {wires:?} {drawn:?} {population}");
        if let Some(&known) = self.known.get(&identity) {
            if !self.tasks[known].labels.contains(&label) {
                self.tasks[known].labels.push(label);
            }
            return Ok((known, choices.into()));
        }
        let kinds = slots.iter().flat_map(BoundSlot::sources).map(|source| &self.tasks[source].kind);
        let filled = slots.iter().filter(|slot| !slot.wires.is_empty()).map(|slot| slot.slot.artifact);
        let filled: Vec<&str> = filled.collect();
        let kind = TaskKind::of(stage, name, &canonical, &filled, run.files, kinds);
        self.known.insert(identity, self.tasks.len());
        self.tasks.push(Task {
            stage,
            function: name,
            side: function.side,
            draws: function.draws,
            params: params.clone(),
            canonical,
            slots,
            labels: vec![label],
            cell,
            trial,
            releases: releases.clone(),
            repeats: false,
            population,
            kind,
        });
        Ok((self.tasks.len() - 1, choices.into()))
    }

    /// The name of a run without its trial: choices of `[ingest]`, the alternative, all other choices, the step.
    fn cell_label(&self, function: &Signature, choices: &[SweptField], step: &str) -> String {
        let is_of_data = |choice: &&SweptField| choice.stage() == "ingest";
        let mut parts: Vec<String> = Vec::new();
        if function.stage == "evaluate" {
            parts.push(function.name.to_owned());
        }
        parts.extend(choices.iter().filter(is_of_data).map(SweptField::label));
        // Datasets are read before alternatives differ.
        if (function.stage, function.name) != (Ingest::STAGE, Ingest::TASK) {
            parts.extend(self.config.label.iter().cloned());
        }
        parts.extend(choices.iter().filter(|choice| !is_of_data(choice)).map(SweptField::label));
        parts.push(step.to_owned());
        parts.retain(|part| !part.is_empty());
        parts.join(",")
    }

    /// Refuses a release that must not leave the laboratory.
    fn check_deployment(&self, releases: &[Release], table: &str) -> Result<(), ConfigError> {
        // What the smallest thing that a report speaks of costs: a bit, a feature, a class.
        let per_part = |release: &Release| {
            let parts = [Relation::ListBit, Relation::FeatureCoord, Relation::Label];
            parts.into_iter().map(|relation| total_epsilon([release], relation)).fold(0.0, f64::max)
        };
        let problem = if let Some(release) = releases.iter().find(|release| !release.sound) {
            match release.subject {
                Subject::Links | Subject::Degrees => {
                    "degree_noise = \"laplace\" leaks through its floating-point bits; use \"discrete-laplace\""
                        .to_owned()
                }
                _ => format!("this release does not protect as executed ({}); declare a range", release.why),
            }
        } else if let Some(release) = releases.iter().find(|release| release.cost.epsilon().is_infinite()) {
            let what = release.subject.name();
            format!("the {what}s themselves are released; choose a finite epsilon and a mechanism that protects")
        } else if releases.iter().any(|release| per_part(release) > MOST_NATS_PER_PART) {
            "a part of a report may cost at most 20 nats per list bit, feature or label, for beyond that hardly one is ever \
             changed"
                .to_owned()
        } else {
            return Ok(());
        };
        Err(self.config.error(table, &format!("in a deployment (randomness = \"os\"), {problem}")))
    }
}

/// Most bytes of a readable name, which is the name of a folder, and of a file with an ending.
const MOST_BYTES: usize = 255 - ".csv".len();

/// Refuses two runs of one stage function with one name, because the names of the run would lead to the wrong files, and names
/// that no folder can have.
pub(super) fn check_names(tasks: &[Task]) -> Result<(), ConfigError> {
    let mut known = BTreeMap::new();
    for (index, task) in tasks.iter().enumerate() {
        for label in &task.labels {
            if label.len() > MOST_BYTES {
                return Err(ConfigError(format!(
                    "a run of {} would be called `{label}`, which is too long for a folder; give alternatives shorter names, or \
                     sweep fewer fields",
                    task.stage
                )));
            }
            if known.insert((task.stage, task.function, label), index).is_some() {
                return Err(ConfigError(format!(
                    "two different runs of {} {} would be called `{label}`; give alternatives other names, or report this",
                    task.stage, task.function
                )));
            }
        }
    }
    Ok(())
}
