//! `--partial`: what of an experiment has no scores yet, so that no cell is left out without a word.

use std::collections::{BTreeMap, BTreeSet};

use veilgraph_evaluate::metric;
use veilgraph_evaluate::{Cell, Metrics};
use veilgraph_runner::config::Config;
use veilgraph_runner::runs::{self, FailedTask};
use veilgraph_runner::task::{Done, Status, Task};
use veilgraph_store::{MemoryLimit, Store};

use super::summary::Row;

/// Why a score is missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Lack {
    /// It has not run, or would run anew.
    Missing,
    /// It failed in the last run, or something that it reads from did.
    Failed,
}

impl Lack {
    /// What stands in the place of the score.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Missing => "missing",
            Self::Failed => "failed",
        }
    }
}

/// Evaluations of one cell that have no scores.
#[derive(Debug)]
pub(crate) struct Gap {
    cell: Cell,
    /// Stage function of the evaluation.
    function: &'static str,
    /// Whether one evaluation is of all trials together, and not one of each trial.
    is_of_all: bool,
    /// Names of the scores that it writes.
    metrics: BTreeSet<String>,
    /// Evaluations without scores, and all of the cell: one for each trial, or one for all trials together.
    missing: usize,
    all: usize,
    lack: Lack,
    /// What failed, where something did.
    error: Option<String>,
}

/// Everything of an experiment that has no scores; empty where all has run.
pub(crate) fn gaps(store: &Store, config: &Config, tasks: &[Task], done: &[Done]) -> anyhow::Result<Vec<Gap>> {
    let failed = runs::failures(store, config);
    let errors = errors_behind(tasks, done, &failed);
    let mut gaps: Vec<Gap> = Vec::new();
    let mut places: BTreeMap<String, usize> = BTreeMap::new();
    let scoring = tasks
        .iter()
        .zip(done)
        .zip(errors)
        .filter(|((task, done), _)| task.stage == "evaluate" && !matches!(done.status, Status::Elsewhere));
    for ((task, done), error) in scoring {
        let Some(cell) = task.params.get("cell") else { continue };
        let cell: Cell = cell.clone().try_into()?;
        let place = *places.entry(format!("{} {cell:?}", task.function)).or_insert(gaps.len());
        if place == gaps.len() {
            gaps.push(Gap {
                cell,
                function: task.function,
                is_of_all: task.trial.is_none(),
                metrics: BTreeSet::new(),
                missing: 0,
                all: 0,
                lack: Lack::Missing,
                error: None,
            });
        }
        let gap = &mut gaps[place];
        gap.all += 1;
        if done.entry.is_none() {
            gap.missing += 1;
            if let Some(error) = error {
                (gap.lack, gap.error) = (Lack::Failed, Some(error));
            }
        }
    }
    gaps.retain(|gap| gap.missing > 0);
    for gap in &mut gaps {
        gap.metrics = metrics_of(gap.function, tasks, done)?;
    }
    Ok(gaps)
}

/// For each task without an entry, what failed in the last run on the way to it.
pub(crate) fn errors_behind(tasks: &[Task], done: &[Done], failed: &[FailedTask]) -> Vec<Option<String>> {
    let mut errors: Vec<Option<String>> = Vec::new();
    for (task, done) in tasks.iter().zip(done) {
        let own = failed
            .iter()
            .find(|row| row.stage == task.stage && row.function == task.function && task.labels.contains(&row.label));
        let own = own.map(|row| format!("{} {}: {}", row.stage, row.label, row.error));
        let inherited = || task.sources().find_map(|source| errors[source].clone());
        let error = if done.entry.is_some() { None } else { own.or_else(inherited) };
        errors.push(error);
    }
    errors
}

/// Marks what is missing in the rows, and adds a row for each cell that has no score at all.
pub(crate) fn mark(rows: &mut Vec<Row>, gaps: &[Gap]) {
    for gap in gaps {
        if !rows.iter().any(|row| row.cell == gap.cell) {
            let cell = gap.cell.clone();
            rows.push(Row { cell, setting: String::new(), scores: BTreeMap::new(), missing: BTreeMap::new() });
        }
        for row in rows.iter_mut().filter(|row| row.cell == gap.cell) {
            row.missing.extend(gap.metrics.iter().map(|metric| (metric.clone(), gap.lack)));
        }
    }
}

/// Names of the metrics that a stage function writes: those that it wrote elsewhere in this experiment, and what it is
/// mainly for.
fn metrics_of(function: &str, tasks: &[Task], done: &[Done]) -> anyhow::Result<BTreeSet<String>> {
    let main = match function {
        "links" => Some(&metric::AVERAGE_PRECISION),
        "features" => Some(&metric::FEATURE_MAE),
        "predictions" | "released-model" => Some(&metric::ACCURACY),
        "link-prediction" => Some(&metric::LINK_PREDICTION_AUC),
        _ => None,
    };
    let mut names: BTreeSet<String> = main.into_iter().map(|metric| metric.name.to_owned()).collect();
    let mine = tasks.iter().zip(done).filter(|(task, _)| task.stage == "evaluate" && task.function == function);
    if let Some(entry) = mine.filter_map(|(_, done)| done.entry.as_ref()).find(|entry| entry.is_complete()) {
        let metrics: Metrics = entry.read("metrics", MemoryLimit(u64::MAX))?;
        names.extend(metrics.rows.into_iter().map(|score| score.metric));
    }
    Ok(names)
}

impl Gap {
    /// Whether the gap is in these scores of this experiment and dataset.
    pub(crate) fn is_in(&self, experiment: &str, dataset: &str, metric: &str) -> bool {
        self.cell.experiment == experiment && self.cell.dataset == dataset && self.metrics.contains(metric)
    }

    /// One line about the gap.
    pub(crate) fn words(&self) -> String {
        let Self { cell, function, missing, all, error, .. } = self;
        let epsilon = format!("epsilon {}", cell.epsilon);
        let parts = [&cell.experiment, &cell.dataset, &cell.mechanism, &epsilon, &cell.variant, &cell.model];
        let named: Vec<String> =
            parts.into_iter().cloned().chain([cell.estimate()]).filter(|part| !part.is_empty()).collect();
        let why = error.as_ref().map_or_else(String::new, |error| format!(" ({error})"));
        let trials =
            if self.is_of_all { "all trials together".to_owned() } else { format!("{missing} of {all} trials") };
        let lacks = match self.lack {
            Lack::Missing => "is missing",
            Lack::Failed => "failed",
        };
        format!("evaluation `{function}` of {trials} {lacks}: {}{why}", named.join(", "))
    }
}
