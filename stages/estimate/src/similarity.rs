//! How much likelier links are between similar nodes, learned from the noisy reports themselves.

use veilgraph_contract::Progress;
use veilgraph_posterior::Atoms;

use crate::beta_model::Fitted;
use crate::known_pairs::{KnownPairs, SimilarClaims};
use crate::newton::{Goal, Problem, newton};

/// What is learned: the log odds of a bin are `fixed` plus those of its `part`, if it has one.
pub(crate) struct Bins {
    /// Of each bin, from bin 1 on.
    pub fixed: Vec<f64>,
    /// Likewise.
    pub part: Vec<Option<usize>>,
    /// Number of parts.
    pub n_parts: usize,
}

impl Bins {
    /// Every bin is its own part.
    pub(crate) fn free(n_bins: u8) -> Self {
        let n_parts = usize::from(n_bins);
        Self { fixed: vec![0.0; n_parts], part: (0..n_parts).map(Some).collect(), n_parts }
    }

    fn logits(&self, parts: &[f64]) -> Vec<f64> {
        self.fixed.iter().zip(&self.part).map(|(fixed, part)| fixed + part.map_or(0.0, |part| parts[part])).collect()
    }

    /// Sums over the bins of each part.
    fn by_part(&self, bins: &[f64]) -> Vec<f64> {
        let mut sums = vec![0.0; self.n_parts];
        for (part, value) in self.part.iter().zip(bins) {
            part.iter().for_each(|&part| sums[part] += value);
        }
        sums
    }
}

/// The prior with these degrees and the log odds of each bin under which the reports are likeliest.
///
/// The probability of a pair's claims under the prior `P⁰` is a mixture of that with and without a link; its
/// derivative by the log odds of a bin is `Σ (P − P⁰)` over the pairs of the bin, with `P` the posterior. Newton
/// steps on that alternate with fits of the nodes' parameters to the degrees, from `start` on. Post-processing: it
/// costs no budget.
///
/// `one_sided` are nodes that sent nothing: claims about them come from their partners alone.
///
/// # Source
/// algorithms.md, section G5.
pub(crate) fn learn(
    start: Fitted,
    reports: &Reports,
    similar: &SimilarClaims,
    bins: &Bins,
    progress: &Progress,
) -> (Fitted, Vec<f64>) {
    const PASSES: u64 = 14;
    /// Between passes.
    const ROUGH: Goal = Goal { residual: 1e-3, most_steps: 2 };
    /// Bounds a step where the likelihood is far from a parabola.
    const LONGEST_STEP: f64 = 1.5;
    let Reports { degrees, epsilon_links, one_sided, ridge } = *reports;
    let nodes = Atoms::apart(start.beta);
    let (mut beta, mut parts) = (nodes.values().to_vec(), vec![0.0; bins.n_parts]);
    for pass in 0..PASSES {
        progress.report(pass, PASSES);
        let logits = bins.logits(&parts);
        let known = KnownPairs::prior(similar, &logits);
        let problem = Problem::with_known(degrees, nodes.counts(), &known, ridge);
        (beta, _) = newton(&problem, nodes.moved(beta), ROUGH, &Progress::none());
        let [expected, doubt] = known.expected_links(&beta).map(|sums| bins.by_part(&sums));
        let mut seen_beta = beta.clone();
        one_sided.iter().for_each(|&node| seen_beta[node as usize] += epsilon_links);
        let known = KnownPairs::posterior(similar, epsilon_links, &logits);
        let [seen, doubt_left] = known.expected_links(&seen_beta).map(|sums| bins.by_part(&sums));
        for (part, logit) in parts.iter_mut().enumerate() {
            // The likelihood need not be concave: a floor keeps the step uphill, and two links of doubt keep the
            // steps of parts short that hold hardly any.
            let curvature = (doubt[part] - doubt_left[part]).max(0.05 * doubt[part]) + 2.0;
            *logit += ((seen[part] - expected[part]) / curvature).clamp(-LONGEST_STEP, LONGEST_STEP);
        }
    }
    let logits = bins.logits(&parts);
    let known = KnownPairs::prior(similar, &logits);
    let problem = Problem::with_known(degrees, nodes.counts(), &known, ridge);
    let (beta, iterations) = newton(&problem, nodes.moved(beta), Goal::EXACT, progress);
    let (_, residual) = problem.worst(&nodes.moved(beta.clone()));
    (Fitted { beta, residual, iterations: start.iterations + iterations }, logits)
}

/// What the reports say of the nodes.
#[derive(Clone, Copy)]
pub(crate) struct Reports<'a> {
    /// As they are used.
    pub degrees: &'a [f64],
    pub epsilon_links: f64,
    /// Nodes that sent nothing.
    pub one_sided: &'a [u32],
    pub ridge: f64,
}
