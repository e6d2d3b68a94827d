//! Steps in which one node appears in several rows of a sample.

use crate::Curve;
use crate::quadrature::log_choose;

/// How a step samples its rows, and in which of them a node appears: in its own row, whose term is gone where the node is
/// blanked, and in rows of others, whose clipped terms may turn round.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Occurrences {
    /// Every row enters by a coin of its own. The node's own row moves the sum by at most 1, and each other row by 2.
    Poisson {
        /// Probability of a row.
        rate: f64,
        /// Most rows of others in which one node appears.
        rows_of_others: u32,
    },
    /// A fixed number of rows is drawn without replacement. Each of the node's rows moves the sum by at most 2.
    WithoutReplacement {
        /// Number of all rows.
        n_rows: u32,
        /// Number of rows in a sample.
        batch: u32,
        /// Most rows in which one node appears.
        rows_of_a_node: u32,
    },
}

/// The curve of one noisy sum over sampled rows whose terms have a norm of at most 1. The noise has standard deviation
/// `noise_multiplier` in every coordinate.
///
/// # Privacy
/// The sample is the same for neighbouring data, and the sum moves by at most `h`, which follows from the node's rows in the
/// sample. The divergence is convex in the law of the sample: it is at most
/// `ln E[exp(order (order - 1) h² / (2 σ²))] / (order - 1)`. No row is taken to hide behind the sampling itself, so for a
/// node in no row but its own [`crate::sampled_gaussian`] is tighter.
///
/// # Source
/// Daigavane et al. (2021), Node-level differentially private graph neural networks, section 4.1, whose samples are drawn
/// without replacement and whose bound is 2 for every row.
#[must_use]
pub fn occurrence_bounded(occurrences: Occurrences, noise_multiplier: f64) -> Curve {
    if noise_multiplier == 0.0 {
        return Curve::from_orders(|_| f64::INFINITY);
    }
    let moves = occurrences.moves();
    Curve::from_orders(|order| {
        let exponent = |h: f64| order * (order - 1.0) * h * h / (2.0 * noise_multiplier * noise_multiplier);
        let terms: Vec<f64> = moves.iter().map(|&(h, log_probability)| log_probability + exponent(h)).collect();
        let top = terms.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        // The law's own rounding must not show as a cost below zero.
        let sum: f64 = terms.iter().map(|term| libm::exp(term - top)).sum();
        ((top + libm::log(sum)) / (order - 1.0)).max(0.0)
    })
}

impl Occurrences {
    /// How far a step may move, each distance with the logarithm of its probability.
    pub(crate) fn moves(self) -> Vec<(f64, f64)> {
        match self {
            Self::Poisson { rate, rows_of_others } => {
                let others = binomial(rows_of_others, rate);
                let own = binomial(1, rate);
                let together = |(own, of_own): (f64, f64)| {
                    others.iter().map(move |&(rows, of_rows)| (own + 2.0 * rows, of_own + of_rows))
                };
                own.into_iter().flat_map(together).collect()
            }
            Self::WithoutReplacement { n_rows, batch, rows_of_a_node } => {
                let rows = hypergeometric(n_rows, rows_of_a_node.min(n_rows), batch.min(n_rows));
                rows.into_iter().map(|(rows, log)| (2.0 * rows, log)).collect()
            }
        }
    }
}

/// Logarithms of the probabilities of `h` rows in a sample, for every possible `h`.
fn binomial(n: u32, rate: f64) -> Vec<(f64, f64)> {
    let of = |h: u32| {
        let (h, n) = (f64::from(h), f64::from(n));
        let [drawn, left] = [(h, libm::log(rate)), (n - h, libm::log1p(-rate))]
            .map(|(times, log)| if times == 0.0 { 0.0 } else { times * log });
        (h, log_choose(n, h) + drawn + left)
    };
    (0..=n).map(of).collect()
}

/// The same where `batch` of `n` rows are drawn without replacement, `marked` of which hold the node.
fn hypergeometric(n: u32, marked: u32, batch: u32) -> Vec<(f64, f64)> {
    let (n, marked, batch) = (f64::from(n), f64::from(marked), f64::from(batch));
    let (least, most) = ((batch + marked - n).max(0.0), marked.min(batch));
    let of = |h: f64| (h, log_choose(marked, h) + log_choose(n - marked, batch - h) - log_choose(n, batch));
    (least as u32..=most as u32).map(|h| of(f64::from(h))).collect()
}

#[cfg(test)]
mod tests;
