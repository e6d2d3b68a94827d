//! `predict`: a trained model on the graphs of an experiment.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use anyhow::{Context, ensure};
use veilgraph_contract::{Artifact, Slot, Stage};
use veilgraph_graph::{Construction, Features, ModelPredictions, NodeMap, WeightedGraph};
use veilgraph_ingest::Ingest;
use veilgraph_runner::progress::Display;
use veilgraph_runner::task::{Done, Task};
use veilgraph_runner::{output, registry};
use veilgraph_store::{Entry, MemoryLimit, Readable, Store};
use veilgraph_train::SavedModel;

use crate::cli::RunArguments;
use crate::new_files::{cannot_write, write_new, write_whole_folder};
use crate::{experiment, show};

/// Makes the graphs of an experiment and writes what the model says about their nodes.
pub(crate) fn predict(
    store: &Store,
    model: &Path,
    number: Option<u32>,
    to: &Path,
    mut arguments: RunArguments,
    quiet: bool,
) -> anyhow::Result<()> {
    let model = &show::place(store, model, "model.safetensors")?.unwrap_or_else(|| model.to_owned());
    let bytes = fs::read(model).with_context(|| {
        format!(
            "{}: cannot read the model; name a run of the stage train that trained a network for the server (`veilgraph ls`), or \
             its model.safetensors",
            model.display()
        )
    })?;
    let saved = SavedModel::parse(&bytes, number).with_context(|| format!("{}: not a model", model.display()))?;
    ensure!(!to.exists(), "{}: exists already; name a folder that does not", to.display());
    arguments.until = Some("construct".to_owned());
    let memory = experiment::memory_limit(arguments.memory_limit);
    let (config, tasks) = experiment::prepare_one(&arguments)?;
    let mechanisms = config.values_anywhere("privatize.features", "mechanism");
    let are_as_given =
        mechanisms.iter().all(|name| name.as_str() == Some("public")) && config.table("estimate.features").is_empty();
    ensure!(
        are_as_given,
        "{} estimates or propagates features, and a model is applied to public features as they are; read what the run \
         itself predicted (`veilgraph ls`, artifact `predictions`)",
        config.name
    );
    // What does not fit is told before links are released: data are read first.
    check_graphs(&config.name, &tasks)?;
    let ingests = ingests(&tasks);
    let read = experiment::bring(store, &config, ingests, &arguments, false, &Display::new(ingests, 1, quiet))?;
    let read_in_training = features_of_training(store, &bytes)?;
    for (task, done) in ingests.iter().zip(&read) {
        check_features(&saved, done, memory).with_context(|| cannot_be_applied(task))?;
        check_scale(&read_in_training, done).with_context(|| cannot_be_applied(task))?;
    }
    let display = Display::new(&tasks, 1, quiet);
    let done = experiment::bring(store, &config, &tasks, &arguments, false, &display)?;
    let mut files = Vec::new();
    for (task, done_task) in tasks.iter().zip(&done) {
        let Some(entry) = done_task.entry.as_ref().filter(|entry| has_graph(entry)) else { continue };
        let graph: WeightedGraph = entry.read(WeightedGraph::NAME, memory)?;
        let sources = Sources { tasks: &tasks, done: &done, memory };
        let features: Features = sources.read(task)?;
        let names: NodeMap = sources.read(task)?;
        let is_soft = graph.construction == Construction::Soft;
        let model = is_soft.then(|| sources.read(task)).transpose()?;
        let evidence = is_soft.then(|| sources.read(task)).transpose()?;
        let predictions = veilgraph_train::predict(&saved, &features, &graph, model, evidence)
            .with_context(|| cannot_be_applied(task))?;
        let text = table(&saved, &names, &predictions)?;
        files.extend(task.labels.iter().map(|label| (format!("{label}.csv"), text.clone())));
    }
    // Only now, so that a mistake in any graph leaves nothing half-written.
    write_whole_folder(to, |draft| {
        let wrong = || cannot_write(to);
        fs::create_dir_all(draft).with_context(wrong)?;
        files.iter().try_for_each(|(name, text)| write_new(&draft.join(name), text).with_context(wrong))
    })?;
    let setting = saved.grid.models.iter().find(|known| known.0 == saved.model).map(|known| known.1.to_string());
    let setting = setting.unwrap_or_default();
    let graphs = if files.len() == 1 { "1 graph".to_owned() } else { format!("{} graphs", files.len()) };
    output::line(&format!("{}: {graphs}, by model {} ({setting})", to.display(), saved.model));
    Ok(())
}

/// The tasks that read datasets. They read from no other task, so that all of them come first.
fn ingests(tasks: &[Task]) -> &[Task] {
    let n_ingests = tasks.iter().take_while(|task| task.is_of::<Ingest>()).count();
    &tasks[..n_ingests]
}

/// Refuses data without features that the server may read, or with others than the model was trained on.
fn check_features(saved: &SavedModel, ingested: &Done, memory: MemoryLimit) -> anyhow::Result<()> {
    let Some(entry) = &ingested.entry else { return Ok(()) };
    ensure!(
        has::<Features>(entry),
        "the model reads features, and these nodes have none that the server may read; give them public features ([ingest] features, \
         [privacy] features)"
    );
    let features: Features = entry.read(Features::NAME, memory)?;
    Ok(saved.check_features(features.0.n_columns())?)
}

