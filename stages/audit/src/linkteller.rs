//! `LinkTeller`: the features of one node are changed a little, and whose answers move betrays its links.

use serde::{Deserialize, Serialize};
use veilgraph_attack::PairScores;
use veilgraph_attack::influence::{DenseInfluence, Influence, Output};
use veilgraph_contract::{Auditor, Draws, Invalid, Private, Progress, Stage, StageRng};
use veilgraph_graph::{AdjacencyList, Construction, EstimatedFeatures, Features, Nodes, WeightedGraph};
use veilgraph_nn::{InputFeatures, ModelWeights};
use veilgraph_posterior::{LinkEvidence, LinkModel, Posterior};

use crate::Error;
use crate::targets::{Targets, check_number, same_size, scored};

/// Scores pairs by the influence of one end on what the network says about the other.
///
/// The attacker asks the network, with the graph behind it, about nodes with chosen features; it sees the answers and
/// neither graph nor parameters. The auditor computes the same answers from graph and parameters in double precision,
/// because single precision would turn an influence of zero into a small one. Of the models of a grid, the one with the
/// lowest validation loss of its trial is attacked.
///
/// # Source
/// Wu, Long, Zhang, Li (2022), LinkTeller: recovering private edges from graph neural networks via influence analysis,
/// algorithm 1.
pub struct LinkTeller;

/// What the attack reads of `[audit]`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Params {
    /// How many nodes are attacked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub targets: Option<usize>,
    /// Of which nodes.
    pub pool: crate::Pool,
    /// By which share the features of one node grow.
    pub probe_scale: f64,
    /// Which influence of a pair counts.
    pub direction: Direction,
    /// What the attacker sees.
    pub output: Seen,
}

/// Which influence of a pair counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Direction {
    /// The larger of both.
    #[default]
    Both,
    /// That of the node with the larger number, as in the published code.
    OneWay,
}

/// What the attacker sees of an answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Seen {
    /// The numbers before the softmax, as in the published code.
    #[default]
    Logits,
    /// Class probabilities.
    Probabilities,
}

impl Default for Params {
    fn default() -> Self {
        let Targets { targets, pool } = Targets::default();
        Self { targets, pool, probe_scale: 1e-4, direction: Direction::default(), output: Seen::default() }
    }
}

impl Params {
    /// Whether the parameters make sense.
    ///
    /// # Errors
    /// Names the parameter and its range.
    pub fn check(&self) -> Result<(), Error> {
        let is_positive = self.probe_scale > 0.0 && self.probe_scale.is_finite();
        if is_positive { Ok(()) } else { Err(Error::ProbeScale(self.probe_scale)) }
    }
}

impl Stage for LinkTeller {
    const STAGE: &'static str = "audit";
    const TASK: &'static str = "linkteller";
    const DRAWS: Draws = Draws::EveryTrial;
    type Side = Auditor;
    type Params = Params;
    /// A soft graph comes with its posterior.
    type Inputs = (
        Nodes,
        ModelWeights,
        Option<Features>,
        Option<EstimatedFeatures>,
        WeightedGraph,
        Option<LinkModel>,
        Option<LinkEvidence>,
        Private<AdjacencyList>,
    );
    type Outputs = (PairScores,);
    type Error = Error;

    fn check_params(params: &Params) -> Result<(), Error> {
        check_number(params.targets)?;
        params.check()
    }

    fn run(
        (nodes, weights, features, estimated, graph, model, evidence, Private(truth)): Self::Inputs,
        params: &Params,
        rng: &StageRng,
        _: &Progress,
    ) -> Result<Self::Outputs, Error> {
        params.check()?;
        same_size(graph.n_nodes, &truth)?;
        let targets = Targets { targets: params.targets, pool: params.pool }.draw(&truth, &nodes, rng)?;
        let influence = attacked(&weights, features.as_ref(), estimated.as_ref(), &graph, model, evidence)?;
        let moved = influence.of(&targets, params.probe_scale, params.output.into());
        Ok((scored(graph.n_nodes, &targets, |a, b| params.direction.of(&moved, a, b)),))
    }
}

/// The best network of a grid with its graph, as the attacker asks it.
pub(crate) fn attacked(
    weights: &ModelWeights,
    features: Option<&Features>,
    estimated: Option<&EstimatedFeatures>,
    graph: &WeightedGraph,
    model: Option<LinkModel>,
    evidence: Option<LinkEvidence>,
) -> Result<Influence, Error> {
    let features = match (features, estimated) {
        (Some(features), None) => InputFeatures::Public(features),
        (None, Some(estimated)) => InputFeatures::Estimated(estimated),
        _ => return Err(Invalid("give public or estimated features, and not both".into()).into()),
    };
    let posterior = match (graph.construction, model, evidence) {
        (Construction::Soft, Some(model), Some(evidence)) => Some(Posterior::new(&model, evidence)?),
        _ => None,
    };
    Ok(Influence::new(&weights.best()?, features, graph, posterior.as_ref())?)
}

impl Direction {
    /// What counts for the pair of the targets number `a` and `b`, with `a < b`.
    pub(crate) fn of(self, moved: &DenseInfluence, a: usize, b: usize) -> f64 {
        match self {
            Self::Both => moved.between(a, b).max(moved.between(b, a)),
            Self::OneWay => moved.between(b, a),
        }
    }
}

impl From<Seen> for Output {
    fn from(seen: Seen) -> Self {
        match seen {
            Seen::Logits => Self::Logits,
            Seen::Probabilities => Self::Probabilities,
        }
    }
}
