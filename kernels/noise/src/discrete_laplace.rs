//! Integer noise with the law `P(x) ∝ exp(-|x| rate)`, drawn by integer arithmetic alone.

use rand_core::Rng;

use crate::uniform::{Integers, Words};

/// A decay rate as a fraction of whole numbers: what integer sampling can represent exactly.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rate {
    numerator: u64,
    denominator: u64,
}

/// Denominator of [`Rate::at_most`].
const DENOMINATOR: u64 = 1 << 20;

/// The finest denominator is two to this power. A denominator is multiplied by numbers of terms of a series and by whole
/// parts of an exponential law; either would have to exceed `2^15` for a product beyond 64 bits, which happens less than
/// once in `e^32000` draws.
const MOST_BITS: i32 = 48;

/// Bits of the numerator of a fine rate, where its denominator allows for them.
const BITS: i32 = 32;

impl Rate {
    /// The least and the largest rate of [`Self::at_most`], in nats.
    pub const COARSE_RANGE: [f64; 2] = [1.0 / DENOMINATOR as f64, 2048.0];

    /// The largest representable rate that is at most `epsilon`, so that the budget is never exceeded.
    #[must_use]
    pub fn at_most(epsilon: f64) -> Option<Self> {
        let numerator = libm::floor(epsilon * DENOMINATOR as f64);
        let is_possible = (1.0..=2_147_483_648.0).contains(&numerator);
        is_possible.then_some(Self { numerator: numerator as u64, denominator: DENOMINATOR })
    }

    /// The same with a relative precision of `2^-31` down to rates of `2^-17`, and less below, by denominators of up to
    /// `2^48`; for noise in small steps. Its draws differ from those of [`Self::at_most`] at the same budget.
    #[must_use]
    pub fn finely_at_most(epsilon: f64) -> Option<Self> {
        if !(epsilon > 0.0 && epsilon <= 2048.0) {
            return None;
        }
        let bits = (BITS - 1 - libm::ilogb(epsilon)).clamp(20, MOST_BITS);
        let denominator = 1 << bits;
        let numerator = libm::floor(epsilon * denominator as f64);
        (numerator >= 1.0).then_some(Self { numerator: numerator as u64, denominator })
    }

    /// The rate `1 / steps`, for a number of steps between 1 and `2^48`.
    pub(crate) fn one_in(steps: u64) -> Self {
        Self { numerator: 1, denominator: steps }
    }

    /// The rate in nats.
    #[must_use]
    pub fn nats(self) -> f64 {
        self.numerator as f64 / self.denominator as f64
    }
}

/// One draw with `P(x) ∝ exp(-|x| · rate)`, by integer arithmetic alone.
///
/// # Source
/// Canonne, Kamath, Steinke (2020), The discrete Gaussian, algorithm 2.
pub fn discrete_laplace(rate: Rate, rng: &mut impl Rng) -> i64 {
    draw(rate, &mut Words(rng))
}

pub(crate) fn draw(rate: Rate, integers: &mut impl Integers) -> i64 {
    loop {
        let remainder = integers.below(rate.denominator);
        if !bernoulli_exp(remainder, rate.denominator, integers) {
            continue;
        }
        let mut quotient = 0;
        while bernoulli_exp(rate.denominator, rate.denominator, integers) {
            quotient += 1;
        }
        let magnitude = ((remainder + rate.denominator * quotient) / rate.numerator) as i64;
        match (integers.is_below(1, 2), magnitude) {
            // Zero has one sign only, or it would be drawn twice as often.
            (true, 0) => {}
            (true, magnitude) => return -magnitude,
            (false, magnitude) => return magnitude,
        }
    }
}

/// True with probability `exp(-numerator / denominator)` for a numerator up to the denominator (von Neumann's series).
pub(crate) fn bernoulli_exp(numerator: u64, denominator: u64, integers: &mut impl Integers) -> bool {
    let mut terms = 1;
    while integers.is_below(numerator, denominator * terms) {
        terms += 1;
    }
    terms % 2 == 1
}

#[cfg(test)]
mod tests;
