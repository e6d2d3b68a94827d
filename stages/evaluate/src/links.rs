//! How well link probabilities tell the true links.

use veilgraph_graph::AdjacencyList;
use veilgraph_posterior::{LinkModel, LogisticKernel, PairSums, Posterior, counts_at_least, sigmoid};
use veilgraph_privacy::NoisyDegrees;

use crate::metric::{self, Metric};

/// Ends of the 13 intervals of `calibration_error` below 1: narrow where nearly all pairs are.
const NARROW: [f64; 12] = [0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95];

/// Ends of the ten equal intervals of expected calibration errors below 1.
pub(crate) const TENTHS: [f64; 9] = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9];

/// Scores of link probabilities against the true links. All sums run over all pairs, exactly.
///
/// `bound_for` is the budget that the degrees cost, in nats, where the theorem about the error holds.
///
/// # Source
/// Mean absolute error and its bound: Zhu, Tan, Xiao (2023), Blink, section 5.2 and theorem 4.4, with
/// the term that clipping adds for isolated nodes. Brier score: Brier (1950). Calibration error over ten equal intervals:
/// Guo, Pleiss, Sun, Weinberger (2017), On calibration of modern neural networks, equation 3.
pub(crate) fn link_error(
    posterior: &Posterior,
    truth: &AdjacencyList,
    bound_for: Option<f64>,
) -> Vec<(&'static Metric, f64)> {
    let n = posterior.n_nodes() as f64;
    let logits: Vec<f64> =
        truth.links().map(|(i, j)| posterior.logit(i, j, posterior.evidence().known(i, j))).collect();
    // Σ P (1 − P) over pairs is what the model itself expects to be wrong by.
    let PairSums { links: expected_links, doubt, softplus } = posterior.pair_sums();
    let corrections: f64 = logits.iter().map(|&logit| 1.0 - 2.0 * sigmoid(logit)).sum();
    let log_loss = log_loss(posterior, softplus, &logits);
    // Over pairs, Σ P² = Σ P − Σ P (1 − P).
    let probability_of_links: f64 = logits.iter().map(|&logit| sigmoid(logit)).sum();
    let n_links = truth.n_links() as f64;
    // Differences of large sums may leave less than nothing of a very small error.
    let brier = (expected_links - doubt - 2.0 * probability_of_links + n_links).max(0.0);
    let [narrow, tenths] = calibration_errors(posterior, &logits, expected_links, [&NARROW, &TENTHS]);
    let (calibration, calibration_of_entries) = (narrow / n_links, 2.0 * tenths / (n * n));
    let (average_precision, roc_auc) = ranking_scores(posterior, logits);
    let mut scores = vec![
        (&metric::MAE, 2.0 * (expected_links + corrections).max(0.0) / (n * n)),
        (&metric::EXPECTED_MAE, 4.0 * doubt / (n * n)),
        (&metric::EXPECTED_ENTRIES, 2.0 * expected_links),
        (&metric::TRUE_ENTRIES, 2.0 * n_links),
        (&metric::EXPECTED_LINK_RATIO, expected_links / n_links),
        (&metric::EMPTY_GRAPH_MAE, 2.0 * n_links / (n * n)),
        (&metric::CHANCE_AVERAGE_PRECISION, 2.0 * n_links / (n * (n - 1.0))),
        (&metric::AVERAGE_PRECISION, average_precision),
        (&metric::ROC_AUC, roc_auc),
        (&metric::LOG_LOSS_PER_LINK, log_loss / n_links),
        (&metric::BRIER_PER_LINK, brier / n_links),
        (&metric::CALIBRATION_ERROR, calibration),
        (&metric::BRIER, 2.0 * brier / (n * n)),
        (&metric::EXPECTED_CALIBRATION_ERROR, calibration_of_entries),
    ];
    if let Some(epsilon_degree) = bound_for {
        scores.push((&metric::MAE_BOUND, bound(truth, epsilon_degree)));
    }
    scores
}

/// Whether the theorem about the error speaks of this model: its prior alone has exactly the degrees, which are those that all
/// nodes honestly reported and were only clipped, and nothing but the bits tells pairs apart.
pub(crate) fn theorem_holds(model: &LinkModel, reports: &NoisyDegrees) -> bool {
    let most = model.degrees.len() as f64 - 2.0;
    let mut sent = reports.senders.iter().zip(&reports.degrees);
    reports.facts.budget.degree > 0.0
        && reports.facts.lying_share == 0.0
        && reports.missing().is_empty()
        // With a penalty, the expected degrees of the prior are others.
        && (model.ridge, model.fallback_ridge) == (0.0, 0.0)
        && model.centred_ridge.is_none()
        && model.bin_logits.is_empty()
        && sent.all(|(&node, &degree)| model.degrees[node as usize] == degree.clamp(1.0, most))
}

