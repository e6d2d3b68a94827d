//! How well an attack tells the true links.

use serde::{Deserialize, Serialize};
use veilgraph_attack::PairScores;
use veilgraph_attack::bound::{largest_area_under_curve, largest_true_positive_rate};
use veilgraph_attack::roc::Roc;
use veilgraph_contract::{Auditor, Draws, Invalid, Private, Progress, Stage, StageRng};
use veilgraph_graph::{AdjacencyList, Ranking};

use crate::metric::Metric;
use crate::{Cell, Error, Metrics, Params, metric, same_size};

/// Scores how an attack ranks pairs.
pub struct EvaluateAttack;

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

/// A share of other pairs that an attacker may take for links, with the metrics of what it finds there.
struct At {
    rate: f64,
    found: &'static Metric,
    ends: Option<[&'static Metric; 2]>,
    cap: Option<&'static Metric>,
}

const RATES: [At; 4] = [
    At { rate: 1e-4, found: &metric::ATTACK_TPR_AT_1E_4, ends: None, cap: None },
    At {
        rate: 1e-3,
        found: &metric::ATTACK_TPR_AT_1E_3,
        ends: Some([&metric::ATTACK_TPR_AT_1E_3_LOW, &metric::ATTACK_TPR_AT_1E_3_HIGH]),
        cap: Some(&metric::ATTACK_TPR_AT_1E_3_CAP),
    },
    At {
        rate: 1e-2,
        found: &metric::ATTACK_TPR_AT_1E_2,
        ends: Some([&metric::ATTACK_TPR_AT_1E_2_LOW, &metric::ATTACK_TPR_AT_1E_2_HIGH]),
        cap: None,
    },
    At { rate: 1e-1, found: &metric::ATTACK_TPR_AT_1E_1, ends: None, cap: None },
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
        let pairs = with_truth(&scores, &truth)?;
        let mut metrics = Metrics::about(&params.cell);
        let mut push = |metric: &Metric, value: f64| metrics.push(params.trial, metric, value);
        push(&metric::ATTACK_LINKS, pairs.iter().filter(|pair| pair.1).count() as f64);
        push(&metric::ATTACK_PAIRS, pairs.len() as f64);
        // Targets without a link among them leave nothing to find.
        let (Some(ranking), Some(roc)) = (Ranking::of(&pairs), Roc::of(pairs)) else { return Ok((metrics,)) };
        push(&metric::ATTACK_AUC, ranking.area_under_curve);
        push(&metric::ATTACK_AVERAGE_PRECISION, ranking.average_precision);
        let cost = params.cell.epsilon_edge;
        push(&metric::ATTACK_AUC_CAP, largest_area_under_curve(cost));
        for At { rate, found, ends, cap } in RATES {
            let share = roc.true_positive_rate_at(rate);
            push(found, share.value);
            if let Some([low, high]) = ends {
                push(low, share.low);
                push(high, share.high);
            }
            if let Some(cap) = cap {
                push(cap, largest_true_positive_rate(cost, rate));
            }
        }
        Ok((metrics,))
    }
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
        let n_claimed = params.belief * roc.n_links() as f64;
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
