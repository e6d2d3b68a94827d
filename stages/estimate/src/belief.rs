//! This module goes from degrees and evidence to the posterior.

use rayon::prelude::*;
use veilgraph_contract::Progress;
use veilgraph_posterior::{LinkEvidence, LinkModel, Posterior};
use veilgraph_privacy::Budget;

use crate::beta_model::{Fitted, fit, fit_posterior, with_smallest_ridge};
use crate::bin_odds::{BinOddsModel, FitInputs, LearnedOdds, learn_bin_odds};
use crate::blocks::{Intervals, PairScores};
use crate::degrees::UsedDegrees;
use crate::known_pairs::KnownPairs;
use crate::matching::{TypicalClaims, fit_with_typical};
use crate::newton::{Goal, Ridge};
use crate::similar_claims::SimilarClaims;
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
pub(crate) fn believe(
    used: &UsedDegrees,
    mut evidence: LinkEvidence,
    bins: Bins,
    budget: Budget,
    one_sided: &[u32],
    params: &Params,
    progress: &Progress,
) -> Result<(LinkModel, LinkEvidence), Error> {
    /// Bins of scores are so many where they are the last ones.
    const MOST_BINS: u8 = 250;
    /// Bins of scores are so many where each is crossed with the bins of common neighbours.
    const MOST_CROSSED_BINS: u8 = 27;
    /// A rough match suffices to count common neighbours.
    const ROUGH: Goal = Goal { residual: 1e-2, most_steps: 100 };
    // A ridge that the config sets is the one that is wanted.
    let may_grow = params.ridge == 0.0;
    let for_prior = used.for_prior();
    let degrees = for_prior.as_slice();
    let centred_ridge = params.centred_ridge.unwrap_or_else(|| centred_ridge(used.squared_variation));
    let (prior, ridge) =
        with_smallest_ridge(params.ridge, may_grow, |ridge| fit(degrees, params.solver, ridge, progress))?;
    let inputs = FitInputs { degrees, epsilon_links: budget.links, one_sided, ridge };
    let matched = |goal| Matching { degrees: &used.degrees, centred_ridge, goal };
    let (homophily, latent_blocks) = match &bins {
        Bins::Learned => (None, None),
        Bins::Scored(scores) => (Some(scores.homophily), scores.n_latent),
    };
    let model = |belief: Belief| {
        let Belief { posterior: Fitted { beta, residual, iterations }, bin_logits, bin_change, ridge, .. } = belief;
        let fallback_ridge = if may_grow { ridge } else { 0.0 };
        tracing::debug!(iterations, residual, ?bin_logits, "fitted");
        let (degrees, centred_ridge) =
            if params.match_degrees { (&used.degrees, Some(centred_ridge)) } else { (&for_prior, None) };
        LinkModel {
            degrees: degrees.clone(),
            beta,
            epsilon_links: budget.links,
            epsilon_degree: budget.degree,
            bin_logits,
            residual,
            iterations,
            ridge: params.ridge,
            fallback_ridge,
            centred_ridge,
            bin_change,
            homophily,
            latent_blocks,
        }
    };
    let mut start =
        Belief { posterior: prior.clone(), prior, bin_logits: Vec::new(), bin_change: 0.0, ridge, may_grow };
    let finds_triangles = params.finds_triangles(budget.links);
    let (bins, scores) = match bins {
        Bins::Learned => (BinOddsModel::free(evidence.similar().n_bins()), None),
        Bins::Scored(given) => {
            let most_bins = if finds_triangles { MOST_CROSSED_BINS } else { MOST_BINS };
            let scores;
            (evidence, scores) = calibrated(evidence, given, &mut start, &inputs, MOST_CROSSED_BINS, progress)?;
            let bins = Intervals::new(&scores.rows, most_bins);
            evidence = evidence.with_similar(bins.pairs(&scores.rows)?)?;
            (BinOddsModel::fixed(bins.logits), Some(scores))
        }
    };
    if !finds_triangles {
        // Their bins are all that is needed from here on, and there may be tens of millions of scores.
        drop(scores);
        let belief =
            update(start, &inputs, &evidence, &bins, params.match_degrees.then(|| matched(MATCHED)), progress)?;
        return Ok((model(belief), evidence));
    }
    let mut belief = update(start, &inputs, &evidence, &bins, Some(matched(ROUGH)), progress)?;
    let first = Posterior::new(&model(belief.clone()), evidence)?;
    let crossed = triangles::cross(&first, &used.degrees, SHARE, MOST_PAIRS)?;
    tracing::debug!(pairs = crossed.pairs.n_pairs(), "common neighbours counted");
    let mut bins = learn_neighbour_bins(&crossed.bins, &belief.bin_logits);
    let mut evidence = first.into_evidence().with_similar(crossed.pairs)?;
    if let Some(scores) = scores {
        // Scores were rounded to few bins to learn what common neighbours add to them; now they need not be. Learning reads
        // the prior alone, and the last match begins at the first one, so there is no match in between.
        belief = with_learned_bins(belief, &inputs, &SimilarClaims::new(&evidence), &bins, None, progress);
        let raised = raised(scores, &evidence, &bins, &belief);
        let intervals = Intervals::new(&raised, MOST_BINS);
        evidence = evidence.with_similar(intervals.pairs(&raised)?)?;
        bins = BinOddsModel::fixed(intervals.logits);
    }
    let belief = update(belief, &inputs, &evidence, &bins, Some(matched(MATCHED)), progress)?;
    Ok((model(belief), evidence))
}

