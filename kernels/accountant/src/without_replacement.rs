//! Gaussian noise on a sum over a sample of fixed size, drawn without replacement.

use crate::Curve;
use crate::quadrature::{log_add, log_choose, log_integral};

/// Highest order at which the series is summed; above it nothing is stated.
const HIGHEST: f64 = 256.0;

/// The curve of one noisy sum over a sample of fixed size that holds the share `rate` of all nodes. Replacing a node's
/// term moves the sum by at most 1, and the noise has standard deviation `noise_multiplier` in every coordinate.
///
/// # Privacy
/// Neighbours differ in that one node's term is *replaced* by another one, which is more than blanking it.
///
/// # Source
/// Wang, Balle, Kasiviswanathan (2019), Subsampled Rényi differential privacy, theorem 27 and, between integer orders,
/// corollary 10. The differences of even order in that theorem are `E[(e^L - 1)^j]` for the privacy loss `L` of the
/// Gaussian, which are integrated here instead of being summed with alternating signs.
#[must_use]
pub fn without_replacement(rate: f64, noise_multiplier: f64) -> Curve {
    if rate == 0.0 {
        return Curve::nothing();
    }
    if rate >= 1.0 {
        return Curve::gaussian(noise_multiplier);
    }
    let terms = Terms::new(rate, noise_multiplier);
    Curve::from_orders(|order| {
        if order > HIGHEST {
            return f64::INFINITY;
        }
        let (low, high) = (order.floor(), order.ceil());
        let share = order - low;
        let moment = (1.0 - share) * terms.log_moment(low) + share * terms.log_moment(high);
        moment / (order - 1.0)
    })
}

/// What the moments at all orders are summed from: the logarithm of each term without its binomial coefficient.
struct Terms(Vec<f64>);

impl Terms {
    fn new(rate: f64, noise_multiplier: f64) -> Self {
        let shift = 1.0 / noise_multiplier;
        // `(order - 1) · ε(order)` of the unsampled Gaussian at `order = k + 1`.
        let cumulant = |k: f64| k * (k + 1.0) * shift * shift / 2.0;
        let even: Vec<f64> = (0..=HIGHEST as usize / 2).map(|half| log_even_moment(shift, 2 * half)).collect();
        let term = |j: usize| {
            let ln = libm::log;
            let bound = if j == 2 {
                let gain = libm::log(libm::expm1(shift * shift));
                (ln(4.0) + gain).min(ln(2.0) + cumulant(1.0))
            } else {
                let moments = 0.5 * (even[j / 2] + even[j.div_ceil(2)]);
                (ln(4.0) + moments).min(ln(2.0) + cumulant(j as f64 - 1.0))
            };
            j as f64 * ln(rate) + bound
        };
        Self((2..=HIGHEST as usize).map(term).collect())
    }

    /// `ln E[(P / Q)^order]` for an integer order.
    fn log_moment(&self, order: f64) -> f64 {
        let terms = (2..=order as usize).zip(&self.0);
        terms.fold(0.0, |sum, (j, term)| log_add(sum, log_choose(order, j as f64) + term))
    }
}

/// `ln E[(e^L - 1)^j]` for an even `j` and the privacy loss `L = shift z - shift² / 2` at `z ~ N(0, 1)`.
fn log_even_moment(shift: f64, j: usize) -> f64 {
    if j == 0 {
        return 0.0;
    }
    let f = |z: f64| {
        let loss = shift * z - shift * shift / 2.0;
        let magnitude = libm::log(libm::expm1(loss).abs());
        -0.5 * z * z - 0.5 * libm::log(std::f64::consts::TAU) + j as f64 * magnitude
    };
    // The integrand is zero at `z = shift / 2`, with one mode on each side. Of each we need a point from which both sides
    // fall; the golden section finds the modes.
    let zero = shift / 2.0;
    let modes = [
        mode(&f, zero - 40.0 - (j as f64).sqrt(), zero),
        mode(&f, zero, zero + 40.0 + j as f64 * shift + (j as f64).sqrt()),
    ];
    log_integral(f, &modes, 0.02_f64.min(0.2 / shift))
}

/// Where a function with one mode between `low` and `high` is largest.
fn mode(f: &impl Fn(f64) -> f64, mut low: f64, mut high: f64) -> f64 {
    for _ in 0..200 {
        let third = (high - low) / 3.0;
        if f(low + third) < f(high - third) { low += third } else { high -= third }
    }
    f64::midpoint(low, high)
}

#[cfg(test)]
mod tests;
