//! An experiment as a list of stage runs that feed each other.

mod cells;
mod mechanisms;
mod stages;

use std::path::Path;
use std::sync::Arc;

use veilgraph_graph::Construction;
use veilgraph_privacy::{Mechanism, Release};
use veilgraph_train::Device;

use crate::config::{Cell, Config, ConfigError, Holding, MetricGroup};
use crate::published::Published;
use crate::runnable::{RawHandle, Runnable};
use cells::Cells;
use mechanisms::Given;

/// The stages, in their order.
pub(crate) const STAGES: [&str; 7] =
    ["ingest", "privatize", "similarity", "estimate", "construct", "train", "evaluate"];

/// One run of a stage.
pub(crate) struct Task {
    pub runnable: Arc<dyn Runnable>,
    /// What distinguishes this run among those of its stage: swept values and trial.
    pub label: String,
    pub trial: Option<u32>,
    pub slots: Vec<Vec<Wire>>,
    /// What it releases about protected data.
    pub releases: Vec<Release>,
    /// About whom.
    pub population: String,
}

impl Task {
    /// The label without its trial.
    pub(crate) fn cell(&self) -> &str {
        self.label.rsplit_once("trial-").map_or(self.label.as_str(), |(cell, _)| cell.trim_end_matches(','))
    }
}

/// Where an input comes from.
#[derive(Clone)]
pub(crate) enum Wire {
    /// An output of an earlier task.
    Output { task: usize, artifact: &'static str },
    /// A file of the user.
    Raw(RawHandle),
}

/// What to run and with what.
pub(crate) struct Options<'a> {
    pub data_dir: Option<&'a Path>,
    pub published: Option<&'a Published>,
    pub until: Option<&'a str>,
    pub device: Device,
}

/// All runs of the experiment; each comes after those it reads from.
pub(crate) fn list(config: &Config, options: &Options) -> Result<Vec<Task>, ConfigError> {
    let last = STAGES.iter().position(|stage| Some(*stage) == options.until).unwrap_or(STAGES.len() - 1);
    let mut list = List { config, options, last, tasks: Vec::new(), name: Vec::new(), estimate: String::new() };
    // Alternatives differ after the ingest alone.
    for ingest in &Cells::of_ingest(config)? {
        let name = ingest.params.dataset.as_deref().unwrap_or(&config.name);
        let alternatives = config.alternatives(name, options.published)?;
        let alternatives: Vec<Cells> =
            alternatives.iter().map(|alternative| Cells::new(alternative, options)).collect::<Result<_, _>>()?;
        list.dataset(ingest, &alternatives)?;
    }
    Ok(list.tasks)
}

struct List<'a> {
    config: &'a Config,
    options: &'a Options<'a>,
    /// Position of the last stage that is wanted.
    last: usize,
    tasks: Vec<Task>,
    /// The alternative of the tasks at hand, and swept values of `[ingest]` other than the dataset's name.
    name: Vec<String>,
    /// The same with the swept values of `[similarity]`, `[estimate]` and `[construct]`: scores are told apart by it.
    estimate: String,
}

/// A dataset and what it can be used for.
#[derive(Clone, Copy)]
struct Ingested {
    ingest: usize,
    has_features: bool,
    has_labels: bool,
}

/// A trial's artifacts up to the graph.
#[derive(Clone, Copy)]
struct Repetition {
    from: Ingested,
    privatize: usize,
    /// Blink's posterior.
    estimate: Option<usize>,
    trial: u32,
}