/// Says how pairs are told from each other beside their claims.
pub(crate) enum Bins {
    /// By the bins of similar pairs, whose log odds are learned.
    Learned,
    /// By scores, which are log odds themselves.
    Scored(PairScores),
}

/// Learns from the reports what scores are worth: pairs with about equal scores form a bin, and what its log odds are
/// beyond the score is learned from those pairs that were listed before any report was read. Pairs that are listed because
/// they were claimed twice would all seem linked.
fn calibrated(
    evidence: LinkEvidence,
    mut scores: PairScores,
    start: &mut Belief,
    inputs: &FitInputs,
    n_bins: u8,
    progress: &Progress,
) -> Result<(LinkEvidence, PairScores), Error> {
    let intervals = Intervals::new(&scores.rows, n_bins);
    let listed = |(i, row): (usize, &Vec<(u32, f32)>)| -> Vec<(u32, f32)> {
        row.iter().copied().filter(|&(j, _)| evidence.similar().bin(i, j) > 0).collect()
    };
    let listed: Vec<Vec<(u32, f32)>> = scores.rows.par_iter().enumerate().map(listed).collect();
    let evidence = evidence.with_similar(intervals.pairs(&listed)?)?;
    let bins = BinOddsModel {
        fixed_logits: intervals.logits.clone(),
        learned_index: (0..intervals.logits.len()).map(Some).collect(),
        n_learned: intervals.logits.len(),
        width: SCORE_ERROR,
    };
    let similar = SimilarClaims::new(&evidence);
    let learned = learn_bin_odds(&start.prior, inputs, &similar, &bins, None, progress);
    start.bin_change = learned.change;
    let map = |(_, logit): &mut (u32, f32)| *logit = intervals.mapped(*logit, &learned.bin_logits);
    scores.rows.par_iter_mut().for_each(|row| row.iter_mut().for_each(map));
    tracing::debug!(before = ?intervals.logits, after = ?learned.bin_logits, "scores calibrated");
    Ok((evidence, scores))
}

/// The log odds of a bin are believed to differ from its scores by about this many nats.
const SCORE_ERROR: f64 = 0.5;

/// Adds to the scores what common neighbours add to the log odds of a pair; the rows of the scores become those of the result.
fn raised(scores: PairScores, crossed: &LinkEvidence, bins: &BinOddsModel, belief: &Belief) -> Vec<Vec<(u32, f32)>> {
    let added = |bin: u8| {
        let at = usize::from(bin) - 1;
        (belief.bin_logits[at] - bins.fixed_logits[at]) as f32
    };
    let raise = |(i, row): (usize, &mut Vec<(u32, f32)>)| {
        row.extend(crossed.similar().row(i).map(|(j, bin)| (j, added(bin))));
        row.sort_by_key(|&(j, _)| j);
        row.dedup_by(|next, kept| {
            let is_same = next.0 == kept.0;
            kept.1 += if is_same { next.1 } else { 0.0 };
            is_same
        });
        row.shrink_to_fit();
    };
    let mut rows = scores.rows;
    rows.par_iter_mut().enumerate().for_each(raise);
    rows
}

