//! How well an attack tells true facts from others.

use serde::{Deserialize, Serialize};
use veilgraph_attack::roc::Roc;
use veilgraph_attack::{PairScores, Record};
use veilgraph_bounds::{largest_area_under_curve, largest_true_positive_rate};
use veilgraph_contract::{Auditor, Draws, HeldOut, Invalid, Private, Progress, Stage, StageRng};
use veilgraph_graph::{AdjacencyList, Features, Labels, Nodes, SparseMatrix, Split};

use crate::metric::Metric;
use crate::{Cell, Error, Metrics, Params, metric, same_size};

/// Scores how an attack ranks pairs of nodes.
pub struct EvaluateAttack;

/// Scores how an attack ranks features or classes of nodes.
pub struct EvaluateAttributes;

/// Scores how an attack tells nodes that a network was trained on from those that it was not.
pub struct EvaluateMembership;

/// Scores what an attacker claims who believes in some density of links.
pub struct EvaluateClaims;

/// What the rows of [`EvaluateClaims`] are about.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClaimParams {
    /// What the scores are about.
    pub cell: Cell,
    /// Trial, where one is scored alone.
    pub trial: u32,
    /// How many links the attacker believes in, as a multiple of their true number among the attacked pairs.
    pub belief: f64,
}

/// Shares of other facts at which the share of true facts has an interval.
const INTERVALS: [(f64, [&Metric; 2]); 2] = [
    (1e-3, [&metric::ATTACK_TPR_AT_1E_3_LOW, &metric::ATTACK_TPR_AT_1E_3_HIGH]),
    (1e-2, [&metric::ATTACK_TPR_AT_1E_2_LOW, &metric::ATTACK_TPR_AT_1E_2_HIGH]),
];

impl Stage for EvaluateAttack {
    const STAGE: &'static str = "evaluate";
    const TASK: &'static str = "attack";
    const DRAWS: Draws = Draws::Never;
    type Side = Auditor;
    type Params = Params;
    type Inputs = (PairScores, Private<AdjacencyList>);
    type Outputs = (Metrics,);
    type Error = Error;

    fn run(
        (scores, Private(truth)): Self::Inputs,
        params: &Params,
        _: &StageRng,
        _: &Progress,
    ) -> Result<Self::Outputs, Error> {
        Ok((ranked(with_truth(&scores, &truth)?, scores.record, params),))
    }
}

impl Stage for EvaluateAttributes {
    const STAGE: &'static str = "evaluate";
    const TASK: &'static str = "attributes";
    const DRAWS: Draws = Draws::Never;
    type Side = Auditor;
    type Params = Params;
    /// Labels of test nodes are the truth about those that sent none.
    type Inputs = (PairScores, Option<Private<Features>>, Option<Private<Labels>>, Option<HeldOut<Labels>>);
    type Outputs = (Metrics,);
    type Error = Error;

    fn run(
        (scores, features, labels, test_labels): Self::Inputs,
        params: &Params,
        _: &StageRng,
        _: &Progress,
    ) -> Result<Self::Outputs, Error> {
        let facts: Vec<(f64, bool)> = match (scores.record, features, labels) {
            (Record::Feature, Some(Private(Features(features))), _) => {
                same_size(scores.n_nodes, features.n_rows())?;
                if let Some(other) = scores.pairs.iter().find(|pair| pair.1 as usize >= features.n_columns()) {
                    return Err(Invalid(format!("feature {} is scored, and the data do not have it", other.1)).into());
                }
                let means = means(&features);
                let value = |node: u32, feature: u32| {
                    let (columns, values) = features.row(node as usize);
                    columns.binary_search(&feature).map_or(0.0, |at| f64::from(values[at]))
                };
                let is_above = |node: u32, feature: u32| value(node, feature) > means[feature as usize];
                scores.pairs.iter().map(|&(node, feature, score)| (score, is_above(node, feature))).collect()
            }
            (Record::Label, _, Some(Private(labels))) => {
                let class_of = |node: u32| {
                    let of_test_node = || test_labels.as_ref().and_then(|HeldOut(labels)| labels.class(node));
                    labels.class(node).or_else(of_test_node)
                };
                let has = |node: u32, class: u32| class_of(node).is_some_and(|known| u32::from(known) == class);
                scores.pairs.iter().map(|&(node, class, score)| (score, has(node, class))).collect()
            }
            (record, ..) => return Err(Invalid(format!("there is no truth about `{record}` to compare with")).into()),
        };
        Ok((ranked(facts, scores.record, params),))
    }
}