fn bound(truth: &AdjacencyList, epsilon_degree: f64) -> f64 {
    let n = truth.n_nodes() as f64;
    let noise = if epsilon_degree.is_infinite() { 0.0 } else { 1.0 / (2.0 * epsilon_degree) };
    let clipping = 1.0 - noise * (1.0 - libm::exp(-epsilon_degree));
    (4.0 * truth.n_links() as f64 + n * noise + truth.n_isolated() as f64 * clipping) / (n * n)
}

/// Sums over intervals of probabilities of the difference between expected and true links, for two divisions into
/// intervals.
///
/// `logits` are those of the true links, and `divisions` the ends of the intervals below 1. The first interval of each
/// holds nearly all pairs; its expected links are those that the others leave.
fn calibration_errors(posterior: &Posterior, logits: &[f64], expected_links: f64, divisions: [&[f64]; 2]) -> [f64; 2] {
    let interval = |ends: &[f64], probability: f64| ends.partition_point(|&end| end <= probability);
    let mut excesses = divisions.map(|ends| vec![0.0; ends.len() + 1]);
    let least = f64::min(divisions[0][0], divisions[1][0]);
    // Logits are compared first, because the probability of a pair takes far longer; the margin covers rounding.
    let least_logit = libm::log(least / (1.0 - least)) - 1e-6;
    let accept = |logit: f64| logit >= least_logit && sigmoid(logit) >= least;
    posterior.visit_pairs(accept, |_, _, logit| {
        let probability = sigmoid(logit);
        for (excess, ends) in excesses.iter_mut().zip(divisions) {
            excess[interval(ends, probability)] += probability;
        }
    });
    for (excess, ends) in excesses.iter_mut().zip(divisions) {
        excess[0] = expected_links - excess[1..].iter().sum::<f64>();
        logits.iter().for_each(|&logit| excess[interval(ends, sigmoid(logit))] -= 1.0);
    }
    excesses.map(|excess| excess.into_iter().map(f64::abs).sum())
}

/// With log odds up to this, a pair has no probability of a link in double precision, and its log loss is 0 where it has none.
const NO_PROBABILITY: f64 = -745.0;

/// The sum of the log losses of all pairs, in nats: infinite where a pair is believed to be certain and is not so.
///
/// `softplus` is `Σ ln(1 + e^logit)` over all pairs, and `logits` are those of the true links.
fn log_loss(posterior: &Posterior, softplus: f64, logits: &[f64]) -> f64 {
    // Rounding may leave less than nothing.
    let at_least_nothing = |loss: f64| if loss < 0.0 { 0.0 } else { loss };
    if softplus.is_finite() {
        return at_least_nothing(softplus - logits.iter().sum::<f64>());
    }
    // Without noise some pairs are certain, and a true link among them has no loss.
    let (mut n_certain, mut softplus) = (0, 0.0);
    posterior.visit_pairs(
        |logit| logit > NO_PROBABILITY,
        |_, _, logit| match logit {
            f64::INFINITY => n_certain += 1,
            logit => softplus += LogisticKernel::Softplus.at(logit),
        },
    );
    let is_certain = |logit: &&f64| **logit == f64::INFINITY;
    if logits.iter().filter(is_certain).count() < n_certain {
        return f64::INFINITY;
    }
    at_least_nothing(softplus - logits.iter().filter(|logit| !is_certain(logit)).sum::<f64>())
}

/// Average precision and area under the ROC curve over all pairs; equal probabilities share a rank.
fn ranking_scores(posterior: &Posterior, mut logits: Vec<f64>) -> (f64, f64) {
    let n = posterior.n_nodes() as f64;
    let links = logits.len() as f64;
    let others = n * (n - 1.0) / 2.0 - links;
    logits.sort_unstable_by(|a, b| b.total_cmp(a));
    // Distinct thresholds with the number of true links at or above, and strictly above.
    let mut thresholds: Vec<(f64, f64, f64)> = Vec::new();
    for (position, &logit) in logits.iter().enumerate() {
        match thresholds.last_mut() {
            Some(last) if last.0 == logit => last.1 += 1.0,
            _ => thresholds.push((logit, position as f64 + 1.0, position as f64)),
        }
    }
    // Each threshold with its next larger number: pairs at or above, and strictly above.
    let both: Vec<f64> = thresholds.iter().rev().flat_map(|&(logit, ..)| [logit, logit.next_up()]).collect();
    let counts = counts_at_least(posterior, &both);
    let terms: Vec<(f64, f64)> = thresholds
        .iter()
        .zip(counts.chunks_exact(2).rev())
        .map(|(&(logit, hits, hits_above), counts)| {
            // No logit is larger than an infinite one, and the next number is infinite too.
            let above = if logit == f64::INFINITY { 0.0 } else { counts[1] as f64 };
            let at_least = counts[0] as f64;
            let new_hits = hits - hits_above;
            let others_above = above - hits_above;
            let others_level = at_least - above - new_hits;
            let others_below = others - others_above - others_level;
            (new_hits * hits / at_least, new_hits * (others_below + others_level / 2.0))
        })
        .collect();
    let precision: f64 = terms.iter().map(|term| term.0).sum();
    let wins: f64 = terms.iter().map(|term| term.1).sum();
    (precision / links, wins / (links * others))
}