impl List<'_> {
    fn reaches(&self, stage: &str) -> bool {
        STAGES.iter().position(|&other| other == stage).is_some_and(|position| position <= self.last)
    }

    /// Whether these scores are wanted, and scoring is reached.
    fn scores(&self, metrics: MetricGroup) -> bool {
        self.reaches("evaluate") && self.config.metrics.contains(&metrics)
    }

    fn dataset(&mut self, cell: &Cell<veilgraph_ingest::Params>, alternatives: &[Cells]) -> Result<(), ConfigError> {
        let params = &cell.params;
        let ingest = self.ingest(params, &cell.label)?;
        let has_features = params.has_features() && self.config.privacy.features == Holding::Public;
        let from = Ingested { ingest, has_features, has_labels: params.has_labels() };
        if !self.reaches("privatize") {
            return Ok(());
        }
        // Alternatives share what they have in common.
        let mut compared: Vec<(veilgraph_similarity::Params, usize)> = Vec::new();
        let swept = || cell.label.iter().filter(|part| !part.starts_with("dataset-")).cloned();
        for cells in alternatives {
            self.name = cells.name.iter().cloned().chain(swept()).collect();
            let mut similarities = Vec::new();
            let wants_similarity = cells.estimate.iter().any(|cell| cell.params.uses_features());
            if wants_similarity && !from.has_features {
                let name = params.dataset.as_deref().unwrap_or(&self.config.name);
                tracing::warn!("{name}: there are no features, so the prior uses degrees alone");
            } else if wants_similarity && self.reaches("similarity") {
                for similarity in &cells.similarity {
                    let known = compared.iter().find(|known| known.0 == similarity.params).map(|known| known.1);
                    let task = known.unwrap_or_else(|| {
                        let label = [cell.label.as_slice(), &cells.label, &similarity.label].concat();
                        self.similarity(&similarity.params, from, &label)
                    });
                    compared.push((similarity.params.clone(), task));
                    similarities.push((task, similarity.label.clone()));
                }
            }
            for privatize in &cells.privatize {
                let label = [cell.label.as_slice(), &cells.label, &privatize.label].concat();
                let population = self.config.population(params.dataset.as_deref());
                let trials = 0..self.config.trials + cells.search_trials;
                if privatize.params.mechanism != Mechanism::Blink {
                    self.estimate = self.name.join(", ");
                    for construct in cells.constructs_of(privatize.params.mechanism) {
                        let (privatize, estimate, label) =
                            (&privatize.params, &cells.estimate[0].params, label.clone());
                        self.given(cells, &Given { from, privatize, construct, estimate, population, label });
                    }
                    continue;
                }
                let privatized: Vec<usize> =
                    trials.map(|trial| self.privatize(&privatize.params, ingest, population, &label, trial)).collect();
                if self.reaches("estimate") {
                    self.estimates(cells, from, &privatized, &similarities, &label);
                }
            }
        }
        Ok(())
    }

    /// Every way to read the same reports.
    fn estimates(
        &mut self,
        cells: &Cells,
        from: Ingested,
        privatized: &[usize],
        similar: &[(usize, Vec<String>)],
        label: &[String],
    ) {
        for cell in &cells.estimate {
            let uses_similar = cell.params.uses_features() && !similar.is_empty();
            let similarities: Vec<(Option<usize>, &[String])> = if uses_similar {
                similar.iter().map(|(task, label)| (Some(*task), label.as_slice())).collect()
            } else {
                vec![(None, &[])]
            };
            for (similarity, similarity_label) in similarities {
                let swept = [similarity_label, &cell.label].concat();
                let label = [label, &swept].concat();
                let swept = [self.name.as_slice(), &swept].concat();
                self.estimate = swept.join(", ");
                let mut trials = Vec::new();
                for (trial, &privatize) in (0..).zip(privatized) {
                    let estimate = Some(self.estimate(&cell.params, privatize, similarity, &label, trial));
                    trials.push(Repetition { from, privatize, estimate, trial });
                }
                if self.scores(MetricGroup::LinkError) {
                    self.scored(&trials).iter().for_each(|&trial| self.evaluate_links(trial, &label));
                }
                if self.reaches("construct") {
                    self.graphs(cells, &trials, &swept, &label);
                }
            }
        }
    }

    /// The trials whose scores count; the others search the grid.
    fn scored<'t>(&self, trials: &'t [Repetition]) -> &'t [Repetition] {
        &trials[..self.config.trials as usize]
    }

    /// Every graph from the same posteriors, one per trial, and every network on it.
    fn graphs(&mut self, cells: &Cells, trials: &[Repetition], estimate: &[String], label: &[String]) {
        for cell in &cells.construct {
            let label = [label, &cell.label].concat();
            let variant = cell.params.variant;
            // The variant has a column of its own.
            let swept = cell.label.iter().filter(|part| !part.starts_with("variant-"));
            self.estimate = estimate.iter().chain(swept).cloned().collect::<Vec<_>>().join(", ");
            let graphs: Vec<usize> = trials.iter().map(|&trial| self.construct(&cell.params, trial, &label)).collect();
            if variant != Construction::Soft && self.scores(MetricGroup::Density) {
                for (&trial, &graph) in self.scored(trials).iter().zip(&graphs) {
                    self.evaluate_graph(trial, graph, variant, &label);
                }
            }
            self.networks(&cells.train, trials, &graphs, variant, &label);
        }
    }

    /// Every network on the same graphs, one per trial.
    fn networks(
        &mut self,
        cells: &[Cell<veilgraph_train::Params>],
        trials: &[Repetition],
        graphs: &[usize],
        variant: Construction,
        label: &[String],
    ) {
        let can_train = trials.iter().all(|trial| trial.from.has_features && trial.from.has_labels);
        let is_scored = self.config.metrics.contains(&MetricGroup::Accuracy) || !self.reaches("evaluate");
        if !(self.reaches("train") && can_train && is_scored) {
            return;
        }
        for cell in cells {
            let label = [label, &cell.label].concat();
            let (params, all) = (&cell.params, trials.iter().zip(graphs));
            let is_search = params.settings().len() > 1;
            let searched = all.clone().skip(self.config.trials as usize).filter(|_| is_search);
            let searched: Vec<usize> =
                searched.map(|(&trial, &graph)| self.search(params, (trial, graph), variant, &label)).collect();
            let chosen = (!searched.is_empty()).then(|| self.choose(params, &searched, &label));
            let trained: Vec<usize> = all
                .take(self.config.trials as usize)
                .map(|(&trial, &graph)| self.train(params, (trial, graph), variant, chosen, &label))
                .collect();
            if self.reaches("evaluate") {
                self.evaluate_predictions(trials[0], &trained, variant, params.model.name(), &label);
            }
        }
    }
}
