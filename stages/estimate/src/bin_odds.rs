//! This module learns how much likelier links are in each bin of pairs, from the noisy reports themselves.
//!
//! A bin is a class of pairs that the server tells from the others: their nodes are similar, or have likely neighbours
//! in common.

use veilgraph_contract::Progress;
use veilgraph_posterior::DistinctParameters;

use crate::beta_model::Fitted;
use crate::known_pairs::{BinSums, KnownPairs};
use crate::newton::{Goal, Nearer, Problem, Ridge, Solution, newton};
use crate::similar_claims::SimilarClaims;

/// Says which log odds are learned: those of a bin are its fixed ones plus, if it has any, learned ones, which bins may
/// share.
///
/// # Shapes
/// `fixed_logits` and `learned_index`: `[n_bins]`, from bin 1 on.
pub(crate) struct BinOddsModel {
    pub fixed_logits: Vec<f64>,
    /// The learned log odds of each bin have this index.
    pub learned_index: Vec<Option<usize>>,
    /// There are this many learned log odds.
    pub n_learned: usize,
    /// The learned log odds have a normal prior around 0 with this standard deviation, in nats.
    pub width: f64,
}

impl BinOddsModel {
    /// A prior of this width decides only where the reports do not, such as in a bin whose pairs all seem unlinked.
    pub(crate) const WIDE: f64 = 3.0;

    /// Lets every bin learn log odds of its own.
    pub(crate) fn free(n_bins: u8) -> Self {
        let n_learned = usize::from(n_bins);
        Self {
            fixed_logits: vec![0.0; n_learned],
            learned_index: (0..n_learned).map(Some).collect(),
            n_learned,
            width: Self::WIDE,
        }
    }

    /// Gives the bins these log odds and learns nothing.
    ///
    /// # Shapes
    /// `logits`: `[n_bins]`.
    pub(crate) fn fixed(logits: Vec<f64>) -> Self {
        Self { learned_index: vec![None; logits.len()], fixed_logits: logits, n_learned: 0, width: Self::WIDE }
    }

    /// Returns the log odds of every bin.
    ///
    /// # Shapes
    /// `learned`: `[n_learned]`. Returns `[n_bins]`.
    fn logits(&self, learned: &[f64]) -> Vec<f64> {
        let bins = self.fixed_logits.iter().zip(&self.learned_index);
        bins.map(|(fixed, index)| fixed + index.map_or(0.0, |index| learned[index])).collect()
    }

    /// Sums over the pairs of the bins that learn their log odds.
    fn sums(&self, known: &KnownPairs, b: &[f64]) -> BinSums {
        known.bin_sums(b, &self.learned_index, self.n_learned)
    }
}

/// Holds what a fit is given about the nodes, and its ridge.
#[derive(Clone, Copy)]
pub(crate) struct FitInputs<'a> {
    /// The fit gives these degrees to the nodes, `[n]`, in links.
    pub degrees: &'a [f64],
    /// Each bit was sent with this budget, in nats.
    pub epsilon_links: f64,
    /// These nodes sent nothing, so claims about them come from their partners alone.
    pub one_sided: &'a [u32],
    pub ridge: f64,
}

impl FitInputs<'_> {
    /// What the missing bits of each node add to its parameter in the posterior, `[n]`.
    ///
    /// A missing node sent no bits, so half of the evidence about its pairs is absent: a pair with one report has the log
    /// odds `(2 claims − 1) ε_links`, not `2 (claims − 1) ε_links`. Adding `ε_links` to the parameter of a missing node
    /// turns the second into the first, and into 0 for a pair of two missing nodes.
    pub(crate) fn missing_offsets(&self) -> Vec<f64> {
        let mut offsets = vec![0.0; self.degrees.len()];
        self.one_sided.iter().for_each(|&node| offsets[node as usize] = self.epsilon_links);
        offsets
    }
}

/// Holds a prior and the log odds of its bins.
pub(crate) struct LearnedOdds {
    pub prior: Fitted,
    /// The log odds of each bin, from bin 1 on.
    pub bin_logits: Vec<f64>,
    /// No log odds changed by more than this in the last pass.
    pub change: f64,
}

