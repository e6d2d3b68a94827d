//! An experiment as a list of stage runs that feed each other.

mod stages;

use std::path::Path;
use std::sync::Arc;

use veilgraph_graph::Construction;
use veilgraph_privacy::Release;
use veilgraph_train::Device;

use crate::config::{Cell, Config, ConfigError, Holding, MetricGroup};
use crate::runnable::{RawHandle, Runnable};

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
    pub until: Option<&'a str>,
    pub device: Device,
}

/// All runs of the experiment; each comes after those it reads from.
pub(crate) fn list(config: &Config, options: &Options) -> Result<Vec<Task>, ConfigError> {
    let last = STAGES.iter().position(|stage| Some(*stage) == options.until).unwrap_or(STAGES.len() - 1);
    let alternatives = config.alternatives()?;
    let alternatives: Vec<Cells> =
        alternatives.iter().map(|alternative| Cells::new(alternative, options)).collect::<Result<_, _>>()?;
    let mut list = List { config, options, last, tasks: Vec::new(), estimate: String::new() };
    // They differ after the ingest alone.
    for ingest in &alternatives[0].ingest {
        list.dataset(ingest, &alternatives)?;
    }
    Ok(list.tasks)
}

/// The tables of the config, typed and expanded: a mistake in any is found before anything runs.
struct Cells {
    /// Name of the alternative, if there are several.
    name: Vec<String>,
    ingest: Vec<Cell<veilgraph_ingest::Params>>,
    privatize: Vec<Cell<veilgraph_privatize::Params>>,
    similarity: Vec<Cell<veilgraph_similarity::Params>>,
    estimate: Vec<Cell<veilgraph_estimate::Params>>,
    construct: Vec<Cell<veilgraph_construct::Params>>,
    train: Vec<Cell<veilgraph_train::Params>>,
}

impl Cells {
    fn new(config: &Config, options: &Options) -> Result<Self, ConfigError> {
        let grid = ["learning_rate", "weight_decay", "dropout", "initial_seed"];
        let mut cells = Self {
            name: config.alternative.iter().cloned().collect(),
            ingest: config.cells("ingest", &config.ingest, &[])?,
            privatize: config.cells("privatize.links", &config.privatize, &[])?,
            similarity: config.cells("similarity", &config.similarity, &[])?,
            estimate: config.cells("estimate", &config.estimate, &[])?,
            construct: config.cells("construct", &config.construct, &[])?,
            train: config.cells("train", &config.train, &grid)?,
        };
        for train in &mut cells.train {
            train.params.check().map_err(|problem| config.error("train", &problem))?;
            if options.device != Device::Cpu {
                train.params.device = options.device;
            }
        }
        if config.is_deployment()
            && let Some(problem) = cells.privatize.iter().find_map(|cell| cell.params.refused_in_deployment())
        {
            return Err(config.error("privatize.links", &format!("in a deployment (randomness = \"os\"), {problem}")));
        }
        if config.privacy.features == Holding::Withheld && cells.estimate.iter().any(|cell| cell.params.uses_features())
        {
            let problem =
                "the prior reads features that the server does not hold; set [estimate] prior = \"beta-model\"";
            return Err(config.error("privacy.features", problem));
        }
        Ok(cells)
    }
}

struct List<'a> {
    config: &'a Config,
    options: &'a Options<'a>,
    /// Position of the last stage that is wanted.
    last: usize,
    tasks: Vec<Task>,
    /// The alternative and the swept values of `[similarity]`, `[estimate]` and `[construct]` of the tasks at hand:
    /// scores are told apart by them.
    estimate: String,
}

/// A dataset and what it can be used for.
#[derive(Clone, Copy)]
struct Ingested {
    ingest: usize,
    has_features: bool,
    has_labels: bool,
}

/// A trial's artifacts up to the posterior.
#[derive(Clone, Copy)]
struct Estimated {
    from: Ingested,
    privatize: usize,
    estimate: usize,
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
        for cells in alternatives {
            let mut similarities = Vec::new();
            let wants_similarity = cells.estimate.iter().any(|cell| cell.params.uses_features());
            if wants_similarity && !from.has_features {
                let name = params.dataset.as_deref().unwrap_or(&self.config.name);
                tracing::warn!("{name}: there are no features, so the prior uses degrees alone");
            } else if wants_similarity && self.reaches("similarity") {
                for similarity in &cells.similarity {
                    let known = compared.iter().find(|known| known.0 == similarity.params).map(|known| known.1);
                    let task = known.unwrap_or_else(|| {
                        let label = [cell.label.as_slice(), &cells.name, &similarity.label].concat();
                        self.similarity(&similarity.params, from, &label)
                    });
                    compared.push((similarity.params.clone(), task));
                    similarities.push((task, similarity.label.clone()));
                }
            }
            for privatize in &cells.privatize {
                let label = [cell.label.as_slice(), &cells.name, &privatize.label].concat();
                let population = self.config.population(params.dataset.as_deref());
                let privatized: Vec<usize> = (0..self.config.trials)
                    .map(|trial| self.privatize(&privatize.params, ingest, population, &label, trial))
                    .collect();
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
                let swept = [cells.name.as_slice(), &swept].concat();
                self.estimate = swept.join(", ");
                let mut estimated = Vec::new();
                for (trial, &privatize) in (0..).zip(privatized) {
                    let estimate = self.estimate(&cell.params, privatize, similarity, &label, trial);
                    estimated.push(Estimated { from, privatize, estimate, trial });
                }
                if self.scores(MetricGroup::LinkError) {
                    estimated.iter().for_each(|&from| self.evaluate_links(from, &label));
                }
                if self.reaches("construct") {
                    self.graphs(cells, &estimated, &swept, &label);
                }
            }
        }
    }

    /// Every graph from the same posteriors, one per trial, and every network on it.
    fn graphs(&mut self, cells: &Cells, estimated: &[Estimated], estimate: &[String], label: &[String]) {
        for cell in &cells.construct {
            let label = [label, &cell.label].concat();
            let variant = cell.params.variant;
            // The variant has a column of its own.
            let swept = cell.label.iter().filter(|part| !part.starts_with("variant-"));
            self.estimate = estimate.iter().chain(swept).cloned().collect::<Vec<_>>().join(", ");
            let graphs: Vec<usize> = estimated.iter().map(|&from| self.construct(&cell.params, from, &label)).collect();
            if variant != Construction::Soft && self.scores(MetricGroup::Density) {
                for (&from, &graph) in estimated.iter().zip(&graphs) {
                    self.evaluate_graph(from, graph, variant, &label);
                }
            }
            let can_train = estimated.iter().all(|estimated| estimated.from.has_features && estimated.from.has_labels);
            let is_scored = self.config.metrics.contains(&MetricGroup::Accuracy) || !self.reaches("evaluate");
            if !(self.reaches("train") && can_train && is_scored) {
                continue;
            }
            for cell in &cells.train {
                let label = [label.as_slice(), &cell.label].concat();
                let trials = estimated.iter().zip(&graphs);
                let trained: Vec<usize> =
                    trials.map(|(&from, &graph)| self.train(&cell.params, from, graph, variant, &label)).collect();
                if self.reaches("evaluate") {
                    self.evaluate_predictions(estimated[0], &trained, variant, cell.params.model.name(), &label);
                }
            }
        }
    }
}
