//! An experiment as a list of tasks that feed each other.
//!
//! The systems (`systems/`) say which stage functions follow each other. The plan binds slots by the name and the zone
//! of artifacts, expands the tables of the config, merges equal tasks, and names every run after what it depends on.

mod binding;
mod branch;
mod call;
mod fields;
mod naming;
mod options;
mod until;

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use serde::de::DeserializeOwned;
use veilgraph_contract::{Draws, Release, Stage};

use crate::config::fields::leaves;
use crate::config::sweep::{SweptCell, SweptField};
use crate::config::{Config, ConfigError, MetricGroup};
use crate::task::{BoundSlot, RawHandle, STAGES, Task};
use binding::{Bound, bind};
pub use branch::rounded;
pub(crate) use branch::{Absence, Branch};
use call::{Call, Signature};
use fields::FieldsOfPlan;
pub(crate) use fields::KnownFields;
pub use options::Options;
use until::up_to;

/// An experiment while it is planned.
pub(crate) struct Plan<'a> {
    /// The config, or the alternative that is planned at present.
    pub config: Config,
    pub options: &'a Options<'a>,
    tasks: Vec<Task>,
    /// Tasks by everything that makes them what they are.
    known: BTreeMap<String, usize>,
    fields: FieldsOfPlan,
    /// What was said about the plan already.
    warned: BTreeSet<String>,
}

/// How a run of a stage function is named, and what it reads beside artifacts.
#[derive(Clone, Copy, Default)]
pub(crate) struct Run<'a> {
    /// Table of the parameters; choices of this table are part of the run's name.
    pub table: &'a str,
    /// A further part of the run's name, where the same function runs twice under the same choices.
    pub step: &'a str,
    /// Files of the user.
    pub files: &'a [RawHandle],
    /// Whether the run belongs to no trial because it is made from all of them.
    pub is_over_trials: bool,
}

impl<'a> Plan<'a> {
    /// Says something about the plan once, however many of its runs it is about.
    pub(crate) fn warn(&mut self, text: String) {
        if !self.warned.contains(&text) {
            tracing::warn!("{text}");
            self.warned.insert(text);
        }
    }

    pub(crate) fn new(config: &Config, options: &'a Options<'a>) -> Self {
        Self {
            config: config.clone(),
            options,
            tasks: Vec::new(),
            known: BTreeMap::new(),
            fields: FieldsOfPlan::default(),
            warned: BTreeSet::new(),
        }
    }

    /// The tasks so far, of all datasets and alternatives.
    pub(crate) fn tasks(&self) -> &[Task] {
        &self.tasks
    }

    /// The tasks, each after those that it reads from.
    ///
    /// # Errors
    /// When the config has a table or a field that no stage function of the plan reads.
    pub(crate) fn finish(self, config: &Config, known: &KnownFields) -> Result<Vec<Task>, ConfigError> {
        self.fields.check(config, known)?;
        naming::check_names(&self.tasks)?;
        Ok(match self.options.until {
            Some(until) => up_to(self.tasks, until),
            None => self.tasks,
        })
    }

    /// Whether scores of this kind are wanted.
    pub(crate) fn wants(&self, metrics: MetricGroup) -> bool {
        self.config.metrics.contains(&metrics)
    }

    /// Lays an alternative over the config; what is planned from now on follows it.
    pub(crate) fn take_up(&mut self, alternative: Config) {
        self.fields.begin(alternative.is_usual_floor);
        for stage in STAGES {
            let table = alternative.table(stage);
            if alternative.tables.contains_key(stage) {
                self.fields.given(stage, &leaves(&table, stage));
            }
        }
        self.config = alternative;
    }

    /// Fields of a table that the plan passes over without reading them: no mistake.
    pub(crate) fn pass_over(&mut self, table: &str) {
        let all = leaves(&self.config.table(table), table);
        self.fields.read(table, all);
    }

    /// A field that the wiring of a system reads itself.
    pub(crate) fn read_field(&mut self, table: &str, field: &str) {
        self.fields.read(table, [format!("{table}.{field}")]);
    }

    /// The cells of a table for parameters of type `P`; see [`Config::cells`].
    pub(crate) fn cells<P: Serialize + DeserializeOwned>(
        &mut self,
        table: &str,
        grid: &[&str],
        adjust: impl Fn(&mut P) -> Result<(), String>,
    ) -> Result<Vec<SweptCell<P>>, ConfigError> {
        self.prepared_cells(table, grid, Ok, adjust)
    }

    /// The cells of a table for the parameters of `S`, which refuses those that it never accepts.
    pub(crate) fn cells_of<S: Stage>(
        &mut self,
        table: &str,
        grid: &[&str],
    ) -> Result<Vec<SweptCell<S::Params>>, ConfigError> {
        self.cells::<S::Params>(table, grid, |params| S::check_params(params).map_err(|error| error.to_string()))
    }

    /// The cells of a table for parameters of type `P`, with untyped ones completed by `prepare` first.
    pub(crate) fn prepared_cells<P: Serialize + DeserializeOwned>(
        &mut self,
        table: &str,
        grid: &[&str],
        prepare: impl Fn(toml::Table) -> Result<toml::Table, ConfigError>,
        adjust: impl Fn(&mut P) -> Result<(), String>,
    ) -> Result<Vec<SweptCell<P>>, ConfigError> {
        let (cells, unread) = self.config.cells(table, grid, prepare, adjust)?;
        self.read_all_but(table, &unread);
        Ok(cells)
    }

    fn read_all_but(&mut self, table: &str, unread: &[String]) {
        let read = leaves(&self.config.table(table), "").into_iter().filter(|field| !unread.contains(field));
        self.fields.read(table, read.map(|field| format!("{table}.{field}")));
    }

