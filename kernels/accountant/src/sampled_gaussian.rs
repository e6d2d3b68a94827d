//! Gaussian noise on a sum over a random sample, which every node enters by a coin of its own (Poisson sampling).

use crate::Curve;
use crate::quadrature::log_integral;

/// Smallest noise multiplier for which the integral is taken; below it the cost is stated without sampling.
const LEAST_NOISE: f64 = 0.05;

/// The curve of one noisy sum over a sample that each node enters with probability `rate`. A node's term has a norm of at
/// most 1, and the noise has standard deviation `noise_multiplier` in every coordinate.
///
/// # Privacy
/// Neighbours are data with a node's term and with zero in its place. The divergence is
/// `ln E[(1 - rate + rate exp((2 z - 1) / (2 σ²)))^order] / (order - 1)` for `z ~ N(0, σ²)`. It is computed by a quadrature
/// whose error is far below a millionth, at every order and not at integers alone.
///
/// # Source
/// Mironov, Talwar, Zhang (2019), Rényi differential privacy of the sampled Gaussian mechanism, theorems 4 and 5 and
/// equation (7).
#[must_use]
pub fn sampled_gaussian(rate: f64, noise_multiplier: f64) -> Curve {
    if rate == 0.0 {
        return Curve::nothing();
    }
    if noise_multiplier == 0.0 {
        return Curve::from_orders(|_| f64::INFINITY);
    }
    if rate >= 1.0 || noise_multiplier < LEAST_NOISE {
        return Curve::gaussian(noise_multiplier);
    }
    Curve::from_orders(|order| divergence(rate, noise_multiplier, order).max(0.0))
}

/// The curve of `steps` such sums with fresh samples and noise.
#[must_use]
pub fn sampled_gaussians(rate: f64, noise_multiplier: f64, steps: f64) -> Curve {
    sampled_gaussian(rate, noise_multiplier).repeated(steps)
}

/// The divergence at one order, in units in which the noise has standard deviation 1: the term then has norm
/// `shift = 1 / noise_multiplier`.
fn divergence(rate: f64, noise_multiplier: f64, order: f64) -> f64 {
    let shift = 1.0 / noise_multiplier;
    let unsampled = order * shift * shift / 2.0;
    // Orders so large decide nothing where sampling matters, and sampling never costs more.
    if order * shift > 1e4 {
        return unsampled;
    }
    let log_odds = libm::log(rate) - libm::log1p(-rate);
    let tilt = |z: f64| log_odds + shift * z - shift * shift / 2.0;
    let log_ratio = |z: f64| {
        let t = tilt(z);
        let softplus = if t > 0.0 { t + libm::log1p(libm::exp(-t)) } else { libm::log1p(libm::exp(t)) };
        libm::log1p(-rate) + softplus
    };
    let log_normal = |z: f64| -0.5 * z * z - 0.5 * libm::log(std::f64::consts::TAU);
    let integrand = |z: f64| log_normal(z) + order * log_ratio(z);
    // The integrand has its slope zero where z = order · shift · s(z) for a rising s between 0 and 1, so its lowest and its
    // highest mode are limits from below and from above.
    let share = |z: f64| 1.0 / (1.0 + libm::exp(-tilt(z)));
    let limit = |mut z: f64| {
        for _ in 0..200 {
            z = order * shift * share(z);
        }
        z
    };
    let modes = [limit(0.0), limit(order * shift)];
    // The logarithm has its nearest singularity at a distance of π / shift from the line.
    let step = (1.0 / 3.0_f64).min(0.5 / shift);
    unsampled.min(log_integral(integrand, &modes, step) / (order - 1.0))
}

#[cfg(test)]
mod tests;
