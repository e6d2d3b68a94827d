//! An auditor who knows the truth scores links, graphs and predictions.

mod attack;
mod canaries;
mod cell;
mod classes;
mod features;
mod graph;
mod link_prediction;
mod links;
pub mod metric;
mod metrics;

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use veilgraph_attack::Record;
use veilgraph_contract::{Auditor, Draws, HeldOut, Invalid, Private, Progress, Stage, StageRng};
use veilgraph_graph::{
    AdjacencyList, Construction, Curves, EstimatedFeatures, Features, Labels, Predictions, WeightedGraph,
};
use veilgraph_operator::GraphOperator;
use veilgraph_posterior::{LinkEvidence, LinkModel, Posterior};
use veilgraph_privacy::NoisyDegrees;

pub use attack::{ClaimParams, EvaluateAttack, EvaluateAttributes, EvaluateClaims, EvaluateMembership};
pub use canaries::{CanaryParams, EvaluateCanaries, EvaluateRankedCanaries};
pub use cell::{Cell, Choice, RelationCost};
pub use link_prediction::EvaluateLinkPrediction;
pub use metrics::{Metrics, Score};

/// Scores the link probabilities of one trial.
pub struct EvaluateLinks;
/// Scores the links that the graph of one trial keeps.
pub struct EvaluateGraph;
/// Scores the features that a server worked out from the reports of one trial.
pub struct EvaluateFeatures;
/// Scores the predictions of all trials, after choosing the setting with the lowest mean validation loss.
pub struct EvaluateClasses;

/// Scores the predictions of all trials of a model that a curator trained; there is nothing to choose.
pub struct EvaluateReleasedModel;

/// What the rows of a table of scores are about; filled in by the plan.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Params {
    /// What the scores are about.
    pub cell: Cell,
    /// Trial, where one is scored alone.
    pub trial: u32,
}

/// What canaries of a kind say the cost of.
fn costly(what: Record) -> &'static str {
    match what {
        Record::Link => "a link",
        Record::Features | Record::Feature => "the features of a node",
        Record::Label => "a label",
        Record::Membership => "a member",
        Record::TrainingLabel => "a training label",
    }
}

/// Why nothing can be scored.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Artifacts do not belong together.
    #[error(transparent)]
    Invalid(#[from] Invalid),
    /// More is known than the ledger says.
    #[error(
        "an attacker guessed {right} of {made} coins right, so that {} costs at least {sure:.3} nats (one false alarm in a million runs), and the ledger states {claimed}; the guarantee does not hold as executed: do not deploy this mechanism, and report this",
        costly(*what)
    )]
    Violation {
        /// What the coins decided.
        what: Record,
        /// A lower bound of epsilon.
        sure: f64,
        /// What the ledger says.
        claimed: f64,
        /// Right guesses.
        right: u64,
        /// All guesses.
        made: u64,
    },
    /// Every setting failed in some trial.
    #[error("no setting of the grid was trained to the end in every trial; lower the learning rates")]
    NoCommonSetting,
    /// Every setting failed or was dropped in some trial.
    #[error(
        "no setting of the grid was trained to the end in every trial; set `search = \"full\"`, which drops none, or lower \
         the learning rates"
    )]
    NoneLeft,
}

impl Stage for EvaluateLinks {
    const STAGE: &'static str = "evaluate";
    const TASK: &'static str = "links";
    const DRAWS: Draws = Draws::Never;
    type Side = Auditor;
    type Params = Params;
    /// The degrees say what they cost, on which the bound of the error depends.
    type Inputs = (NoisyDegrees, LinkModel, LinkEvidence, Private<AdjacencyList>);
    type Outputs = (Metrics,);
    type Error = Error;

    fn run(
        (degrees, model, evidence, Private(truth)): Self::Inputs,
        params: &Params,
        _: &StageRng,
        _: &Progress,
    ) -> Result<Self::Outputs, Error> {
        let posterior = Posterior::new(&model, evidence)?;
        same_size(posterior.n_nodes(), truth.n_nodes())?;
        let mut metrics = Metrics::about(&params.cell);
        let bound_for = links::theorem_holds(&model, &degrees).then_some(degrees.facts.budget.degree);
        for (metric, value) in links::link_error(&posterior, &truth, bound_for) {
            metrics.push(params.trial, metric, value);
        }
        metrics.push(params.trial, &metric::PRIOR_RESIDUAL, model.residual);
        metrics.push(params.trial, &metric::N_NODES, truth.n_nodes() as f64);
        Ok((metrics,))
    }
}

impl Stage for EvaluateGraph {
    const STAGE: &'static str = "evaluate";
    const TASK: &'static str = "graph";
    const DRAWS: Draws = Draws::Never;
    type Side = Auditor;
    type Params = Params;
    type Inputs = (WeightedGraph, Private<AdjacencyList>);
    type Outputs = (Metrics,);
    type Error = Error;

