//! Link stealing from a network that is asked about nodes with a neighbourhood of the attacker's choice.

use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use veilgraph_attack::PairScores;
use veilgraph_contract::{Auditor, Draws, Private, Progress, Stage, StageRng};
use veilgraph_graph::{AdjacencyList, EstimatedFeatures, Features, Labels, Nodes};
use veilgraph_nn::{ModelWeights, SavedModel};
use veilgraph_privacy::NoisyLabels;

use super::classifier::Classifier;
use super::rows::Rows;
use super::shadow::{Shadow, Whole};
use super::shadow_model::{DescribedBy, given_labels};
use crate::Error;
use crate::targets::{Pool, Targets, check_number, pairs_of, scored};

mod neighbourhoods;

use neighbourhoods::{Question, answers_about};

/// Scores pairs by what a network answers about each of two nodes with its neighbours, their own link left out.
///
/// A network that can be applied to new nodes is asked about a node together with the links around it. The attacker knows
/// these up to some hops, but for the link in question; with no hop it knows the features of the node alone. It learns
/// from a shadow how answers about linked nodes look.
///
/// # Source
/// Wu, He, Berrang, Humbert, Backes, Gong, Zhang (2024), Link stealing attacks against inductive graph neural networks,
/// `PoPETs`: posterior-only attacks with 0, 1 and 2 hops, and combined attacks.
pub struct Inductive;

/// What the attack reads of `[audit]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct InductiveParams {
    /// How many nodes are attacked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub targets: Option<usize>,
    /// Of which nodes.
    pub pool: Pool,
    /// What describes a pair.
    pub described_by: DescribedBy,
    /// How far the neighbourhood reaches that the network is asked about.
    pub hops: u32,
}

impl Default for InductiveParams {
    /// Two hops: as far as a network of two layers reaches.
    fn default() -> Self {
        let Targets { targets, pool } = Targets::default();
        Self { targets, pool, described_by: DescribedBy::default(), hops: 2 }
    }
}

impl Stage for Inductive {
    const STAGE: &'static str = "audit";
    const TASK: &'static str = "inductive";
    const DRAWS: Draws = Draws::EveryTrial;
    type Side = Auditor;
    type Params = InductiveParams;
    type Inputs = (
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

    fn check_params(params: &InductiveParams) -> Result<(), Error> {
        check_number(params.targets)
    }

    fn run(
        (weights, nodes, features, estimated, labels, noisy, Private(truth)): Self::Inputs,
        params: &InductiveParams,
        rng: &StageRng,
        progress: &Progress,
    ) -> Result<Self::Outputs, Error> {
        let targets = Targets { targets: params.targets, pool: params.pool }.draw(&truth, &nodes, rng)?;
        let rows = Rows::new(features, estimated)?;
        rows.check(truth.n_nodes())?;
        // Propagated features of a few nodes are not those of the whole graph.
        if rows.are_propagated() {
            return Err(Error::PropagatedFeatures);
        }
        let labels = given_labels(labels, noisy)?;
        let whole = Whole { truth: &truth, rows: &rows, nodes: &nodes, labels: &labels, weights: &weights };
        let shadow = Shadow::new(&whole, &targets, rng, progress)?;

        let pairs = shadow.pairs(rng);
        let asked: Vec<(u32, u32)> = pairs.iter().map(|&(i, j, _)| (i, j)).collect();
        let described = described(&shadow.network, &shadow.rows, &shadow.links, &asked, *params)?;
        let are_links = pairs.iter().map(|pair| pair.2);
        let described: Vec<(Vec<f64>, bool)> = described.into_iter().zip(are_links).collect();
        let classifier = Classifier::learn(&described, rng, progress)?;

        let asked: Vec<(u32, u32)> = pairs_of(targets.len()).map(|(a, b)| (targets[a], targets[b])).collect();
        let described = self::described(&weights.best()?, &rows, &truth, &asked, *params)?;
        let mut odds = classifier.log_odds(&described)?.into_iter();
        Ok((scored(truth.n_nodes(), &targets, |_, _| odds.next().unwrap_or(f64::NEG_INFINITY)),))
    }
}

/// A description of every pair, by the answers about both nodes with the links around them.
fn described(
    network: &SavedModel,
    rows: &Rows,
    links: &AdjacencyList,
    pairs: &[(u32, u32)],
    params: InductiveParams,
) -> Result<Vec<Vec<f64>>, Error> {
    // A link is left out of the neighbourhoods of its ends. Where there is none, all pairs share the answer about a node.
    let question = |node: u32, other: u32| Question {
        node,
        without: (params.hops > 0 && links.contains(node as usize, other)).then_some(other),
    };
    let mut questions: Vec<Question> = pairs.iter().flat_map(|&(i, j)| [question(i, j), question(j, i)]).collect();
    questions.sort_unstable();
    questions.dedup();
    let answers = answers_about(network, rows, links, &questions, params.hops)?;
    let answer = |asked: Question| match questions.binary_search(&asked) {
        Ok(at) => &answers[at],
        Err(_) => unreachable!("every question was asked"),
    };
    let mut nodes: Vec<u32> = questions.iter().map(|question| question.node).collect();
    nodes.dedup();
    let features = params.described_by.rows(rows, &nodes);
    let of_node = |node: u32| nodes.binary_search(&node).map_or(&[][..], |at| &features[at]);
    let describe = |&(i, j): &(u32, u32)| {
        params.described_by.describe([answer(question(i, j)), answer(question(j, i))], [of_node(i), of_node(j)])
    };
    Ok(pairs.par_iter().map(describe).collect())
}
