//! Attributes: which features and which class does a node have?

use rand::seq::SliceRandom;
use serde::{Deserialize, Serialize};
use veilgraph_attack::{PairScores, Record};
use veilgraph_contract::{Auditor, Draws, Invalid, NoParams, Progress, Stage, StageRng};
use veilgraph_graph::{Nodes, Predictions, Split};
use veilgraph_nn::ModelWeights;
use veilgraph_privacy::{NoisyFeatures, NoisyLabels};

use crate::Error;
use crate::answers::Answers;
use crate::targets::{check_number, number_of};

/// Scores the features of some nodes by their unbiased estimates: what the server itself believes.
pub struct ReportedFeatures;

/// Scores the features of the same nodes by how frequent each feature is in all reports: what is known of a node that sent nothing.
/// This is the floor of [`ReportedFeatures`].
pub struct FrequentFeatures;

/// Scores every class of the nodes that sent one: the sent class above all others.
pub struct ReportedLabels;

/// Scores every class of the nodes that sent one by what a trained network answers.
pub struct AnsweredLabels;

/// Scores every class of the test nodes, which sent none, by what a trained network answers: what the same network tells of a class that
/// it never saw. This is the floor of [`AnsweredLabels`].
pub struct AnsweredTestLabels;

/// What [`ReportedFeatures`] reads of `[audit]`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Params {
    /// Of how many nodes; as for [`crate::Targets`] where absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub targets: Option<usize>,
}

impl Stage for ReportedFeatures {
    const STAGE: &'static str = "audit";
    const TASK: &'static str = "reported-features";
    const DRAWS: Draws = Draws::EveryTrial;
    type Side = Auditor;
    type Params = Params;
    type Inputs = (NoisyFeatures,);
    type Outputs = (PairScores,);
    type Error = Error;

    fn check_params(params: &Params) -> Result<(), Error> {
        check_number(params.targets)
    }

    fn run((reported,): Self::Inputs, params: &Params, rng: &StageRng, _: &Progress) -> Result<Self::Outputs, Error> {
        let nodes = targets(&reported, *params, rng)?;
        Ok((of_every_feature(&nodes, reported.reports.n_nodes(), |node| estimates(&reported, node).collect()),))
    }
}

impl Stage for FrequentFeatures {
    const STAGE: &'static str = "audit";
    const TASK: &'static str = "frequent-features";
    const DRAWS: Draws = Draws::EveryTrial;
    type Side = Auditor;
    type Params = Params;
    type Inputs = (NoisyFeatures,);
    type Outputs = (PairScores,);
    type Error = Error;

    fn check_params(params: &Params) -> Result<(), Error> {
        check_number(params.targets)
    }

    fn run((reported,): Self::Inputs, params: &Params, rng: &StageRng, _: &Progress) -> Result<Self::Outputs, Error> {
        let nodes = targets(&reported, *params, rng)?;
        let n_nodes = reported.reports.n_nodes();
        let mut means = vec![0.0; reported.reports.n_features()];
        for node in 0..n_nodes as u32 {
            means.iter_mut().zip(estimates(&reported, node)).for_each(|(sum, estimate)| *sum += estimate);
        }
        means.iter_mut().for_each(|sum| *sum /= n_nodes as f64);
        // The same scores for every node, for those that leave its own report out would tell what it says in reverse.
        Ok((of_every_feature(&nodes, n_nodes, |_| means.clone()),))
    }
}

/// The nodes whose features are guessed, in ascending order: the same for every guess of a trial.
fn targets(reported: &NoisyFeatures, params: Params, rng: &StageRng) -> Result<Vec<u32>, Error> {
    let n_nodes = reported.reports.n_nodes();
    let targets = number_of(params.targets, n_nodes);
    if targets > n_nodes {
        return Err(Error::Pool { pool: crate::Pool::All, wanted: targets, found: n_nodes });
    }
    let mut nodes: Vec<u32> = (0..n_nodes as u32).collect();
    nodes.shuffle(&mut rng.fast_stream("targets", 0));
    nodes.truncate(targets);
    nodes.sort_unstable();
    Ok(nodes)
}

