//! One run of each stage: its parameters and where its inputs come from.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use veilgraph_construct::Construct;
use veilgraph_estimate::Estimate;
use veilgraph_evaluate::{EvaluateGraph, EvaluateLinks, EvaluatePredictions};
use veilgraph_graph::Construction;
use veilgraph_ingest::Ingest;
use veilgraph_privatize::Privatize;
use veilgraph_similarity::Similarity;
use veilgraph_train::{ChooseSetting, SearchGrid, Train};

use super::{Ingested, List, Repetition, Task, Wire};
use crate::config::ConfigError;
use crate::datasets;
use crate::runnable::{Bound, RawHandle, Runnable};

/// What is released about whom.
pub(super) struct Release<'a> {
    pub params: &'a veilgraph_privatize::Params,
    pub population: &'a str,
    pub label: &'a [String],
    pub trial: u32,
}

impl List<'_> {
    pub(super) fn push(
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

    pub(super) fn ingest(&mut self, params: &veilgraph_ingest::Params, label: &[String]) -> Result<usize, ConfigError> {
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

    /// A data file: in the dataset's folder, in the data folder, beside the config, or beside published figures.
    fn path_of(&self, name: &str, params: &veilgraph_ingest::Params) -> PathBuf {
        let data = self.options.data_dir.map_or_else(|| self.config.folder().to_owned(), Path::to_owned);
        let folder = data.join(params.folder.as_deref().unwrap_or(""));
        let published = self.config.published.as_ref().map(|folder| folder.join(name));
        let mut places = vec![folder.join(name), data.join(name), self.config.folder().join(name)];
        places.extend(published);
        places.iter().find(|path| path.exists()).unwrap_or(&places[0]).clone()
    }

    pub(super) fn privatize(
        &mut self,
        params: &veilgraph_privatize::Params,
        ingest: usize,
        population: &str,
        label: &[String],
        trial: u32,
    ) -> usize {
        let release = Release { params, population, label, trial };
        self.release(Arc::new(Bound::<Privatize>::new(params.clone())), &release, vec![vec![wire(ingest, "links")]])
    }

    /// A task that releases something, with its rows of the ledger.
    pub(super) fn release(&mut self, runnable: Arc<dyn Runnable>, release: &Release, slots: Vec<Vec<Wire>>) -> usize {
        let task = self.push(runnable, release.label, Some(release.trial), slots);
        self.tasks[task].releases = release.params.releases();
        release.population.clone_into(&mut self.tasks[task].population);
        task
    }

    pub(super) fn similarity(
        &mut self,
        params: &veilgraph_similarity::Params,
        from: Ingested,
        label: &[String],
    ) -> usize {
        let labels = if from.has_labels { vec![wire(from.ingest, "labels")] } else { Vec::new() };
        let slots = vec![vec![wire(from.ingest, "nodes")], vec![wire(from.ingest, "features")], labels];
        self.push(Arc::new(Bound::<Similarity>::new(params.clone())), label, None, slots)
    }

    pub(super) fn estimate(
        &mut self,
        params: &veilgraph_estimate::Params,
        privatize: usize,
        similarity: Option<usize>,
        label: &[String],
        trial: u32,
    ) -> usize {
        let slots = vec![
            vec![wire(privatize, "noisy_links")],
            vec![wire(privatize, "noisy_degrees")],
            similarity.into_iter().map(|task| wire(task, "similar_pairs")).collect(),
        ];
        self.push(Arc::new(Bound::<Estimate>::new(params.clone())), label, Some(trial), slots)
    }

    pub(super) fn construct(
        &mut self,
        params: &veilgraph_construct::Params,
        from: Repetition,
        label: &[String],
    ) -> usize {
        let slots = vec![posterior(from, "link_model"), posterior(from, "link_evidence")];
        self.push(Arc::new(Bound::<Construct>::new(params.clone())), label, Some(from.trial), slots)
    }

    /// Trains the grid, or the setting that was chosen for it.
    pub(super) fn train(
        &mut self,
        params: &veilgraph_train::Params,
        (from, graph): (Repetition, usize),
        variant: Construction,
        chosen: Option<usize>,
        label: &[String],
    ) -> usize {
        let slots = training_slots(from, graph, variant, chosen);
        self.push(Arc::new(Bound::<Train>::new(params.clone())), label, Some(from.trial), slots)
    }

    /// Trains the grid to choose from it.
    pub(super) fn search(
        &mut self,
        params: &veilgraph_train::Params,
        (from, graph): (Repetition, usize),
        variant: Construction,
        label: &[String],
    ) -> usize {
        let slots = training_slots(from, graph, variant, None);
        self.push(Arc::new(Bound::<SearchGrid>::new(params.clone())), label, Some(from.trial), slots)
    }

    pub(super) fn choose(&mut self, params: &veilgraph_train::Params, searched: &[usize], label: &[String]) -> usize {
        let curves = searched.iter().map(|&task| wire(task, "curve")).collect();
        let label = [label, &["chosen".to_owned()]].concat();
        self.push(Arc::new(Bound::<ChooseSetting>::new(params.clone())), &label, None, vec![curves])
    }

    pub(super) fn evaluate_links(&mut self, from: Repetition, label: &[String]) {
        let slots = vec![
            vec![wire(from.from.ingest, "nodes")],
            vec![wire(from.privatize, "noisy_degrees")],
            posterior(from, "link_model"),
            posterior(from, "link_evidence"),
            vec![wire(from.from.ingest, "links")],
        ];
        let params = self.evaluate_params(from.trial, "", "");
        let label = [&["links".to_owned()], label].concat();
        self.push(Arc::new(Bound::<EvaluateLinks>::new(params)), &label, Some(from.trial), slots);
    }

    pub(super) fn evaluate_graph(&mut self, from: Repetition, graph: usize, variant: Construction, label: &[String]) {
        let slots = vec![
            vec![wire(from.from.ingest, "nodes")],
            vec![wire(from.privatize, "noisy_degrees")],
            vec![wire(graph, "graph")],
            vec![wire(from.from.ingest, "links")],
        ];
        let params = self.evaluate_params(from.trial, &variant.to_string(), "");
        let label = [&["graph".to_owned()], label].concat();
        self.push(Arc::new(Bound::<EvaluateGraph>::new(params)), &label, Some(from.trial), slots);
    }

    pub(super) fn evaluate_predictions(
        &mut self,
        from: Repetition,
        trained: &[usize],
        variant: Construction,
        model: &str,
        label: &[String],
    ) {
        let slots = vec![
            vec![wire(from.from.ingest, "nodes")],
            vec![wire(from.privatize, "noisy_degrees")],
            vec![wire(from.from.ingest, "held_out_labels")],
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

/// An artifact of Blink's posterior.
fn posterior(from: Repetition, artifact: &'static str) -> Vec<Wire> {
    from.estimate.into_iter().map(|task| wire(task, artifact)).collect()
}

fn training_slots(from: Repetition, graph: usize, variant: Construction, chosen: Option<usize>) -> Vec<Vec<Wire>> {
    // Only the soft graph needs the posterior; the others must stay fresh when it changes and they do not.
    let soft = |artifact| if variant == Construction::Soft { posterior(from, artifact) } else { Vec::new() };
    vec![
        vec![wire(from.from.ingest, "nodes")],
        vec![wire(from.from.ingest, "features")],
        vec![wire(from.from.ingest, "labels")],
        vec![wire(graph, "graph")],
        soft("link_model"),
        soft("link_evidence"),
        chosen.into_iter().map(|task| wire(task, "chosen_setting")).collect(),
    ]
}

pub(super) fn wire(task: usize, artifact: &'static str) -> Wire {
    Wire::Output { task, artifact }
}
