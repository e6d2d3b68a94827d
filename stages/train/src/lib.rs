//! The server trains every model of a grid on the graph it built.

mod append_beliefs;
mod blend;
mod checks;
mod given;
mod link_prediction;
mod params;
mod search;

use std::sync::Arc;

use veilgraph_contract::{Draws, Invalid, Progress, Server, Stage, StageRng};
use veilgraph_graph::{
    Construction, Curves, EstimatedFeatures, Features, Labels, ModelPredictions, Nodes, Predictions, Split,
    WeightedGraph,
};
use veilgraph_nn::{
    Dataset, Failure, GraphOperator, InputFeatures, LabelNoise, Raced, ReportedLinks, TrainingGraph, TrainingLabels,
    race, train,
};
use veilgraph_posterior::{LinkEvidence, LinkModel};
use veilgraph_privacy::NoisyLabels;

pub use append_beliefs::AppendBeliefs;
pub use blend::Blend;
pub use given::{PredictBeliefs, PredictMajority};
pub use link_prediction::{LinkPrediction, LinkPredictionParams};
pub use params::{LabelUse, OneOrMany, Params};
pub use search::{ChooseSetting, ChosenSettings, HalveSettings, Search, SearchGrid};
pub use veilgraph_nn::{
    Architecture, Device, DeviceError, GridDescription, LinkLearning, ModelWeights, SageNorm, SavedModel, Setting,
    Unit, predict,
};

/// Trains a grid of models on one graph.
pub struct Train;

/// Why no model was trained.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A hyperparameter makes no sense.
    #[error("{0}")]
    Params(String),
    /// The device cannot be used.
    #[error(transparent)]
    Device(#[from] DeviceError),
    /// Every model of the grid failed.
    #[error("no model of the grid could be trained; the first failed because {0}")]
    AllFailed(Failure),
    /// Every setting failed in some trial of the search.
    #[error("no setting of the grid was trained to the end in every trial of the search; lower the learning rates")]
    NoCommonSetting,
    /// Every setting failed in some trial of the search, or was given up before.
    #[error(
        "no setting of the grid was trained to the end in every trial of the search; set `search = \"full\"`, which gives \
         none up, or lower the learning rates"
    )]
    NoneLeft,
    /// The data admit no training.
    #[error(transparent)]
    Data(#[from] Failure),
    /// Artifacts do not belong together.
    #[error(transparent)]
    Invalid(#[from] Invalid),
}

impl Stage for Train {
    const STAGE: &'static str = "train";
    const TASK: &'static str = "classify";
    const DRAWS: Draws = Draws::EveryTrial;
    type Side = Server;
    type Params = Params;
    /// The link model and the evidence are given for a soft graph alone: its weights are made of them. Settings are
    /// given where some were chosen in other trials; else the whole grid is trained.
    ///
    /// Features are public or estimated, and labels true or noisy: one of each pair is given.
    type Inputs = (
        Nodes,
        Option<Features>,
        Option<EstimatedFeatures>,
        Option<Labels>,
        Option<NoisyLabels>,
        WeightedGraph,
        Option<LinkModel>,
        Option<LinkEvidence>,
        Option<ChosenSettings>,
    );
    type Outputs = (Predictions, Curves, ModelWeights);
    type Error = Error;

    fn run(inputs: Self::Inputs, params: &Params, rng: &StageRng, progress: &Progress) -> Result<Self::Outputs, Error> {
        Self::run_for(inputs, params, rng, progress, Read::Everything)
    }
}

/// Which outputs of the stage somebody reads.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Read {
    /// All outputs are read.
    Everything,
    /// Only the curves are read, so that no probabilities need be computed.
    Curves,
}

impl Train {
    /// Does what [`Self::run`] does, but computes no probabilities where only the curves are read.
    fn run_for(
        (nodes, public, estimated, labels, noisy, graph, model, evidence, chosen): <Self as Stage>::Inputs,
        params: &Params,
        rng: &StageRng,
        progress: &Progress,
        read: Read,
    ) -> Result<<Self as Stage>::Outputs, Error> {
        params.check().map_err(Error::Params)?;
        params.device.check()?;
        let mut settings = params.settings();
        if let Some(ChosenSettings { models }) = chosen {
            let setting = |model: u32| {
                let setting = settings.get(model as usize).copied();
                setting.ok_or_else(|| Invalid(format!("the grid has no model {model}")))
            };
            settings = models.into_iter().map(setting).collect::<Result<_, Invalid>>()?;
        }
        let seen = if params.inductive { Some(without_test_nodes(&graph, &nodes)?) } else { None };
        let operator = match graph.construction {
            Construction::Learned => ReportedLinks::new(&graph, params.links.unwrap_or_default()).into(),
            _ => TrainingGraph::from(GraphOperator::of(seen.as_ref().unwrap_or(&graph), model, evidence)?),
        };
        let is_empty = !matches!(graph.construction, Construction::Soft) && graph.links().next().is_none();
        // Over a graph without links, every average is zero; what is known of a node itself is better than that.
        let estimated = estimated.map(|mut known| {
            known.propagation.hops = if is_empty { 0 } else { known.propagation.hops };
            known
        });
        let features = given_features(public.as_ref(), estimated.as_ref())?;
        let labels = given_labels(labels.as_ref(), noisy.as_ref(), params)?;
        let (training, validation) = (nodes.members(Split::Train), nodes.members(Split::Validation));
        let options = params.options();
        let dataset = Dataset::new(features, operator, params.model, options, labels, &training, &validation)?;
        let dataset = if read == Read::Everything { dataset } else { dataset.without_probabilities() };
        let (schedule, device) = (params.schedule(), params.device);
        let raced = match params.search {
            Search::Full | Search::Halving => {
                let models = train(&dataset, &settings, schedule, device, rng, progress);
                Raced { models, dropped: Vec::new() }
            }
            Search::Racing => race(&dataset, &settings, schedule, device, rng, progress),
        };
        // It is a failure of the whole grid, and the same for every model.
        if let Some(Err(too_large @ Failure::TooLarge { .. })) = raced.models.first() {
            return Err(too_large.clone().into());
        }
        let mut outputs = collect(raced, &settings, params, labels.labels.n_classes(), &nodes.class_names)?;
        if seen.is_some() && read == Read::Everything {
            let whole = Arc::new(GraphOperator::of(&graph, None, None)?);
            for answers in &mut outputs.0.models {
                answers.probabilities = outputs.2.model(answers.model)?.probabilities(features, &whole)?;
            }
        }
        Ok(outputs)
    }
}

