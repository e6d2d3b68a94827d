//! What guesses about canaries say about epsilon.

use serde::{Deserialize, Serialize};
use veilgraph_attack::{Canaries, PairScores, Record};
use veilgraph_bounds::Guesses;
use veilgraph_contract::{Auditor, Draws, Invalid, Progress, Stage, StageRng};

use crate::{Cell, Error, Metrics, Params, metric};

/// Bounds epsilon from below by guesses whose scores are log odds.
pub struct EvaluateCanaries;

/// Bounds epsilon from below by guesses whose scores are larger for likelier facts, and nothing more.
pub struct EvaluateRankedCanaries;

/// What guesses about canaries are held against; filled in by the plan.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CanaryParams {
    /// What the scores are about.
    pub cell: Cell,
    /// Trial that is scored.
    pub trial: u32,
    /// What the guesses may find of a fact, in nats, where they read a part of what was released and this part costs less than the
    /// whole.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub epsilon_read: Option<f64>,
}

impl From<Params> for CanaryParams {
    fn from(Params { cell, trial }: Params) -> Self {
        Self { cell, trial, epsilon_read: None }
    }
}

/// The printed bound exceeds the true epsilon with a chance of at most this.
const ALPHA: f64 = 0.01;

/// A run fails where epsilon exceeds the ledger with a chance of at most this that it fails wrongly: a tight mechanism
/// would fail once in some hundred runs at [`ALPHA`].
const GATE_ALPHA: f64 = 1e-6;

impl Stage for EvaluateCanaries {
    const STAGE: &'static str = "evaluate";
    const TASK: &'static str = "canaries";
    const DRAWS: Draws = Draws::Never;
    type Side = Auditor;
    type Params = CanaryParams;
    type Inputs = (PairScores, Canaries);
    type Outputs = (Metrics,);
    type Error = Error;

    fn run(
        (scores, canaries): Self::Inputs,
        params: &CanaryParams,
        _: &StageRng,
        _: &Progress,
    ) -> Result<Self::Outputs, Error> {
        let odds = paired(&scores, &canaries)?;
        let (_, dp_delta) = params.cell.cost_of(canaries.record);
        // With a delta, the theorem speaks of a number of guesses that was fixed before.
        let guesses = if dp_delta > 0.0 { guesses_by_sign(&odds) } else { guesses_by_odds(odds) };
        judged(guesses, &canaries, params)
    }
}

impl Stage for EvaluateRankedCanaries {
    const STAGE: &'static str = "evaluate";
    const TASK: &'static str = "ranked-canaries";
    const DRAWS: Draws = Draws::Never;
    type Side = Auditor;
    type Params = CanaryParams;
    type Inputs = (PairScores, Canaries);
    type Outputs = (Metrics,);
    type Error = Error;

    fn run(
        (scores, canaries): Self::Inputs,
        params: &CanaryParams,
        _: &StageRng,
        _: &Progress,
    ) -> Result<Self::Outputs, Error> {
        let scores = paired(&scores, &canaries)?;
        judged(guesses_by_rank(&scores), &canaries, params)
    }
}

/// The score of every canary that is guessed, with its coin. An attack may be told other coins than it guesses.
fn paired(scores: &PairScores, canaries: &Canaries) -> Result<Vec<(f64, bool)>, Invalid> {
    let other = || Invalid("the guesses are about other facts than the canaries".to_owned());
    // Scores in another order would look like guesses by chance, and a leak would pass.
    let ascend = scores.pairs.is_sorted_by(|a, b| (a.0, a.1) < (b.0, b.1));
    if scores.record != canaries.record || scores.n_nodes != canaries.n_nodes || !ascend {
        return Err(other());
    }
    let coin = |row: u32, column: u32| {
        let found = canaries.coins.binary_search_by_key(&(row, column), |coin| (coin.0, coin.1));
        found.map(|at| canaries.coins[at].2).map_err(|_| other())
    };
    scores.pairs.iter().map(|&(row, column, score)| Ok((score, coin(row, column)?))).collect()
}