/// Finds the prior with these degrees, and the log odds of each bin, under which the reports are likeliest.
///
/// Under the prior `P⁰`, the probability of a pair's claims is a mixture: with a link, and without one. The derivative
/// of its logarithm by the pair's log odds is `P − P⁰` with the posterior `P`, and the second derivative is
/// `P (1 − P) − P⁰ (1 − P⁰)`. So the gradient by the log odds of a bin is `Σ (P − P⁰)` over its pairs. Newton steps
/// along these gradients alternate with steps that bring the nodes' parameters, which begin at `start`, nearer to the
/// degrees, until no log odds change much any more. The last fit meets `goal`; without one, the prior has the degrees roughly.
///
/// # Privacy
/// The reports are all that is read, so this is post-processing and costs no budget.
pub(crate) fn learn_bin_odds(
    start: &Fitted,
    inputs: &FitInputs,
    similar: &SimilarClaims,
    bins: &BinOddsModel,
    goal: Option<Goal>,
    progress: &Progress,
) -> LearnedOdds {
    const MOST_PASSES: u64 = 40;
    /// The passes end when no log odds change by more than this, in nats.
    const SETTLED: f64 = 0.02;
    /// The degrees need not be matched better than this between passes.
    const ROUGH: Goal = Goal { residual: 1e-3, most_steps: 2 };
    /// A degree is far from the wanted one where the difference is more than this, relatively; few passes are needed where a
    /// step that costs as much as one gradient brings all the others nearer.
    const FAR: f64 = 0.3;
    /// The degrees of the prior come so near to the wanted ones before the passes end.
    const CLOSE: f64 = 5e-2;
    /// No step is longer, because the likelihood may be far from a parabola.
    const LONGEST_STEP: f64 = 1.5;
    let FitInputs { degrees, epsilon_links, ridge, .. } = *inputs;
    let missing_offsets = inputs.missing_offsets();
    let nodes = DistinctParameters::one_per_node(start.beta.clone());
    let (mut beta, mut learned) = (nodes.values().to_vec(), vec![0.0; bins.n_learned]);
    let precision = 1.0 / (bins.width * bins.width);
    let (mut change, mut gap, mut is_falling) = (f64::INFINITY, f64::INFINITY, true);
    for pass in 0..MOST_PASSES {
        if change <= SETTLED && gap <= CLOSE {
            break;
        }
        progress.report(pass, MOST_PASSES);
        change = 0.0;
        let logits = bins.logits(&learned);
        let known = KnownPairs::prior(similar, &logits);
        let problem = Problem::with_known(degrees, nodes.counts(), &known, Ridge::to_zero(ridge));
        // The cheap steps come no nearer where links are mostly inside of groups that have nothing else in common. Elsewhere the
        // gap falls slowly only because log odds still move, and Newton's method would take ten times as long for nothing.
        let far = if is_falling { FAR } else { CLOSE };
        let Nearer { parameters, residual } = problem.nearer(nodes.with_values(beta), ROUGH, far);
        is_falling = residual <= 0.95 * gap;
        (beta, gap) = (parameters, residual);
        let prior = bins.sums(&known, &beta);
        let posterior_beta: Vec<f64> = beta.iter().zip(&missing_offsets).map(|(beta, offset)| beta + offset).collect();
        let known = KnownPairs::posterior(similar, epsilon_links, &logits);
        let posterior = bins.sums(&known, &posterior_beta);
        for (index, logit) in learned.iter_mut().enumerate() {
            // The likelihood may be non-concave: bounding the curvature from below keeps every step an ascent. The
            // constant 2 acts like two uncertain links in each bin and shortens the steps of bins that are nearly
            // empty.
            let doubt_removed = prior.doubt[index] - posterior.doubt[index];
            let curvature = doubt_removed.max(0.05 * prior.doubt[index]) + 2.0 + precision;
            let gradient = posterior.links[index] - prior.links[index] - precision * *logit;
            let step = (gradient / curvature).clamp(-LONGEST_STEP, LONGEST_STEP);
            *logit += step;
            change = change.max(step.abs());
        }
        tracing::debug!(pass, gap, change, "log odds of bins learned");
    }
    let bin_logits = bins.logits(&learned);
    let mut prior = Fitted { beta, ..*start };
    if let Some(goal) = goal {
        let known = KnownPairs::prior(similar, &bin_logits);
        let problem = Problem::with_known(degrees, nodes.counts(), &known, Ridge::to_zero(ridge));
        let Solution { parameters, iterations } = newton(&problem, nodes.with_values(prior.beta), goal, progress);
        let residual = problem.worst(&nodes.with_values(parameters.clone())).residual;
        prior = Fitted { beta: parameters, residual, iterations: prior.iterations + iterations };
    }
    LearnedOdds { prior, bin_logits, change }
}
