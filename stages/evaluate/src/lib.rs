//! An auditor who knows the truth scores links, graphs and predictions.

mod links;
mod metrics;
mod predictions;
mod summary;

use serde::{Deserialize, Serialize};
use veilgraph_contract::{Auditor, HeldOut, Invalid, Private, Progress, Stage, StageRng};
use veilgraph_graph::{AdjacencyList, Construction, Curves, Labels, Nodes, Predictions, WeightedGraph};
use veilgraph_posterior::{LinkEvidence, LinkModel, Posterior};
use veilgraph_privacy::{NoisyDegrees, ReportFacts};

pub use metrics::{Metric, Metrics};
pub use summary::Summary;

/// Scores the link probabilities of one trial.
pub struct EvaluateLinks;
/// Scores the links that the graph of one trial keeps.
pub struct EvaluateGraph;
/// Scores the predictions of all trials, after choosing the setting with the lowest mean validation loss.
pub struct EvaluatePredictions;

/// What the rows of a table of metrics are about; filled in by the runner.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Params {
    /// Name of the config.
    pub experiment: String,
    /// Trial, where one is scored alone.
    pub trial: u32,
    /// Swept values of `[estimate]`, if any are swept.
    pub estimate: String,
    /// How the graph was built, if one was.
    pub variant: String,
    /// Kind of network, if one was trained.
    pub model: String,
}

/// Why nothing can be scored.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Artifacts do not belong together.
    #[error(transparent)]
    Invalid(#[from] Invalid),
    /// No setting was trained in every trial.
    #[error("no setting of the grid was trained successfully in every trial; lower the learning rates")]
    NoCommonSetting,
}

impl Stage for EvaluateLinks {
    const NAME: &'static str = "evaluate";
    const RANDOM: bool = false;
    type Side = Auditor;
    type Params = Params;
    type Inputs = (Nodes, NoisyDegrees, LinkModel, LinkEvidence, Private<AdjacencyList>);
    type Outputs = (Metrics,);
    type Error = Error;

    fn run(
        (nodes, degrees, model, evidence, Private(truth)): Self::Inputs,
        params: &Params,
        _: &StageRng,
        _: &Progress,
    ) -> Result<Self::Outputs, Error> {
        let posterior = Posterior::new(&model, evidence)?;
        same_size(posterior.n_nodes(), truth.n_nodes())?;
        let mut metrics = metrics_for(&nodes, &degrees.facts, params);
        for (name, value) in links::link_error(&posterior, &truth, degrees.facts.budget.degree) {
            metrics.push(params.trial, name, value);
        }
        metrics.push(params.trial, "prior_residual", model.residual);
        metrics.push(params.trial, "n_nodes", truth.n_nodes() as f64);
        Ok((metrics,))
    }
}

impl Stage for EvaluateGraph {
    const NAME: &'static str = "evaluate";
    const RANDOM: bool = false;
    type Side = Auditor;
    type Params = Params;
    type Inputs = (Nodes, NoisyDegrees, WeightedGraph, Private<AdjacencyList>);
    type Outputs = (Metrics,);
    type Error = Error;

    fn run(
        (nodes, degrees, graph, Private(truth)): Self::Inputs,
        params: &Params,
        _: &StageRng,
        _: &Progress,
    ) -> Result<Self::Outputs, Error> {
        same_size(graph.n_nodes, truth.n_nodes())?;
        let mut metrics = metrics_for(&nodes, &degrees.facts, params);
        if graph.construction != Construction::Soft {
            for (name, value) in links::density(&graph, &truth) {
                metrics.push(params.trial, name, value);
            }
        }
        Ok((metrics,))
    }
}

impl Stage for EvaluatePredictions {
    const NAME: &'static str = "evaluate";
    const RANDOM: bool = false;
    type Side = Auditor;
    type Params = Params;
    type Inputs = (Nodes, NoisyDegrees, HeldOut<Labels>, Vec<Predictions>, Vec<Curves>);
    type Outputs = (Metrics,);
    type Error = Error;

    fn run(
        (nodes, degrees, HeldOut(labels), trials, curves): Self::Inputs,
        params: &Params,
        _: &StageRng,
        _: &Progress,
    ) -> Result<Self::Outputs, Error> {
        let n_models = trials.first().map_or(0, |trial| trial.settings.len());
        let (model, losses) = Curves::best(&curves, n_models as u32).ok_or(Error::NoCommonSetting)?;
        let mut metrics = metrics_for(&nodes, &degrees.facts, params);
        metrics.setting =
            trials.first().and_then(|trial| trial.settings.get(model as usize)).cloned().unwrap_or_default();
        for ((trial, predicted), loss) in (0..).zip(&trials).zip(losses) {
            let scores = predictions::score(predicted, model, &labels);
            metrics.push(trial, "accuracy", scores.accuracy);
            metrics.push(trial, "macro_f1", scores.macro_f1);
            metrics.push(trial, "log_loss", scores.log_loss);
            metrics.push(trial, "validation_loss", loss);
        }
        Ok((metrics,))
    }
}

fn metrics_for(nodes: &Nodes, report: &ReportFacts, params: &Params) -> Metrics {
    Metrics {
        experiment: params.experiment.clone(),
        dataset: nodes.dataset.clone(),
        mechanism: report.mechanism.to_string(),
        estimate: params.estimate.clone(),
        variant: params.variant.clone(),
        model: params.model.clone(),
        epsilon: report.epsilon,
        epsilon_edge: report.epsilon_edge,
        degree_fraction: report.degree_fraction,
        setting: String::new(),
        rows: Vec::new(),
    }
}

fn same_size(estimated: usize, truth: usize) -> Result<(), Invalid> {
    if estimated == truth {
        Ok(())
    } else {
        Err(Invalid(format!("{estimated} nodes were estimated, the true graph has {truth}")))
    }
}

#[cfg(test)]
mod tests;