/// Holds what is believed of nodes and bins.
#[derive(Clone)]
struct Belief {
    prior: Fitted,
    posterior: Fitted,
    /// The log odds of each bin, from bin 1 on.
    bin_logits: Vec<f64>,
    /// No log odds changed by more than this in the last pass of their learning.
    bin_change: f64,
    /// The penalty that draws all parameters towards 0.
    ridge: f64,
    /// Whether a larger penalty may be used where this one does not suffice.
    may_grow: bool,
}

/// Says to which degrees a posterior is matched, how well, and with which penalty.
#[derive(Clone, Copy)]
struct Matching<'a> {
    /// `[n]`, links.
    degrees: &'a [f64],
    /// The penalty that draws parameters towards their mean.
    centred_ridge: f64,
    goal: Goal,
}

/// Returns the penalty that a normal distribution of the parameters asks for: one over its variance.
///
/// In a sparse graph the parameter of a node is the logarithm of its degree up to a constant. If degrees are log-normal,
/// the variance of their logarithm is `ln(1 + v)` with `v` the variance of degrees over the square of their mean. It is
/// bounded, because nodes of nearly equal degrees would otherwise have no parameters of their own.
fn centred_ridge(squared_variation: f64) -> f64 {
    1.0 / libm::log1p(squared_variation).max(0.2)
}

/// Learns the log odds of the bins; the prior then has the degrees as well as `goal` asks.
fn with_learned_bins(
    start: Belief,
    inputs: &FitInputs,
    similar: &SimilarClaims,
    bins: &BinOddsModel,
    goal: Option<Goal>,
    progress: &Progress,
) -> Belief {
    let needs_prior = goal.is_some() && !bins.fixed_logits.is_empty();
    if bins.n_learned == 0 && !needs_prior {
        return Belief { bin_logits: bins.fixed_logits.clone(), ..start };
    }
    let LearnedOdds { prior, bin_logits, change } = learn_bin_odds(&start.prior, inputs, similar, bins, goal, progress);
    Belief { prior, bin_logits, bin_change: start.bin_change.max(change), ..start }
}

/// Learns the log odds of the bins; then, if it is wanted, matches the posterior's degrees.
fn update(
    start: Belief,
    inputs: &FitInputs,
    evidence: &LinkEvidence,
    bins: &BinOddsModel,
    matching: Option<Matching>,
    progress: &Progress,
) -> Result<Belief, Error> {
    let similar = SimilarClaims::new(evidence);
    // Matching fits the posterior by itself; without it, the prior has to have the degrees.
    let goal = (matching.is_none() || inputs.epsilon_links.is_infinite()).then_some(Goal::EXACT);
    let learned = with_learned_bins(start, inputs, &similar, bins, goal, progress);
    let Belief { prior, mut posterior, bin_logits, bin_change, mut ridge, may_grow } = learned;
    let FitInputs { degrees: of_prior, epsilon_links, one_sided, .. } = *inputs;
    match matching {
        Some(Matching { degrees, centred_ridge, goal }) if epsilon_links.is_finite() => {
            let known = KnownPairs::posterior(&similar, epsilon_links, &bin_logits);
            let typical = TypicalClaims::of(&similar, one_sided);
            let typical = typical.as_ref().map(|claims| claims.known(epsilon_links, &bin_logits));
            let first = ridge;
            let offsets = inputs.missing_offsets();
            let fit = |ridge| {
                // Newton's method finds a posterior with a larger ridge from a prior with that ridge.
                let start = if ridge > first {
                    fit(of_prior, Solver::Newton, ridge, progress)?.beta
                } else {
                    posterior.beta.clone()
                };
                let ridge = Ridge { to_zero: ridge, to_mean: centred_ridge, offsets: &offsets };
                match &typical {
                    Some(typical) => fit_with_typical(degrees, start, &known, typical, ridge, goal, progress),
                    None => fit_posterior(degrees, start, &known, ridge, goal, progress),
                }
            };
            (posterior, ridge) = with_smallest_ridge(ridge, may_grow, fit)?;
            posterior.iterations += prior.iterations;
        }
        _ => {
            posterior = prior.clone();
            // Matching finds these parameters by itself; without it they are moved here.
            posterior.beta.iter_mut().zip(inputs.missing_offsets()).for_each(|(beta, offset)| *beta += offset);
        }
    }
    Ok(Belief { prior, posterior, bin_logits, bin_change, ridge, may_grow })
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
        width: BinOddsModel::WIDE,
    }
}
