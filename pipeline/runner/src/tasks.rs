//! An experiment as a list of stage runs that feed each other.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use veilgraph_construct::Construct;
use veilgraph_estimate::Estimate;
use veilgraph_evaluate::{EvaluateGraph, EvaluateLinks, EvaluatePredictions};
use veilgraph_graph::Construction;
use veilgraph_ingest::Ingest;
use veilgraph_privacy::Release;
use veilgraph_privatize::Privatize;
use veilgraph_train::{Device, Train};

use crate::config::{Config, ConfigError, MetricGroup};
use crate::datasets;
use crate::runnable::{Bound, RawHandle, Runnable};

/// The stages, in their order.
pub(crate) const STAGES: [&str; 6] = ["ingest", "privatize", "estimate", "construct", "train", "evaluate"];

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
    let mut list = List { config, options, tasks: Vec::new(), estimate: String::new() };
    let last = STAGES.iter().position(|stage| Some(*stage) == options.until).unwrap_or(STAGES.len() - 1);
    list.expand(last)?;
    Ok(list.tasks)
}

struct List<'a> {
    config: &'a Config,
    options: &'a Options<'a>,
    tasks: Vec<Task>,
    /// Swept values of `[estimate]` of the tasks at hand: scores are told apart by them.
    estimate: String,
}

/// A trial's artifacts up to the posterior.
#[derive(Clone, Copy)]
struct Estimated {
    ingest: usize,
    privatize: usize,
    estimate: usize,
    trial: u32,
}

