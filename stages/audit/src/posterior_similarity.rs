//! Link stealing by likeness: two nodes that a network classifies alike are taken for linked.

use serde::{Deserialize, Serialize};
use veilgraph_attack::PairScores;
use veilgraph_attack::similarity::Distance;
use veilgraph_contract::{Auditor, Draws, Private, Progress, Stage, StageRng};
use veilgraph_graph::{AdjacencyList, Nodes, Predictions};
use veilgraph_nn::ModelWeights;

use crate::Error;
use crate::answers::Answers;
use crate::targets::{Pool, Targets, check_number, same_size, scored};

/// Scores pairs by how alike the class probabilities of both nodes are.
///
/// The attacker sees the answers about the nodes and nothing else. Of the models of a grid, the one with the lowest
/// validation loss of its trial is attacked.
///
/// # Source
/// He, Jia, Backes, Gong, Zhang (2021), Stealing links from graph neural networks, attack 0.
pub struct PosteriorSimilarity;

/// What the attack reads of `[audit]`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Params {
    /// How many nodes are attacked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub targets: Option<usize>,
    /// Of which nodes.
    pub pool: Pool,
    /// Which distance of two answers.
    pub distance: DistanceName,
}

/// A distance by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct DistanceName(Distance);

impl TryFrom<String> for DistanceName {
    type Error = veilgraph_attack::similarity::UnknownDistance;

    fn try_from(name: String) -> Result<Self, Self::Error> {
        name.parse().map(Self)
    }
}

impl From<DistanceName> for String {
    fn from(distance: DistanceName) -> Self {
        distance.0.name().to_owned()
    }
}

impl Default for Params {
    /// The correlation, which does best on most graphs of the paper.
    fn default() -> Self {
        let Targets { targets, pool } = Targets::default();
        Self { targets, pool, distance: DistanceName(Distance::Correlation) }
    }
}

impl Stage for PosteriorSimilarity {
    const STAGE: &'static str = "audit";
    const TASK: &'static str = "posterior-similarity";
    const DRAWS: Draws = Draws::EveryTrial;
    type Side = Auditor;
    type Params = Params;
    /// The model says which of the predictions are its best.
    type Inputs = (Nodes, Predictions, ModelWeights, Private<AdjacencyList>);
    type Outputs = (PairScores,);
    type Error = Error;

    fn check_params(params: &Params) -> Result<(), Error> {
        check_number(params.targets)
    }

    fn run(
        (nodes, predictions, weights, Private(truth)): Self::Inputs,
        params: &Params,
        rng: &StageRng,
        _: &Progress,
    ) -> Result<Self::Outputs, Error> {
        let answers = Answers::of(&predictions, &weights)?;
        same_size(answers.n_nodes(), &truth)?;
        let targets = Targets { targets: params.targets, pool: params.pool }.draw(&truth, &nodes, rng)?;
        let rows: Vec<Vec<f64>> = targets.iter().map(|&node| answers.row(node)).collect();
        let DistanceName(distance) = params.distance;
        Ok((scored(truth.n_nodes(), &targets, |a, b| -distance.between(&rows[a], &rows[b])),))
    }
}
