//! What guesses about canaries say about epsilon.

use veilgraph_attack::bound::Guesses;
use veilgraph_attack::{Canaries, PairScores};
use veilgraph_contract::{Auditor, Draws, Invalid, Progress, Stage, StageRng};

use crate::{Error, Metrics, Params, metric};

/// Bounds epsilon from below by guesses whose scores are log odds.
pub struct EvaluateCanaries;

/// Bounds epsilon from below by guesses whose scores are larger for likelier links, and nothing more.
pub struct EvaluateRankedCanaries;

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
    type Params = Params;
    type Inputs = (PairScores, Canaries);
    type Outputs = (Metrics,);
    type Error = Error;

    fn run(
        (scores, canaries): Self::Inputs,
        params: &Params,
        _: &StageRng,
        _: &Progress,
    ) -> Result<Self::Outputs, Error> {
        let odds = paired(&scores, &canaries)?;
        judged(guesses_by_odds(odds), canaries.pairs.len(), params)
    }
}

impl Stage for EvaluateRankedCanaries {
    const STAGE: &'static str = "evaluate";
    const TASK: &'static str = "ranked-canaries";
    const DRAWS: Draws = Draws::Never;
    type Side = Auditor;
    type Params = Params;
    type Inputs = (PairScores, Canaries);
    type Outputs = (Metrics,);
    type Error = Error;

    fn run(
        (scores, canaries): Self::Inputs,
        params: &Params,
        _: &StageRng,
        _: &Progress,
    ) -> Result<Self::Outputs, Error> {
        let scores = paired(&scores, &canaries)?;
        judged(guesses_by_rank(&scores), canaries.pairs.len(), params)
    }
}

/// The score of every canary with its coin.
fn paired(scores: &PairScores, canaries: &Canaries) -> Result<Vec<(f64, bool)>, Invalid> {
    let ids = scores.pairs.iter().map(|&(i, j, _)| (i, j));
    // Scores in another order would look like guesses by chance, and a leak would pass.
    if scores.n_nodes != canaries.n_nodes || !ids.eq(canaries.pairs.iter().map(|&(i, j, _)| (i, j))) {
        return Err(Invalid("the guesses are about other pairs than the canaries".to_owned()));
    }
    Ok(scores.pairs.iter().zip(&canaries.pairs).map(|(score, canary)| (score.2, canary.2)).collect())
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
    let made = &odds[..best.1 as usize];
    Guesses { made: best.1, right: made.iter().filter(|(odds, is_link)| (*odds > 0.0) == *is_link).count() as u64 }
}

/// Guesses a link for every score above the median, and none for the others.
fn guesses_by_rank(scores: &[(f64, bool)]) -> Guesses {
    let mut sorted: Vec<f64> = scores.iter().map(|score| score.0).collect();
    sorted.sort_by(f64::total_cmp);
    let median = sorted.get(sorted.len() / 2).copied().unwrap_or(0.0);
    // Where half of the scores or more are the least one, that one is no sign of a link.
    let least = sorted.first().copied().unwrap_or(0.0);
    let is_guessed = |score: f64| if median > least { score >= median } else { score > median };
    let right = scores.iter().filter(|(score, is_link)| is_guessed(*score) == *is_link).count();
    Guesses { made: scores.len() as u64, right: right as u64 }
}

/// Scores of guesses, or an error where they are too good for what the ledger says.
fn judged(guesses: Guesses, n_canaries: usize, params: &Params) -> Result<(Metrics,), Error> {
    let claimed = params.cell.epsilon_edge;
    let sure = guesses.epsilon_lower_bound(GATE_ALPHA);
    if sure > claimed {
        return Err(Error::Violation { sure, claimed, right: guesses.right, made: guesses.made });
    }
    let mut metrics = Metrics::about(&params.cell);
    let mut push = |metric, value: f64| metrics.push(params.trial, metric, value);
    push(&metric::EPSILON_LOWER_BOUND, guesses.epsilon_lower_bound(ALPHA));
    push(&metric::EPSILON_CEILING, guesses.ceiling(ALPHA));
    push(&metric::CANARIES, n_canaries as f64);
    push(&metric::CANARY_GUESSES, guesses.made as f64);
    push(&metric::CANARY_RIGHT, guesses.right as f64);
    Ok((metrics,))
}

#[cfg(test)]
mod tests;