impl List<'_> {
    fn expand(&mut self, last: usize) -> Result<(), ConfigError> {
        let config = self.config;
        // Typed first, so that a mistake in any table is found before anything runs.
        let ingests = config.cells::<veilgraph_ingest::Params>("ingest", &config.ingest, &[])?;
        let privatizes = config.cells::<veilgraph_privatize::Params>("privatize.links", &config.privatize, &[])?;
        let estimates = config.cells::<veilgraph_estimate::Params>("estimate", &config.estimate, &[])?;
        let constructs = config.cells::<veilgraph_construct::Params>("construct", &config.construct, &[])?;
        let grid = ["learning_rate", "weight_decay", "dropout", "initial_seed"];
        let mut trains = config.cells::<veilgraph_train::Params>("train", &config.train, &grid)?;
        for train in &mut trains {
            train.params.check().map_err(|problem| config.error("train", &problem))?;
            if self.options.device != Device::Cpu {
                train.params.device = self.options.device;
            }
        }
        if config.is_deployment()
            && let Some(problem) = privatizes.iter().find_map(|cell| cell.params.refused_in_deployment())
        {
            return Err(config.error("privatize.links", &format!("in a deployment (randomness = \"os\"), {problem}")));
        }
        for ingest_cell in &ingests {
            let ingest = self.ingest(&ingest_cell.params, &ingest_cell.label)?;
            let population = config.population(ingest_cell.params.dataset.as_deref());
            let can_train = ingest_cell.params.has_features() && ingest_cell.params.has_labels();
            if last == 0 {
                continue;
            }
            for privatize_cell in &privatizes {
                let label = [ingest_cell.label.as_slice(), &privatize_cell.label].concat();
                let privatized: Vec<usize> = (0..config.trials)
                    .map(|trial| self.privatize(&privatize_cell.params, ingest, population, &label, trial))
                    .collect();
                if last == 1 {
                    continue;
                }
                for estimate_cell in &estimates {
                    self.estimate = estimate_cell.label.join(", ");
                    let label = [label.as_slice(), &estimate_cell.label].concat();
                    let estimated: Vec<Estimated> = (0..config.trials)
                        .map(|trial| {
                            let privatize = privatized[trial as usize];
                            let estimate = self.estimate(&estimate_cell.params, privatize, &label, trial);
                            Estimated { ingest, privatize, estimate, trial }
                        })
                        .collect();
                    if last == 5 && config.metrics.contains(&MetricGroup::LinkError) {
                        estimated.iter().for_each(|&from| self.evaluate_links(from, &label));
                    }
                    if last == 2 {
                        continue;
                    }
                    for construct_cell in &constructs {
                        let label = [label.as_slice(), &construct_cell.label].concat();
                        let variant = construct_cell.params.variant;
                        let graphs: Vec<usize> = estimated
                            .iter()
                            .map(|&from| self.construct(&construct_cell.params, from, &label))
                            .collect();
                        if last == 5 && variant != Construction::Soft && config.metrics.contains(&MetricGroup::Density)
                        {
                            for (&from, &graph) in estimated.iter().zip(&graphs) {
                                self.evaluate_graph(from, graph, variant, &label);
                            }
                        }
                        if last < 4 || !can_train || (last == 5 && !config.metrics.contains(&MetricGroup::Accuracy)) {
                            continue;
                        }
                        for train_cell in &trains {
                            let label = [label.as_slice(), &train_cell.label].concat();
                            let trained: Vec<usize> = estimated
                                .iter()
                                .zip(&graphs)
                                .map(|(&from, &graph)| self.train(&train_cell.params, from, graph, variant, &label))
                                .collect();
                            if last == 5 {
                                let model = train_cell.params.model.name();
                                self.evaluate_predictions(ingest, privatized[0], &trained, variant, model, &label);
                            }
                        }
                    }
                }
            }
        }
        Ok(())
    }

    fn push(
        &mut self,
        runnable: Arc<dyn Runnable>,
        label: &[String],
        trial: Option<u32>,
        slots: Vec<Vec<Wire>>,
    ) -> usize {
        let mut parts = label.to_vec();
        parts.extend(trial.map(|trial| format!("trial-{trial}")));
        let label = if parts.is_empty() { "all".to_owned() } else { parts.join(",") };
        self.tasks.push(Task { runnable, label, trial, slots, releases: Vec::new(), population: String::new() });
        self.tasks.len() - 1
    }

    fn ingest(&mut self, params: &veilgraph_ingest::Params, label: &[String]) -> Result<usize, ConfigError> {
        let files = params.files().map_err(|error| self.config.error("ingest", &error.to_string()))?;
        let checksums =
            params.dataset.as_deref().and_then(|name| datasets::named(name).ok()).map(|dataset| dataset.files);
        let raw = files.into_iter().map(|name| {
            let path = self.path_of(&name, params);
            let sha256 = checksums.as_ref().and_then(|files| files.get(&name)).map(|file| file.sha256.clone());
            Wire::Raw(RawHandle { name, path, sha256 })
        });
        let slots = vec![raw.collect()];
        Ok(self.push(Arc::new(Bound::<Ingest>::new(params.clone())), label, None, slots))
    }

    /// A data file: in the dataset's folder, in the data folder, or beside the config.
    fn path_of(&self, name: &str, params: &veilgraph_ingest::Params) -> PathBuf {
        let data = self.options.data_dir.map_or_else(|| self.config.folder().to_owned(), Path::to_owned);
        let folder = data.join(params.folder.as_deref().unwrap_or(""));
        let places = [folder.join(name), data.join(name), self.config.folder().join(name)];
        places.iter().find(|path| path.exists()).unwrap_or(&places[0]).clone()
    }

    fn privatize(
        &mut self,
        params: &veilgraph_privatize::Params,
        ingest: usize,
        population: &str,
        label: &[String],
        trial: u32,
    ) -> usize {
        let slots = vec![vec![wire(ingest, "links")]];
        let task = self.push(Arc::new(Bound::<Privatize>::new(params.clone())), label, Some(trial), slots);
        self.tasks[task].releases = params.releases();
        population.clone_into(&mut self.tasks[task].population);
        task
    }

    fn estimate(&mut self, params: &veilgraph_estimate::Params, from: usize, label: &[String], trial: u32) -> usize {
        let slots = vec![vec![wire(from, "noisy_links")], vec![wire(from, "noisy_degrees")]];
        self.push(Arc::new(Bound::<Estimate>::new(params.clone())), label, Some(trial), slots)
    }

    fn construct(&mut self, params: &veilgraph_construct::Params, from: Estimated, label: &[String]) -> usize {
        let slots = vec![vec![wire(from.estimate, "link_model")], vec![wire(from.estimate, "link_evidence")]];
        self.push(Arc::new(Bound::<Construct>::new(params.clone())), label, Some(from.trial), slots)
    }

    fn train(
        &mut self,
        params: &veilgraph_train::Params,
        from: Estimated,
        graph: usize,
        variant: Construction,
        label: &[String],
    ) -> usize {
        // Only the soft graph needs the posterior; the others must stay fresh when it changes and they do not.
        let posterior =
            |artifact| if variant == Construction::Soft { vec![wire(from.estimate, artifact)] } else { Vec::new() };
        let slots = vec![
            vec![wire(from.ingest, "nodes")],
            vec![wire(from.ingest, "features")],
            vec![wire(from.ingest, "labels")],
            vec![wire(graph, "graph")],
            posterior("link_model"),
            posterior("link_evidence"),
        ];
        self.push(Arc::new(Bound::<Train>::new(params.clone())), label, Some(from.trial), slots)
    }

    fn evaluate_links(&mut self, from: Estimated, label: &[String]) {
        let slots = vec![
            vec![wire(from.ingest, "nodes")],
            vec![wire(from.privatize, "noisy_degrees")],
            vec![wire(from.estimate, "link_model")],
            vec![wire(from.estimate, "link_evidence")],
            vec![wire(from.ingest, "links")],
        ];
        let params = self.evaluate_params(from.trial, "", "");
        let label = [&["links".to_owned()], label].concat();
        self.push(Arc::new(Bound::<EvaluateLinks>::new(params)), &label, Some(from.trial), slots);
    }

    fn evaluate_graph(&mut self, from: Estimated, graph: usize, variant: Construction, label: &[String]) {
        let slots = vec![
            vec![wire(from.ingest, "nodes")],
            vec![wire(from.privatize, "noisy_degrees")],
            vec![wire(graph, "graph")],
            vec![wire(from.ingest, "links")],
        ];
        let params = self.evaluate_params(from.trial, &variant.to_string(), "");
        let label = [&["graph".to_owned()], label].concat();
        self.push(Arc::new(Bound::<EvaluateGraph>::new(params)), &label, Some(from.trial), slots);
    }

    fn evaluate_predictions(
        &mut self,
        ingest: usize,
        privatize: usize,
        trained: &[usize],
        variant: Construction,
        model: &str,
        label: &[String],
    ) {
        let slots = vec![
            vec![wire(ingest, "nodes")],
            vec![wire(privatize, "noisy_degrees")],
            vec![wire(ingest, "held_out_labels")],
            trained.iter().map(|&task| wire(task, "predictions")).collect(),
            trained.iter().map(|&task| wire(task, "curve")).collect(),
        ];
        let params = self.evaluate_params(0, &variant.to_string(), model);
        let label = [&["predictions".to_owned()], label].concat();
        self.push(Arc::new(Bound::<EvaluatePredictions>::new(params)), &label, None, slots);
    }

    fn evaluate_params(&self, trial: u32, variant: &str, model: &str) -> veilgraph_evaluate::Params {
        let experiment = self.config.name.clone();
        let estimate = self.estimate.clone();
        veilgraph_evaluate::Params { experiment, trial, estimate, variant: variant.to_owned(), model: model.to_owned() }
    }
}

fn wire(task: usize, artifact: &'static str) -> Wire {
    Wire::Output { task, artifact }
}