/// The entries with the features that a model was trained on, where the store still has them and the training. Features of 0 and 1
/// may be the same bytes on several scales.
fn features_of_training(store: &Store, model: &[u8]) -> anyhow::Result<Vec<Entry>> {
    let digest = blake3::hash(model).to_hex();
    let holds_it = |entry: &&Entry| entry.manifest.outputs.values().any(|output| output.digest == digest.as_str());
    let trainings = readable(store, "train")?;
    let read: BTreeSet<&String> = trainings
        .iter()
        .filter(holds_it)
        .filter_map(|entry| entry.manifest.recipe.inputs.get(Features::NAME))
        .flatten()
        .collect();
    let has_these = |entry: &Entry| {
        let features = entry.manifest.outputs.get(Features::NAME);
        features.is_some_and(|output| read.contains(&entry.manifest.digest_of(output)))
    };
    Ok(readable(store, Ingest::STAGE)?.into_iter().filter(has_these).collect())
}

/// The entries of a stage. One that is damaged, which perhaps has nothing to do with this model, is warned of.
fn readable(store: &Store, stage: &str) -> anyhow::Result<Vec<Entry>> {
    let Readable { entries, damage } = store.readable(&[stage])?;
    for error in damage {
        tracing::warn!("whether features are scaled as in the training may not be known: {error}");
    }
    Ok(entries)
}

/// Refuses features that are scaled in another way than those that the model was trained on: its answers would mean nothing.
fn check_scale(read_in_training: &[Entry], ingested: &Done) -> anyhow::Result<()> {
    let Some(ours) = &ingested.entry else { return Ok(()) };
    let scale = |entry: &Entry| {
        let value = |field: &str| entry.manifest.recipe.params.get(field).map_or("?".to_owned(), ToString::to_string);
        format!("normalize = {} and binarize = {}", value("normalize"), value("binarize"))
    };
    let features =
        |entry: &Entry| entry.manifest.outputs.get(Features::NAME).map(|output| entry.manifest.digest_of(output));
    let is_alike = |theirs: &Entry| scale(theirs) == scale(ours) || features(theirs) == features(ours);
    match read_in_training.first() {
        Some(theirs) if !read_in_training.iter().any(is_alike) => anyhow::bail!(
            "it was trained on features with {} below [ingest], and here they have {}; write the same values",
            scale(theirs),
            scale(ours)
        ),
        _ => Ok(()),
    }
}

fn cannot_be_applied(task: &Task) -> String {
    format!("{}: the model cannot be applied", task.called())
}

/// Refuses a plan that makes no graph of which [`has_graph`] would say that a model can be applied to it, or one whose weights a
/// network has to learn.
fn check_graphs(name: &str, tasks: &[Task]) -> anyhow::Result<()> {
    let is_graph = |slot: &Slot| slot.artifact == WeightedGraph::NAME && slot.zone == WeightedGraph::ZONE;
    let mut n_graphs = 0;
    for task in tasks.iter().filter(|task| task.stage != "similarity") {
        if registry::find(task.stage, task.function)?.outputs().iter().any(is_graph) {
            n_graphs += 1;
            let is_learned = task.params.get("learned").and_then(toml::Value::as_bool) == Some(true);
            ensure!(
                !is_learned,
                "{}: a network learns the weights of these links while it trains, and a saved model does not hold them; choose another \
                 mechanism ([privatize.links] mechanism)",
                cannot_be_applied(task)
            );
        }
    }
    ensure!(
        n_graphs > 0,
        "{name} constructs no graph of all nodes that a model could be applied to; choose a mechanism and a variant that do \
         ([privatize.links] mechanism, [construct] variant)"
    );
    Ok(())
}

/// Whether an entry holds the artifact `A`, in the zone where it belongs.
fn has<A: Artifact>(entry: &Entry) -> bool {
    entry.manifest.outputs.get(A::NAME).is_some_and(|output| output.zone == A::ZONE.name())
}

/// Whether a task made a graph that a network can be trained on: it constructed one, or a curator or the config gave it. A graph
/// of similar nodes is left out, because it may serve class beliefs alone.
fn has_graph(entry: &Entry) -> bool {
    entry.manifest.recipe.stage != "similarity" && has::<WeightedGraph>(entry)
}

/// Artifacts from which a graph was made.
struct Sources<'a> {
    tasks: &'a [Task],
    done: &'a [Done],
    memory: MemoryLimit,
}

impl Sources<'_> {
    /// The artifact `A` among all that `task` was made from.
    fn read<A: Artifact>(&self, task: &Task) -> anyhow::Result<A> {
        let mut next: Vec<usize> = task.sources().collect();
        while let Some(at) = next.pop() {
            if let Some(entry) = &self.done[at].entry
                && has::<A>(entry)
            {
                return Ok(entry.read(A::NAME, self.memory)?);
            }
            next.extend(self.tasks[at].sources());
        }
        anyhow::bail!("{}: the graph has no {}; predicting needs them", task.label(), A::NAME)
    }
}

/// Rows `node,name,class,probability_0,...`, with the names of the classes where they have names.
fn table(saved: &SavedModel, names: &NodeMap, predictions: &ModelPredictions) -> anyhow::Result<Vec<u8>> {
    let n_classes = saved.grid.n_classes;
    let mut writer = csv::Writer::from_writer(Vec::new());
    let header = ["node", "name", "class"].map(str::to_owned).into_iter();
    let class_name = |class: usize| saved.grid.class_names.get(class).cloned().unwrap_or_else(|| class.to_string());
    writer.write_record(header.chain((0..n_classes).map(|class| format!("probability_{}", class_name(class)))))?;
    let rows = predictions.classes(n_classes).into_iter().zip(predictions.probabilities.chunks(n_classes));
    for (node, (class, probabilities)) in rows.enumerate() {
        let name = names.names.get(node).cloned().unwrap_or_default();
        let first = [node.to_string(), name, class_name(usize::from(class))].into_iter();
        writer.write_record(first.chain(probabilities.iter().map(ToString::to_string)))?;
    }
    Ok(writer.into_inner()?)
}
