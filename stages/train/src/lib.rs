//! The server trains every model of a grid on the graph it built.

mod model;
mod params;
mod search;

use veilgraph_contract::{Invalid, Progress, Server, Stage, StageRng};
use veilgraph_graph::{
    Construction, Curves, Features, Labels, ModelPredictions, Nodes, Predictions, Split, WeightedGraph,
};
use veilgraph_nn::{
    Dataset, DeviceError, Failure, GraphOperator, ReportedLinks, Schedule, Trained, TrainingGraph, train,
};
use veilgraph_posterior::{LinkEvidence, LinkModel, Posterior, SoftOperator};

pub use model::{GridDescription, ModelWeights, SavedModel};
pub use params::{OneOrMany, Params};
pub use search::{ChooseSetting, ChosenSetting, SearchGrid};
pub use veilgraph_nn::{Architecture, Device, SageNorm, Setting};

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
    /// No setting was trained in every trial of the search.
    #[error("no setting of the grid was trained successfully in every trial of the search; lower the learning rates")]
    NoCommonSetting,
    /// The data admit no training.
    #[error(transparent)]
    Data(#[from] Failure),
    /// Artifacts do not belong together.
    #[error(transparent)]
    Invalid(#[from] Invalid),
}

impl Stage for Train {
    const NAME: &'static str = "train";
    const RANDOM: bool = true;
    type Side = Server;
    type Params = Params;
    /// The link model and evidence are given for the soft graph alone, whose weights they are; a setting, where one
    /// was chosen in other trials.
    type Inputs =
        (Nodes, Features, Labels, WeightedGraph, Option<LinkModel>, Option<LinkEvidence>, Option<ChosenSetting>);
    type Outputs = (Predictions, Curves, ModelWeights);
    type Error = Error;

    fn run(
        (nodes, features, labels, graph, model, evidence, chosen): Self::Inputs,
        params: &Params,
        rng: &StageRng,
        progress: &Progress,
    ) -> Result<Self::Outputs, Error> {
        params.check().map_err(Error::Params)?;
        params.device.check()?;
        let mut settings = params.settings();
        if let Some(ChosenSetting { model }) = chosen {
            let setting = settings.get(model as usize).copied();
            settings = vec![setting.ok_or_else(|| Invalid(format!("the grid has no model {model}")))?];
        }
        let operator = match graph.construction {
            Construction::Learned => ReportedLinks::new(&graph, params.links).into(),
            _ => TrainingGraph::from(operator(&graph, model, evidence)?),
        };
        let (training, validation) = (nodes.members(Split::Train), nodes.members(Split::Validation));
        let options = params.options();
        let dataset = Dataset::new(&features, operator, params.model, options, &labels, &training, &validation)?;
        let schedule = Schedule { epochs: params.epochs, patience: params.patience };
        let results = train(&dataset, &settings, schedule, params.device, rng, progress);
        collect(results, &settings, params, labels.n_classes())
    }
}

/// The graph as networks read it.
fn operator(
    graph: &WeightedGraph,
    model: Option<LinkModel>,
    evidence: Option<LinkEvidence>,
) -> Result<GraphOperator, Invalid> {
    match (graph.construction, model, evidence) {
        (Construction::Soft, Some(model), Some(evidence)) => {
            Ok(GraphOperator::Soft(SoftOperator::new(&Posterior::new(&model, evidence)?)))
        }
        (Construction::Soft, ..) => Err(Invalid("a soft graph needs link_model and link_evidence".into())),
        (Construction::Learned, ..) => {
            Err(Invalid("the links of this graph were learned with a model, which does not hold them".into()))
        }
        _ => Ok(GraphOperator::explicit(graph)),
    }
}

/// What a trained network says about the nodes of a graph.
///
/// # Errors
/// When the graph has other features than the one the network was trained on.
pub fn predict(
    saved: &SavedModel,
    features: &Features,
    graph: &WeightedGraph,
    model: Option<LinkModel>,
    evidence: Option<LinkEvidence>,
) -> Result<ModelPredictions, Error> {
    let GridDescription { architecture, options, n_classes, .. } = saved.grid;
    let operator = operator(graph, model, evidence)?;
    let probabilities = veilgraph_nn::predict(&saved.parameters, architecture, options, n_classes, features, operator)?;
    Ok(ModelPredictions { model: saved.model, probabilities })
}

/// Gathers the models; one that failed is named in the log and left out.
fn collect(
    results: Vec<Result<Trained, Failure>>,
    settings: &[Setting],
    params: &Params,
    n_classes: usize,
) -> Result<<Train as Stage>::Outputs, Error> {
    let mut predictions =
        Predictions { n_classes, settings: settings.iter().map(ToString::to_string).collect(), models: Vec::new() };
    let (architecture, options) = (params.model, params.options());
    let description = GridDescription { architecture, options, n_classes, models: Vec::new() };
    let mut weights = ModelWeights { description, models: Vec::new() };
    let (mut curves, mut first_failure) = (Curves::default(), None);
    for (model, result) in (0..).zip(results) {
        match result {
            Ok(trained) => {
                for (epoch, record) in (0..).zip(&trained.curve) {
                    curves.model.push(model);
                    curves.epoch.push(epoch);
                    curves.train_loss.push(record.train_loss);
                    curves.validation_loss.push(record.validation_loss);
                    curves.validation_accuracy.push(record.validation_accuracy);
                }
                predictions.models.push(ModelPredictions { model, probabilities: trained.probabilities });
                let loss = trained.curve[trained.best_epoch].validation_loss;
                weights.description.models.push((model, settings[model as usize], loss));
                weights.models.push((model, trained.parameters));
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
