//! This module goes from degrees and evidence to the posterior.

use veilgraph_contract::Progress;
use veilgraph_posterior::{LinkEvidence, LinkModel, Posterior};

use crate::beta_model::{Fitted, fit, fit_posterior, with_smallest_ridge};
use crate::bin_odds::{BinOddsModel, FitInputs, LearnedOdds, learn_bin_odds};
use crate::known_pairs::{KnownPairs, SimilarClaims};
use crate::newton::Goal;
use crate::triangles::{self, CrossedBin};
use crate::{Error, Params, Solver};

/// At most this share of all pairs is told from the others by common neighbours.
const SHARE: f64 = 0.05;
/// At most this many pairs are told from the others by common neighbours.
const MOST_PAIRS: usize = 1 << 21;
/// The sums of the posterior's rows come so near to the degrees.
const MATCHED: Goal = Goal { residual: 1e-5, most_steps: 100 };

/// Finds the posterior under which the nodes have these degrees: its parameters, and the evidence with the final bins.
///
/// `one_sided` are the nodes that sent nothing.
///
/// # Shapes
/// `degrees`: `[n]`, links.
pub(crate) fn believe(
    degrees: &[f64],
    evidence: LinkEvidence,
    epsilon_links: f64,
    one_sided: &[u32],
    params: &Params,
    progress: &Progress,
) -> Result<(LinkModel, LinkEvidence), Error> {
    /// A rough match suffices to count common neighbours.
    const ROUGH: Goal = Goal { residual: 1e-2, most_steps: 100 };
    // A ridge that the config sets is the one that is wanted.
    let may_grow = params.ridge == 0.0;
    let (prior, ridge) =
        with_smallest_ridge(params.ridge, may_grow, |ridge| fit(degrees, params.solver, ridge, progress))?;
    let inputs = FitInputs { degrees, epsilon_links, one_sided, ridge };
    let model = |belief: Belief| {
        let Belief { posterior: Fitted { beta, residual, iterations }, bin_logits, ridge, .. } = belief;
        let fallback_ridge = if may_grow { ridge } else { 0.0 };
        tracing::debug!(iterations, residual, ?bin_logits, "fitted");
        let degrees = degrees.to_vec();
        LinkModel { degrees, beta, epsilon_links, bin_logits, residual, iterations, fallback_ridge }
    };
    let start = Belief { posterior: prior.clone(), prior, bin_logits: Vec::new(), ridge, may_grow };
    let bins = BinOddsModel::free(evidence.similar().n_bins());
    if !params.finds_triangles(epsilon_links) {
        let belief = update(start, &inputs, &evidence, &bins, params.match_degrees.then_some(MATCHED), progress)?;
        return Ok((model(belief), evidence));
    }
    let belief = update(start, &inputs, &evidence, &bins, Some(ROUGH), progress)?;
    let first = Posterior::new(&model(belief.clone()), evidence)?;
    let crossed = triangles::cross(&first, degrees, SHARE, MOST_PAIRS)?;
    let bins = learn_neighbour_bins(&crossed.bins, &belief.bin_logits);
    let evidence = first.into_evidence().with_similar(crossed.pairs)?;
    let belief = update(belief, &inputs, &evidence, &bins, Some(MATCHED), progress)?;
    Ok((model(belief), evidence))
}

/// Holds what is believed of nodes and bins.
#[derive(Clone)]
struct Belief {
    prior: Fitted,
    posterior: Fitted,
    /// The log odds of each bin, from bin 1 on.
    bin_logits: Vec<f64>,
    /// The penalty on all parameters.
    ridge: f64,
    /// Whether a larger penalty may be used where this one does not suffice.
    may_grow: bool,
}

/// Learns the log odds of the bins; then, if there is a `goal`, matches the posterior's degrees to it.
///
/// A missing node sent no bits, so half of the evidence about its pairs is absent: a pair with one report has the log
/// odds `(2 claims − 1) ε_links`, not `2 (claims − 1) ε_links`. Adding `ε_links` to the parameter of a missing node
/// turns the second into the first, and into 0 for a pair of two missing nodes.
fn update(
    start: Belief,
    inputs: &FitInputs,
    evidence: &LinkEvidence,
    bins: &BinOddsModel,
    goal: Option<Goal>,
    progress: &Progress,
) -> Result<Belief, Error> {
    let similar = SimilarClaims::new(evidence);
    let Belief { mut prior, mut posterior, mut bin_logits, mut ridge, may_grow } = start;
    if !bins.learned_index.is_empty() {
        LearnedOdds { prior, bin_logits } = learn_bin_odds(prior, inputs, &similar, bins, progress);
    }
    let FitInputs { degrees, epsilon_links, one_sided, .. } = *inputs;
    match goal {
        Some(goal) if epsilon_links.is_finite() => {
            let known = KnownPairs::posterior(&similar, epsilon_links, &bin_logits);
            let first = ridge;
            let fit = |ridge| {
                // Newton's method finds a posterior with a larger ridge from a prior with that ridge.
                let start = if ridge > first {
                    fit(degrees, Solver::Newton, ridge, progress)?.beta
                } else {
                    posterior.beta.clone()
                };
                fit_posterior(degrees, start, &known, ridge, goal, progress)
            };
            (posterior, ridge) = with_smallest_ridge(ridge, may_grow, fit)?;
            posterior.iterations += prior.iterations;
        }
        _ => {
            posterior = prior.clone();
            // Matching finds these parameters by itself; without it they are moved here.
            one_sided.iter().for_each(|&node| posterior.beta[node as usize] += epsilon_links);
        }
    }
    Ok(Belief { prior, posterior, bin_logits, ridge, may_grow })
}

/// Keeps the log odds that are known of the bins of features, and lets all bins with the same bin of common neighbours
/// learn their log odds together.
///
/// # Shapes
/// `crossed`: one entry for each bin of pairs; `feature_logits`: `[bins of features]`; both from bin 1 on.
fn learn_neighbour_bins(crossed: &[CrossedBin], feature_logits: &[f64]) -> BinOddsModel {
    let index = |bin: u8| bin.checked_sub(1).map(usize::from);
    BinOddsModel {
        fixed_logits: crossed.iter().map(|bin| index(bin.features).map_or(0.0, |at| feature_logits[at])).collect(),
        learned_index: crossed.iter().map(|bin| index(bin.neighbours)).collect(),
        n_learned: crossed.iter().map(|bin| usize::from(bin.neighbours)).max().unwrap_or(0),
    }
}