/// Guesses the coins about which the log odds are surest: as many as give the largest bound, if the odds are right. The
/// choice knows no coin, so the bound holds for it.
fn guesses_by_odds(mut odds: Vec<(f64, bool)>) -> Guesses {
    odds.sort_by(|a, b| b.0.abs().total_cmp(&a.0.abs()));
    let mut best = (0.0, 0);
    let mut expected = 0.0;
    for (number, (sure, _)) in (1..).zip(&odds) {
        expected += 1.0 / (1.0 + libm::exp(-sure.abs()));
        // Coins about which the odds are equally sure are guessed together.
        if odds.get(number as usize).is_some_and(|next| next.0.abs() == sure.abs()) {
            continue;
        }
        let bound = Guesses { made: number, right: expected as u64 }.epsilon_lower_bound(ALPHA);
        if bound > best.0 {
            best = (bound, number);
        }
    }
    // Odds that promise no bound may be wrong: then whatever they say is guessed.
    let all = odds.iter().filter(|odds| odds.0 != 0.0).count() as u64;
    let made = if best.1 == 0 { all } else { best.1 };
    let right = odds[..made as usize].iter().filter(|(odds, is_true)| (*odds > 0.0) == *is_true).count();
    Guesses { made, right: right as u64 }
}

/// Guesses every coin by the sign of its odds.
fn guesses_by_sign(odds: &[(f64, bool)]) -> Guesses {
    let right = odds.iter().filter(|(odds, is_true)| (*odds > 0.0) == *is_true).count();
    Guesses { made: odds.len() as u64, right: right as u64 }
}

/// Guesses that a fact is true for every score above the median, and none for the others.
fn guesses_by_rank(scores: &[(f64, bool)]) -> Guesses {
    let mut sorted: Vec<f64> = scores.iter().map(|score| score.0).collect();
    sorted.sort_by(f64::total_cmp);
    let median = sorted.get(sorted.len() / 2).copied().unwrap_or(0.0);
    // Where half of the scores or more are the least one, that one is no sign of a true fact.
    let least = sorted.first().copied().unwrap_or(0.0);
    let is_guessed = |score: f64| if median > least { score >= median } else { score > median };
    let right = scores.iter().filter(|(score, is_link)| is_guessed(*score) == *is_link).count();
    Guesses { made: scores.len() as u64, right: right as u64 }
}

/// Scores of guesses, or an error where they are too good for what the ledger says.
///
/// Guesses that read a part of a release are held against what this part costs:
/// against the cost of the whole, a part that tells too much would pass.
///
/// # Source
/// Steinke, Nasr, Jagielski (2023), Privacy auditing with one (1) training run, theorem 5.2.
fn judged(guesses: Guesses, canaries: &Canaries, params: &CanaryParams) -> Result<(Metrics,), Error> {
    let (whole, dp_delta) = params.cell.cost_of(canaries.record);
    let claimed = params.epsilon_read.map_or(whole, |read| read.min(whole));
    let n_canaries = canaries.coins.len() as u64;
    // A label of a curator's training is one of two versions of a node's data.
    let bound = |guesses: Guesses, alpha| match canaries.record {
        Record::TrainingLabel => guesses.epsilon_lower_bound_of_versions(alpha, dp_delta, n_canaries),
        _ => guesses.epsilon_lower_bound_with_delta(alpha, dp_delta, n_canaries),
    };
    let sure = bound(guesses, GATE_ALPHA);
    if sure > claimed {
        let what = canaries.record;
        return Err(Error::Violation { what, sure, claimed, right: guesses.right, made: guesses.made });
    }
    let mut metrics = Metrics::about(&params.cell);
    let mut push = |metric, value: f64| metrics.push(params.trial, metric, value);
    push(&metric::EPSILON_LOWER_BOUND, bound(guesses, ALPHA));
    push(&metric::EPSILON_CEILING, bound(guesses.all_right(), ALPHA));
    push(&metric::CANARY_CONFIDENCE, 1.0 - ALPHA);
    push(&metric::CANARIES, n_canaries as f64);
    push(&metric::CANARY_GUESSES, guesses.made as f64);
    push(&metric::CANARY_RIGHT, guesses.right as f64);
    Ok((metrics,))
}

#[cfg(test)]
mod tests;
