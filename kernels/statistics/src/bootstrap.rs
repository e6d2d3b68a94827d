//! Intervals of a mean that assume no law of the scores.

use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};
use statrs::distribution::{ContinuousCDF, Normal, StudentsT};

use crate::ALPHA;

/// Number of times that trials are drawn anew.
pub const RESAMPLES: usize = 10_000;

/// The expanded percentile interval of the mean of `scores` at a confidence of 95 %; `None` for fewer than two.
///
/// A plain percentile interval of n trials is too short by about the factor `√((n − 1) / n)` and by the difference between
/// the normal law and Student's. The percentiles are moved outwards by both. The draws have a fixed seed, so that the same
/// scores give the same interval. An interval ends at the least and at the largest score at most, so that with fewer than
/// five trials it stays shorter than Student's.
///
/// # Source
/// Hesterberg (2015), What teachers should know about the bootstrap, section 3.3 (The American Statistician 69).
#[must_use]
pub fn bootstrap_interval(scores: &[f64]) -> Option<(f64, f64)> {
    let n = scores.len();
    if n < 2 {
        return None;
    }
    let mut rng = ChaCha8Rng::seed_from_u64(0);
    let mut means: Vec<f64> =
        (0..RESAMPLES).map(|_| (0..n).map(|_| scores[rng.random_range(0..n)]).sum::<f64>() / n as f64).collect();
    means.sort_unstable_by(f64::total_cmp);
    let tail = expanded_tail(n)?;
    let at = |share: f64| means[((RESAMPLES - 1) as f64 * share).round() as usize];
    Some((at(tail), at(1.0 - tail)))
}

/// The share of resampled means that lies below the interval.
fn expanded_tail(n: usize) -> Option<f64> {
    let n = n as f64;
    let quantile = StudentsT::new(0.0, 1.0, n - 1.0).ok()?.inverse_cdf(ALPHA / 2.0);
    Some(Normal::standard().cdf((n / (n - 1.0)).sqrt() * quantile))
}
