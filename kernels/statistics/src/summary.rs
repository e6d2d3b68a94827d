//! Mean, spread and interval of a score over trials; slope over sizes.

use statrs::distribution::{ContinuousCDF, StudentsT};

use crate::ALPHA;

/// Mean, spread and interval of a score over trials.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Summary {
    /// Number of trials.
    pub trials: usize,
    /// Mean.
    pub mean: f64,
    /// Standard deviation (n − 1); 0 for one trial.
    pub standard_deviation: f64,
    /// Half width of the 95 % interval of the mean (Student's t); not a number for one trial.
    pub half_width: f64,
}

impl Summary {
    /// Summary of these scores; `None` if there are none.
    #[must_use]
    pub fn of(scores: &[f64]) -> Option<Self> {
        let trials = scores.len();
        let n = trials as f64;
        if trials == 0 {
            return None;
        }
        let mean = scores.iter().sum::<f64>() / n;
        if trials == 1 {
            return Some(Self { trials, mean, standard_deviation: 0.0, half_width: f64::NAN });
        }
        let variance = scores.iter().map(|score| (score - mean).powi(2)).sum::<f64>() / (n - 1.0);
        let standard_deviation = variance.sqrt();
        let half_width = student_quantile(trials, ALPHA) * standard_deviation / n.sqrt();
        Some(Self { trials, mean, standard_deviation, half_width })
    }
}

/// The quantile of Student's t whose interval misses the mean of so many trials with a chance of `alpha`.
pub(crate) fn student_quantile(trials: usize, alpha: f64) -> f64 {
    StudentsT::new(0.0, 1.0, trials as f64 - 1.0).map_or(f64::NAN, |law| law.inverse_cdf(1.0 - alpha / 2.0))
}

/// Slope of the least-squares line through the logarithms of these points `(x, y)`, all of them positive.
#[must_use]
pub fn log_log_slope(points: impl Iterator<Item = (f64, f64)>) -> f64 {
    let logs: Vec<(f64, f64)> = points.map(|(x, y)| (x.ln(), y.ln())).collect();
    let n = logs.len() as f64;
    let mean_x = logs.iter().map(|log| log.0).sum::<f64>() / n;
    let mean_y = logs.iter().map(|log| log.1).sum::<f64>() / n;
    let covariance: f64 = logs.iter().map(|log| (log.0 - mean_x) * (log.1 - mean_y)).sum();
    let variance: f64 = logs.iter().map(|log| (log.0 - mean_x) * (log.0 - mean_x)).sum();
    covariance / variance
}