    fn run(
        (graph, Private(truth)): Self::Inputs,
        params: &Params,
        _: &StageRng,
        _: &Progress,
    ) -> Result<Self::Outputs, Error> {
        same_size(graph.n_nodes, truth.n_nodes())?;
        let mut metrics = Metrics::about(&params.cell);
        if graph.construction != Construction::Soft {
            for (metric, value) in graph::graph_scores(&graph, &truth) {
                metrics.push(params.trial, metric, value);
            }
        }
        Ok((metrics,))
    }
}

impl Stage for EvaluateFeatures {
    const STAGE: &'static str = "evaluate";
    const TASK: &'static str = "features";
    const DRAWS: Draws = Draws::Never;
    type Side = Auditor;
    type Params = Params;
    /// The graph is the one over which a network averages the features.
    type Inputs = (EstimatedFeatures, WeightedGraph, Option<LinkModel>, Option<LinkEvidence>, Private<Features>);
    type Outputs = (Metrics,);
    type Error = Error;

    fn run(
        (estimated, graph, model, evidence, Private(truth)): Self::Inputs,
        params: &Params,
        _: &StageRng,
        _: &Progress,
    ) -> Result<Self::Outputs, Error> {
        // Links that are learned with a model cannot be averaged over here.
        let operator = match graph.construction {
            Construction::Learned => None,
            _ => Some(Arc::new(GraphOperator::of(&graph, model, evidence)?)),
        };
        let mut metrics = Metrics::about(&params.cell);
        for (metric, value) in features::feature_error(&estimated, &truth, operator)? {
            metrics.push(params.trial, metric, value);
        }
        Ok((metrics,))
    }
}

impl Stage for EvaluateClasses {
    const STAGE: &'static str = "evaluate";
    const TASK: &'static str = "predictions";
    const DRAWS: Draws = Draws::Never;
    type Side = Auditor;
    type Params = Params;
    type Inputs = (HeldOut<Labels>, Vec<Predictions>, Vec<Curves>);
    type Outputs = (Metrics,);
    type Error = Error;

    fn run(
        (HeldOut(labels), trials, curves): Self::Inputs,
        params: &Params,
        _: &StageRng,
        _: &Progress,
    ) -> Result<Self::Outputs, Error> {
        let n_models = trials.first().map_or(0, |trial| trial.settings.len());
        let none_left = || if Curves::any_dropped(&curves) { Error::NoneLeft } else { Error::NoCommonSetting };
        let (model, losses) = Curves::best(&curves, n_models as u32).ok_or_else(none_left)?;
        let mut metrics = Metrics::about(&params.cell);
        metrics.setting =
            trials.first().and_then(|trial| trial.settings.get(model as usize)).cloned().unwrap_or_default();
        for ((trial, predicted), loss) in (0..).zip(&trials).zip(losses) {
            let scores = classes::score(predicted, model, &labels);
            metrics.push(trial, &metric::ACCURACY, scores.accuracy);
            metrics.push(trial, &metric::MACRO_F1, scores.macro_f1);
            metrics.push(trial, &metric::LOG_LOSS, scores.log_loss);
            metrics.push(trial, &metric::CLASS_BRIER, scores.brier);
            metrics.push(trial, &metric::CLASS_CALIBRATION, scores.expected_calibration_error);
            metrics.push(trial, &metric::VALIDATION_LOSS, loss);
            metrics.push(trial, &metric::MAJORITY_ACCURACY, classes::majority(&labels));
            metrics.push(trial, &metric::TEST_NODES, labels.classes().len() as f64);
        }
        Ok((metrics,))
    }
}

impl Stage for EvaluateReleasedModel {
    const STAGE: &'static str = "evaluate";
    const TASK: &'static str = "released-model";
    const DRAWS: Draws = Draws::Never;
    type Side = Auditor;
    type Params = Params;
    type Inputs = (HeldOut<Labels>, Vec<HeldOut<Predictions>>);
    type Outputs = (Metrics,);
    type Error = Error;

    fn run(
        (HeldOut(labels), trials): Self::Inputs,
        params: &Params,
        _: &StageRng,
        _: &Progress,
    ) -> Result<Self::Outputs, Error> {
        let mut metrics = Metrics::about(&params.cell);
        for (trial, HeldOut(predicted)) in (0..).zip(&trials) {
            let scores = classes::score(predicted, 0, &labels);
            metrics.push(trial, &metric::ACCURACY, scores.accuracy);
            metrics.push(trial, &metric::MACRO_F1, scores.macro_f1);
            metrics.push(trial, &metric::LOG_LOSS, scores.log_loss);
            metrics.push(trial, &metric::CLASS_BRIER, scores.brier);
            metrics.push(trial, &metric::CLASS_CALIBRATION, scores.expected_calibration_error);
            metrics.push(trial, &metric::MAJORITY_ACCURACY, classes::majority(&labels));
            metrics.push(trial, &metric::TEST_NODES, labels.classes().len() as f64);
        }
        Ok((metrics,))
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