/// The graph as training sees it where it must see no link of a test node.
///
/// # Errors
/// When the graph lists no links, or training learns them.
fn without_test_nodes(graph: &WeightedGraph, nodes: &Nodes) -> Result<WeightedGraph, Error> {
    match graph.construction {
        Construction::Soft | Construction::Learned => Err(Error::Params(format!(
            "inductive = true leaves out the links of test nodes, and a {} graph lists none; choose another variant",
            graph.construction
        ))),
        _ => Ok(graph.among(|node| nodes.splits.get(node as usize) != Some(&Split::Test))),
    }
}

/// The features of whichever kind is given.
///
/// # Errors
/// When none or both are.
fn given_features<'a>(
    public: Option<&'a Features>,
    estimated: Option<&'a EstimatedFeatures>,
) -> Result<InputFeatures<'a>, Invalid> {
    match (public, estimated) {
        (Some(public), None) => Ok(public.into()),
        (None, Some(estimated)) => Ok(estimated.into()),
        (None, None) => Err(Invalid("training needs features; give public or estimated ones".into())),
        (Some(_), Some(_)) => Err(Invalid("public and estimated features are given; give one of them".into())),
    }
}

/// The labels of whichever kind is given. True ones have nothing to correct, whatever correction is asked for.
///
/// # Errors
/// When none or both are.
fn given_labels<'a>(
    labels: Option<&'a Labels>,
    noisy: Option<&'a NoisyLabels>,
    params: &Params,
) -> Result<TrainingLabels<'a>, Invalid> {
    match (labels, noisy) {
        (Some(labels), None) => Ok(labels.into()),
        (None, Some(NoisyLabels { facts, labels })) => {
            let noise = LabelNoise { truth_probability: facts.truth_probability, correction: params.correction() };
            Ok(TrainingLabels { labels, noise: Some(noise) })
        }
        (None, None) => Err(Invalid("training needs labels; give true or noisy ones".into())),
        (Some(_), Some(_)) => Err(Invalid("true and noisy labels are given; give one of them".into())),
    }
}

/// Gathers what the models of a grid give. A model that failed is named in the log and left out. Of one that was dropped, the
/// curve alone is kept, and the curves say that it was dropped.
///
/// # Errors
/// When every model failed.
fn collect(
    Raced { models, dropped }: Raced,
    settings: &[Setting],
    params: &Params,
    n_classes: usize,
    class_names: &[String],
) -> Result<<Train as Stage>::Outputs, Error> {
    let mut predictions =
        Predictions { n_classes, settings: settings.iter().map(ToString::to_string).collect(), models: Vec::new() };
    let (architecture, options, class_names) = (params.model, params.options(), class_names.to_vec());
    let description = GridDescription { architecture, options, n_classes, class_names, models: Vec::new() };
    let mut weights = ModelWeights { description, models: Vec::new() };
    let (mut curves, mut first_failure) = (Curves::default(), None);
    for (model, result) in (0..).zip(models) {
        match result {
            Ok(trained) => {
                for (epoch, record) in (0..).zip(&trained.curve) {
                    curves.model.push(model);
                    curves.epoch.push(epoch);
                    curves.train_loss.push(record.train_loss);
                    curves.validation_loss.push(record.validation_loss);
                    curves.validation_accuracy.push(record.validation_accuracy);
                }
                if dropped.contains(&(model as usize)) {
                    curves.dropped.push(model);
                } else {
                    predictions.models.push(ModelPredictions { model, probabilities: trained.probabilities });
                    let loss = trained.curve[trained.best_epoch].validation_loss;
                    if trained.curve.iter().any(|epoch| epoch.validation_loss < loss) {
                        curves.kept.insert(model, trained.best_epoch as u32);
                    }
                    weights.description.models.push((model, settings[model as usize], loss));
                    weights.models.push((model, trained.parameters));
                }
            }
            Err(failure) => {
                tracing::warn!("model {model} ({}) failed: {failure}", predictions.settings[model as usize]);
                first_failure.get_or_insert(failure);
            }
        }
    }
    match first_failure {
        Some(failure) if predictions.models.is_empty() => Err(Error::AllFailed(failure)),
        _ => Ok((predictions, curves, weights)),
    }
}

#[cfg(test)]
mod tests;