/// A score for every feature of each of these nodes.
fn of_every_feature(nodes: &[u32], n_nodes: usize, scores_of: impl Fn(u32) -> Vec<f64>) -> PairScores {
    let of_node = |&node: &u32| (0..).zip(scores_of(node)).map(move |(feature, score)| (node, feature, score));
    PairScores { record: Record::Feature, n_nodes, pairs: nodes.iter().flat_map(of_node).collect() }
}

/// The unbiased estimates of the features of a node, by feature.
fn estimates(reported: &NoisyFeatures, node: u32) -> impl Iterator<Item = f64> {
    let row = reported.reports.row(node as usize);
    row.into_iter().map(|value| reported.facts.offset + reported.facts.scale * f64::from(value))
}

impl Stage for ReportedLabels {
    const STAGE: &'static str = "audit";
    const TASK: &'static str = "reported-labels";
    const DRAWS: Draws = Draws::Never;
    type Side = Auditor;
    type Params = NoParams;
    type Inputs = (NoisyLabels,);
    type Outputs = (PairScores,);
    type Error = Error;

    fn run((reported,): Self::Inputs, _: &NoParams, _: &StageRng, _: &Progress) -> Result<Self::Outputs, Error> {
        let sent = |node: u32, class: u32| reported.labels.class(node).is_some_and(|sent| u32::from(sent) == class);
        let score = |node, class| f64::from(u8::from(sent(node, class)));
        Ok((of_every_class(&senders(&reported), reported.labels.n_classes(), score),))
    }
}

impl Stage for AnsweredLabels {
    const STAGE: &'static str = "audit";
    const TASK: &'static str = "answered-labels";
    const DRAWS: Draws = Draws::Never;
    type Side = Auditor;
    type Params = NoParams;
    type Inputs = (Predictions, ModelWeights, NoisyLabels);
    type Outputs = (PairScores,);
    type Error = Error;

    fn run(
        (predictions, weights, reported): Self::Inputs,
        _: &NoParams,
        _: &StageRng,
        _: &Progress,
    ) -> Result<Self::Outputs, Error> {
        let answers = Answers::of(&predictions, &weights)?;
        let last = reported.labels.classes().last().map_or(0, |&(node, _)| node as usize);
        if last >= answers.n_nodes() || reported.labels.n_classes() != answers.n_classes() {
            return Err(Invalid("the network knows other nodes or classes than the reports".to_owned()).into());
        }
        Ok((answered(&answers, &senders(&reported)),))
    }
}

impl Stage for AnsweredTestLabels {
    const STAGE: &'static str = "audit";
    const TASK: &'static str = "answered-test-labels";
    const DRAWS: Draws = Draws::Never;
    type Side = Auditor;
    type Params = NoParams;
    type Inputs = (Predictions, ModelWeights, Nodes);
    type Outputs = (PairScores,);
    type Error = Error;

    fn run(
        (predictions, weights, nodes): Self::Inputs,
        _: &NoParams,
        _: &StageRng,
        _: &Progress,
    ) -> Result<Self::Outputs, Error> {
        let answers = Answers::of(&predictions, &weights)?;
        if nodes.splits.len() != answers.n_nodes() {
            return Err(Invalid("the network knows other nodes than the data".to_owned()).into());
        }
        Ok((answered(&answers, &nodes.members(Split::Test)),))
    }
}

/// The nodes that sent a class, in ascending order.
fn senders(reported: &NoisyLabels) -> Vec<u32> {
    reported.labels.classes().iter().map(|&(node, _)| node).collect()
}

/// The probabilities that a network gives to every class of each of these nodes, which are in ascending order.
fn answered(answers: &Answers, nodes: &[u32]) -> PairScores {
    of_every_class(nodes, answers.n_classes(), |node, class| f64::from(answers.of_node(node)[class as usize]))
}

/// A score for every class of each of these nodes, which are in ascending order.
fn of_every_class(nodes: &[u32], n_classes: usize, score: impl Fn(u32, u32) -> f64) -> PairScores {
    let n_nodes = nodes.last().map_or(0, |&node| node as usize + 1);
    let classes = 0..n_classes as u32;
    let facts = nodes.iter().flat_map(|&node| classes.clone().map(move |class| (node, class)));
    let pairs = facts.map(|(node, class)| (node, class, score(node, class))).collect();
    PairScores { record: Record::Label, n_nodes, pairs }
}
