//! Integer noise with the law `P(x) ∝ exp(-x² / (2 σ²))`, drawn by integer arithmetic alone.

use rand_core::Rng;

use crate::discrete_laplace::{Rate, bernoulli_exp, draw as draw_laplace};
use crate::uniform::{Integers, Words};

/// The parameter σ of a discrete Gaussian, in steps: a positive integer, so that sampling is exact.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sigma(u64);

impl Sigma {
    /// The largest σ that can be drawn: all products of the sampler stay below `2^64`.
    pub const MOST: u64 = 1 << 24;

    /// The smallest integer that is at least `sigma` and at least 1, so that no less noise is added than asked for;
    /// none above [`Self::MOST`] or for what is no such number.
    #[must_use]
    pub fn at_least(sigma: f64) -> Option<Self> {
        let is_possible = sigma >= 0.0 && sigma <= Self::MOST as f64;
        is_possible.then(|| Self(libm::ceil(sigma).max(1.0) as u64))
    }

    /// The parameter in steps.
    #[must_use]
    pub fn steps(self) -> u64 {
        self.0
    }
}

/// One draw with `P(x) ∝ exp(-x² / (2 σ²))`.
///
/// # Privacy
/// Added to whole numbers of which two neighbouring inputs differ by at most `s` in the Euclidean norm, independently in
/// each coordinate, it is `s² / (2 σ²)`-concentrated differentially private: Rényi differential privacy of
/// `order · s² / (2 σ²)` at every order.
///
/// # Source
/// Canonne, Kamath, Steinke (2020), The discrete Gaussian, algorithm 3 and theorem 14. Their proposals have scale
/// `⌊σ⌋ + 1`; with scale σ, which is an integer here, the proof holds alike and all quotients have denominator `2 σ²`.
pub fn discrete_gaussian(sigma: Sigma, rng: &mut impl Rng) -> i64 {
    draw(sigma, &mut Words(rng))
}

fn draw(Sigma(sigma): Sigma, integers: &mut impl Integers) -> i64 {
    let proposals = Rate::one_in(sigma);
    loop {
        let proposal = draw_laplace(proposals, integers);
        // A proposal beyond 2^31 comes once in e^128 draws or more rarely; it is refused as its probability of less
        // than e^-8000 of being accepted says.
        let Some(square) = proposal.unsigned_abs().abs_diff(sigma).checked_pow(2) else { continue };
        if is_accepted(square, 2 * sigma * sigma, integers) {
            return proposal;
        }
    }
}

/// True with probability `exp(-numerator / denominator)` for any numerator.
pub(crate) fn is_accepted(numerator: u64, denominator: u64, integers: &mut impl Integers) -> bool {
    // Both factors are drawn by the same series, which holds up to 1.
    (0..numerator / denominator).all(|_| bernoulli_exp(1, 1, integers))
        && bernoulli_exp(numerator % denominator, denominator, integers)
}

#[cfg(test)]
mod tests;