impl Stage for EvaluateMembership {
    const STAGE: &'static str = "evaluate";
    const TASK: &'static str = "membership";
    const DRAWS: Draws = Draws::Never;
    type Side = Auditor;
    type Params = Params;
    type Inputs = (PairScores, Nodes);
    type Outputs = (Metrics,);
    type Error = Error;

    fn run((scores, nodes): Self::Inputs, params: &Params, _: &StageRng, _: &Progress) -> Result<Self::Outputs, Error> {
        same_size(scores.n_nodes, nodes.splits.len())?;
        let is_member = |node: u32| nodes.splits[node as usize] == Split::Train;
        let facts = scores.pairs.iter().map(|&(node, _, score)| (score, is_member(node)));
        Ok((ranked(facts.collect(), scores.record, params),))
    }
}

/// How well scores rank true facts above others, beside what the cost of a fact allows.
fn ranked(facts: Vec<(f64, bool)>, record: Record, params: &Params) -> Metrics {
    let mut metrics = Metrics::about(&params.cell);
    let mut push = |metric: &Metric, value: f64| metrics.push(params.trial, metric, value);
    push(&metric::ATTACK_LINKS, facts.iter().filter(|fact| fact.1).count() as f64);
    push(&metric::ATTACK_PAIRS, facts.len() as f64);
    let n_facts = facts.len();
    let Some(roc) = Roc::of(facts) else {
        tracing::warn!(
            "trial {}: all or none of the {n_facts} attacked facts are true, so that nothing can be ranked, and the areas are those of \
             the other trials alone; attack more targets",
            params.trial
        );
        return metrics;
    };
    let ranking = roc.ranking();
    push(&metric::ATTACK_AUC, ranking.area_under_curve);
    push(&metric::ATTACK_AVERAGE_PRECISION, ranking.average_precision);
    let (cost, dp_delta) = params.cell.cost_of(record);
    push(&metric::ATTACK_AUC_CAP, largest_area_under_curve(cost, dp_delta));
    for (rate, found) in metric::ROC_CURVE {
        push(found, roc.true_positive_rate_at(rate).value);
    }
    for (rate, [low, high]) in INTERVALS {
        let share = roc.true_positive_rate_at(rate);
        push(low, share.low);
        push(high, share.high);
    }
    push(&metric::ATTACK_TPR_AT_1E_3_CAP, largest_true_positive_rate(cost, dp_delta, 1e-3));
    metrics
}

/// The mean of every feature.
fn means(features: &SparseMatrix) -> Vec<f64> {
    let mut sums = vec![0.0; features.n_columns()];
    for node in 0..features.n_rows() {
        let (columns, values) = features.row(node);
        columns.iter().zip(values).for_each(|(&column, &value)| sums[column as usize] += f64::from(value));
    }
    sums.iter().map(|sum| sum / features.n_rows().max(1) as f64).collect()
}

impl Stage for EvaluateClaims {
    const STAGE: &'static str = "evaluate";
    const TASK: &'static str = "claims";
    const DRAWS: Draws = Draws::Never;
    type Side = Auditor;
    type Params = ClaimParams;
    type Inputs = (PairScores, Private<AdjacencyList>);
    type Outputs = (Metrics,);
    type Error = Error;

    fn run(
        (scores, Private(truth)): Self::Inputs,
        params: &ClaimParams,
        _: &StageRng,
        _: &Progress,
    ) -> Result<Self::Outputs, Error> {
        let pairs = with_truth(&scores, &truth)?;
        let mut metrics = Metrics::about(&params.cell);
        let Some(roc) = Roc::of(pairs) else { return Ok((metrics,)) };
        // A belief times a number of links that is whole may be rounded up.
        let n_claimed = params.belief * roc.n_links() as f64 * (1.0 - 1e-12);
        if !(n_claimed > 0.0 && n_claimed <= roc.n_pairs() as f64) {
            return Err(Invalid(format!(
                "beliefs: {} times the {} links is no number of links among {} pairs; a believed density lies in (0, 1]",
                params.belief,
                roc.n_links(),
                roc.n_pairs()
            ))
            .into());
        }
        let claimed = roc.claimed(n_claimed.ceil() as usize);
        metrics.push(params.trial, &metric::ATTACK_PRECISION, claimed.precision);
        metrics.push(params.trial, &metric::ATTACK_RECALL, claimed.recall);
        metrics.push(params.trial, &metric::ATTACK_F1, claimed.f1());
        Ok((metrics,))
    }
}

/// Scores of pairs, and whether each is a link.
fn with_truth(scores: &PairScores, truth: &AdjacencyList) -> Result<Vec<(f64, bool)>, Invalid> {
    same_size(scores.n_nodes, truth.n_nodes())?;
    Ok(scores.pairs.iter().map(|&(i, j, score)| (score, truth.contains(i as usize, j))).collect())
}