    /// `S` once for each branch and each cell of a table, in every trial if it draws.
    pub(crate) fn sweep<S: Stage>(&mut self, from: &[Branch], table: &str) -> Result<Vec<Branch>, ConfigError> {
        let cells = self.cells_of::<S>(table, &[])?;
        self.sweep_cells::<S>(from, table, &cells)
    }

    /// The same for cells that were read before.
    pub(crate) fn sweep_cells<S: Stage>(
        &mut self,
        from: &[Branch],
        table: &str,
        cells: &[SweptCell<S::Params>],
    ) -> Result<Vec<Branch>, ConfigError> {
        let mut made = Vec::new();
        for cell in cells {
            for branch in from {
                for branch in self.trials_of::<S>(branch) {
                    let branch = branch.with(&cell.choices);
                    made.push(self.run::<S>(&[&branch], &cell.params, Run { table, ..Run::default() })?);
                }
            }
        }
        Ok(made)
    }

    /// `branch` once for each trial if `S` draws in every trial and no trial has been told apart yet; else itself.
    pub(crate) fn trials_of<S: Stage>(&self, branch: &Branch) -> Vec<Branch> {
        if S::DRAWS == Draws::EveryTrial { self.every_trial(branch) } else { vec![branch.clone()] }
    }

    /// `branch` once for each trial, if no trial has been told apart yet; else itself.
    pub(crate) fn every_trial(&self, branch: &Branch) -> Vec<Branch> {
        if branch.trial.is_some() {
            return vec![branch.clone()];
        }
        let all = 0..self.config.trials + branch.search_trials;
        all.map(|trial| branch.in_trial(trial)).collect()
    }

    /// One run of `S`. A slot for many artifacts takes one from every branch. A slot for one artifact takes the one that
    /// all branches have in common. The outputs join the last branch.
    ///
    /// Where an artifact is absent (not in the data, or withheld) no task is added, and the outputs are absent too. Where a task of the same function, parameters and inputs is known, no task is added either.
    ///
    /// # Errors
    /// When the function refuses the parameters. When a slot is filled by nobody, or an output has another maker: mistakes in the
    /// wiring of a system.
    pub(crate) fn run<S: Stage>(
        &mut self,
        from: &[&Branch],
        params: &S::Params,
        run: Run,
    ) -> Result<Branch, ConfigError> {
        S::check_params(params).map_err(|error| self.config.error(run.table, &error.to_string()))?;
        self.run_call(from, Call::new::<S>(params), run)
    }

    /// A score of every branch: each trial by itself. It is named by the choices on which its inputs depend, and states
    /// what these cost: where features are swept, scores of links are the same and are made once.
    pub(crate) fn score<S>(&mut self, of: &[Branch]) -> Result<(), ConfigError>
    where
        S: Stage<Params = veilgraph_evaluate::Params>,
    {
        self.score_under::<S>(of, &[], |params| params)
    }

    /// The same under further choices, of which the inputs know nothing.
    pub(crate) fn score_under<S: Stage>(
        &mut self,
        of: &[Branch],
        further: &[SweptField],
        params: impl Fn(veilgraph_evaluate::Params) -> S::Params,
    ) -> Result<(), ConfigError> {
        let (trials, table) = (self.config.trials, further.first().map_or("", SweptField::stage));
        let function = Signature::of::<S>();
        for branch in of.iter().filter(|branch| branch.is_scored(trials)) {
            let (read, trial) = (self.as_read(branch, &function)?.with(further), branch.trial.unwrap_or(0));
            let params = params(self.named(&read, trial));
            self.run::<S>(&[&read], &params, Run { table, ..Run::default() })?;
        }
        Ok(())
    }

    /// The branch with the choices and releases alone on which the inputs of a function depend.
    fn as_read(&self, branch: &Branch, function: &Signature) -> Result<Branch, ConfigError> {
        let mut read = branch.clone();
        if let Bound::Filled(inputs) = bind(function, &[branch], &[])? {
            read.choices.retain(|choice| inputs.choices.iter().any(|known| known.field == choice.field));
            read.releases = self.releases_behind(&inputs, branch.trial);
        }
        Ok(read)
    }

    /// Everything that was released on the way to these inputs, in this trial: other trials that chose a setting are
    /// repetitions, of which every score states one.
    fn releases_behind(&self, inputs: &binding::Inputs, trial: Option<u32>) -> Vec<Release> {
        let mut open: Vec<usize> = inputs.slots.iter().flat_map(BoundSlot::sources).collect();
        let mut known: BTreeSet<usize> = BTreeSet::new();
        while let Some(task) = open.pop() {
            let is_of_trial = trial.is_none() || self.tasks[task].trial.is_none_or(|other| Some(other) == trial);
            if is_of_trial && known.insert(task) {
                open.extend(self.tasks[task].sources());
            }
        }
        known.into_iter().flat_map(|task| self.tasks[task].releases.iter().cloned()).collect()
    }

    /// One score over all branches: the trials of one cell.
    pub(crate) fn score_together<S>(&mut self, of: &[Branch]) -> Result<(), ConfigError>
    where
        S: Stage<Params = veilgraph_evaluate::Params>,
    {
        let Some(first) = of.first() else { return Ok(()) };
        let params = self.named(first, 0);
        let all: Vec<&Branch> = of.iter().collect();
        self.run::<S>(&all, &params, Run { is_over_trials: true, ..Run::default() }).map(|_| ())
    }

    /// What a score of this branch is about.
    fn named(&self, branch: &Branch, trial: u32) -> veilgraph_evaluate::Params {
        veilgraph_evaluate::Params { cell: branch.cell(&self.config.name), trial }
    }
}

#[cfg(test)]
mod tests;
