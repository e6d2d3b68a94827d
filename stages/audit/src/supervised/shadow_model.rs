//! Link stealing with a shadow model, on a network that is asked about its own graph.

use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use veilgraph_attack::PairScores;
use veilgraph_attack::pair_descriptors::{of_answers, of_rows};
use veilgraph_contract::{Auditor, Draws, Invalid, Private, Progress, Stage, StageRng};
use veilgraph_graph::{AdjacencyList, EstimatedFeatures, Features, Labels, Nodes, Predictions};
use veilgraph_nn::ModelWeights;
use veilgraph_privacy::NoisyLabels;

use super::classifier::Classifier;
use super::rows::Rows;
use super::shadow::{Shadow, Whole, answers, graph_of};
use crate::Error;
use crate::answers::Answers;
use crate::targets::{Pool, Targets, check_number, pairs_of, same_size, scored};

/// Scores pairs by a classifier that was trained on the answers of a shadow model.
///
/// The attacker sees what the network answers about every target. Of the graph it knows the part without the targets,
/// which serves as the shadow. The network that it trains there reads the true links of the shadow, whatever mechanism
/// protects those of the targets: where the attacked network learned from very noisy links, what the classifier has
/// learned does not carry over, and an area near 0.5 or below is no sign of protection.
///
/// # Source
/// He, Jia, Backes, Gong, Zhang (2021), Stealing links from graph neural networks, attacks 1 (answers alone) and 5 (with
/// features), with a shadow of the same distribution.
pub struct ShadowModel;

/// What the attack reads of `[audit]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ShadowParams {
    /// How many nodes are attacked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub targets: Option<usize>,
    /// Of which nodes.
    pub pool: Pool,
    /// What describes a pair.
    pub described_by: DescribedBy,
}

/// What describes a pair to the classifier.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DescribedBy {
    /// What the network answers about both nodes.
    #[default]
    Answers,
    /// That, and the features of both nodes.
    AnswersAndFeatures,
}

impl Default for ShadowParams {
    fn default() -> Self {
        let Targets { targets, pool } = Targets::default();
        Self { targets, pool, described_by: DescribedBy::default() }
    }
}

impl DescribedBy {
    /// The description of two nodes, by their answers and features.
    pub(super) fn describe(self, answers: [&[f64]; 2], features: [&[f64]; 2]) -> Vec<f64> {
        let mut described = of_answers(answers[0], answers[1]);
        if self == Self::AnswersAndFeatures {
            described.extend(of_rows(features[0], features[1]));
        }
        described
    }

    /// The features of these nodes; empty rows where none are read.
    pub(super) fn rows(self, rows: &Rows, nodes: &[u32]) -> Vec<Vec<f64>> {
        match self {
            Self::Answers => vec![Vec::new(); nodes.len()],
            Self::AnswersAndFeatures => nodes.iter().map(|&node| rows.row(node)).collect(),
        }
    }
}

impl Stage for ShadowModel {
    const STAGE: &'static str = "audit";
    const TASK: &'static str = "shadow-model";
    const DRAWS: Draws = Draws::EveryTrial;
    type Side = Auditor;
    type Params = ShadowParams;
    type Inputs = (
        Predictions,
        ModelWeights,
        Nodes,
        Option<Features>,
        Option<EstimatedFeatures>,
        Option<Labels>,
        Option<NoisyLabels>,
        Private<AdjacencyList>,
    );
    type Outputs = (PairScores,);
    type Error = Error;

    fn check_params(params: &ShadowParams) -> Result<(), Error> {
        check_number(params.targets)
    }

    fn run(
        (predictions, weights, nodes, features, estimated, labels, noisy, Private(truth)): Self::Inputs,
        params: &ShadowParams,
        rng: &StageRng,
        progress: &Progress,
    ) -> Result<Self::Outputs, Error> {
        let asked = Answers::of(&predictions, &weights)?;
        same_size(asked.n_nodes(), &truth)?;
        let targets = Targets { targets: params.targets, pool: params.pool }.draw(&truth, &nodes, rng)?;
        let rows = Rows::new(features, estimated)?;
        rows.check(truth.n_nodes())?;
        let labels = given_labels(labels, noisy)?;
        let whole = Whole { truth: &truth, rows: &rows, nodes: &nodes, labels: &labels, weights: &weights };
        let shadow = Shadow::new(&whole, &targets, rng, progress)?;

        let answered = answers(&shadow.network, &shadow.rows, &graph_of(&shadow.links))?;
        let pairs = shadow.pairs(rng);
        let by = params.described_by;
        let all: Vec<u32> = (0..shadow.links.n_nodes() as u32).collect();
        let of_shadow = by.rows(&shadow.rows, &all);
        let describe = |&(i, j, is_link): &(u32, u32, bool)| {
            let (i, j) = (i as usize, j as usize);
            (by.describe([&answered[i], &answered[j]], [&of_shadow[i], &of_shadow[j]]), is_link)
        };
        let described: Vec<(Vec<f64>, bool)> = pairs.par_iter().map(describe).collect();
        let classifier = Classifier::learn(&described, rng, progress)?;

        let answered: Vec<Vec<f64>> = targets.iter().map(|&node| asked.row(node)).collect();
        let of_targets = by.rows(&rows, &targets);
        let places: Vec<(usize, usize)> = pairs_of(targets.len()).collect();
        let describe =
            |&(a, b): &(usize, usize)| by.describe([&answered[a], &answered[b]], [&of_targets[a], &of_targets[b]]);
        let described: Vec<Vec<f64>> = places.par_iter().map(describe).collect();
        let mut odds = classifier.log_odds(&described)?.into_iter();
        Ok((scored(truth.n_nodes(), &targets, |_, _| odds.next().unwrap_or(f64::NEG_INFINITY)),))
    }
}

/// The labels that the attacker trains its shadow with: those that the server has.
pub(super) fn given_labels(labels: Option<Labels>, noisy: Option<NoisyLabels>) -> Result<Labels, Invalid> {
    let given = labels.or_else(|| noisy.map(|noisy| noisy.labels));
    given.ok_or_else(|| Invalid("a shadow model needs labels, and there are none".to_owned()))
}
