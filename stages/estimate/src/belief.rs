//! From degrees and evidence to the posterior.

use veilgraph_contract::Progress;
use veilgraph_posterior::{LinkEvidence, LinkModel, Posterior};

use crate::beta_model::{Fitted, fit, fit_posterior};
use crate::known_pairs::{KnownPairs, SimilarClaims};
use crate::newton::Goal;
use crate::similarity::{Bins, Reports, learn};
use crate::{Error, Params, triangles};

/// Pairs with common neighbours that are told from others: at most this share of all, and at most this many.
const SHARE: f64 = 0.05;
const MOST_PAIRS: usize = 1 << 21;

/// The posterior under which the nodes have these degrees.
pub(crate) fn believe(
    degrees: &[f64],
    evidence: LinkEvidence,
    epsilon_links: f64,
    one_sided: &[u32],
    params: &Params,
    progress: &Progress,
) -> Result<(LinkModel, LinkEvidence), Error> {
    /// Enough to count common neighbours by.
    const ROUGH: Goal = Goal { residual: 1e-2, most_steps: 100 };
    let reports = Reports { degrees, epsilon_links, one_sided, ridge: params.ridge };
    let model = |belief: Belief| {
        let Belief { posterior: Fitted { beta, residual, iterations }, bin_logits, .. } = belief;
        tracing::debug!(iterations, residual, ?bin_logits, "fitted");
        LinkModel { degrees: degrees.to_vec(), beta, epsilon_links, bin_logits, residual, iterations }
    };
    let prior = fit(degrees, params.solver, params.ridge, progress)?;
    let start = Belief { posterior: prior.clone(), prior, bin_logits: Vec::new() };
    let bins = Bins::free(evidence.similar().n_bins());
    if !params.finds_triangles(epsilon_links) {
        let belief = update(start, &reports, &evidence, &bins, params.match_degrees.then_some(MATCHED), progress)?;
        return Ok((model(belief), evidence));
    }
    let belief = update(start, &reports, &evidence, &bins, Some(ROUGH), progress)?;
    let first = Posterior::new(&model(belief.clone()), evidence)?;
    let crossed = triangles::cross(&first, degrees, SHARE, MOST_PAIRS)?;
    let bins = bins_beside(&crossed.parts, &belief.bin_logits);
    let evidence = first.into_evidence().with_similar(crossed.pairs)?;
    let belief = update(belief, &reports, &evidence, &bins, Some(MATCHED), progress)?;
    Ok((model(belief), evidence))
}

/// How near the posterior's row sums come to the degrees.
const MATCHED: Goal = Goal { residual: 1e-5, most_steps: 100 };

/// What is believed of nodes and bins.
#[derive(Clone)]
struct Belief {
    prior: Fitted,
    posterior: Fitted,
    bin_logits: Vec<f64>,
}

/// Learns the log odds of the bins, and matches the degrees to `goal` if there is one.
fn update(
    start: Belief,
    reports: &Reports,
    evidence: &LinkEvidence,
    bins: &Bins,
    goal: Option<Goal>,
    progress: &Progress,
) -> Result<Belief, Error> {
    let similar = SimilarClaims::new(evidence);
    let Belief { mut prior, mut posterior, mut bin_logits } = start;
    if !bins.part.is_empty() {
        (prior, bin_logits) = learn(prior, reports, &similar, bins, progress);
    }
    let Reports { degrees, epsilon_links, one_sided, ridge } = *reports;
    match goal {
        Some(goal) if epsilon_links.is_finite() => {
            let known = KnownPairs::posterior(&similar, epsilon_links, &bin_logits);
            posterior = fit_posterior(degrees, posterior.beta, &known, ridge, goal, progress)?;
            posterior.iterations += prior.iterations;
        }
        _ => {
            posterior = prior.clone();
            // Half the evidence about a missing node was never sent. With `2 (claims − 1) ε` for two reports
            // and `(2 claims − 1) ε` for one, adding ε to its parameter turns the first into the second, and
            // into 0 between two missing nodes. Matching finds that by itself.
            one_sided.iter().for_each(|&node| posterior.beta[node as usize] += epsilon_links);
        }
    }
    Ok(Belief { prior, posterior, bin_logits })
}

/// Bins of features with the log odds that they have, crossed with bins of common neighbours that are to be learned.
fn bins_beside(parts: &[[u8; 2]], feature_logits: &[f64]) -> Bins {
    let position = |bin: u8| bin.checked_sub(1).map(usize::from);
    Bins {
        fixed: parts.iter().map(|&[own, _]| position(own).map_or(0.0, |own| feature_logits[own])).collect(),
        part: parts.iter().map(|&[_, near]| position(near)).collect(),
        n_parts: parts.iter().map(|&[_, near]| usize::from(near)).max().unwrap_or(0),
    }
}
