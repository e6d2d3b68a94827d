//! Integer noise with the law `P(x) ∝ exp(-|x| rate)`, drawn by integer arithmetic alone.

use rand_core::Rng;

/// A decay rate as a fraction of `2^20`: what integer sampling can represent exactly.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rate {
    numerator: u64,
    denominator: u64,
}

const DENOMINATOR: u64 = 1 << 20;

impl Rate {
    /// The largest representable rate that is at most `epsilon`, so that the budget is never exceeded.
    #[must_use]
    pub fn at_most(epsilon: f64) -> Option<Self> {
        let numerator = libm::floor(epsilon * DENOMINATOR as f64);
        let is_possible = (1.0..=2_147_483_648.0).contains(&numerator);
        is_possible.then_some(Self { numerator: numerator as u64, denominator: DENOMINATOR })
    }

    /// The rate in nats.
    #[must_use]
    pub fn nats(self) -> f64 {
        self.numerator as f64 / self.denominator as f64
    }
}

/// Where integers come from: random words, or a test that tries every one of them.
trait Integers {
    /// A uniform integer below `bound`, exactly.
    fn below(&mut self, bound: u64) -> u64;
    /// Whether a uniform integer below `bound` lies below `threshold`.
    fn is_below(&mut self, threshold: u64, bound: u64) -> bool {
        self.below(bound) < threshold
    }
}

/// Integers from random words, by rejection. (The distributions of `rand` accept a small bias.)
struct Words<'a, R>(&'a mut R);

impl<R: Rng> Integers for Words<'_, R> {
    fn below(&mut self, bound: u64) -> u64 {
        let unused = (bound - 1).leading_zeros().min(63);
        loop {
            let value = self.0.next_u64() >> unused;
            if value < bound {
                return value;
            }
        }
    }
}

/// One draw with `P(x) ∝ exp(-|x| · rate)`, by integer arithmetic alone.
///
/// # Source
/// Canonne, Kamath, Steinke (2020), The discrete Gaussian, algorithm 2.
pub fn discrete_laplace(rate: Rate, rng: &mut impl Rng) -> i64 {
    draw(rate, &mut Words(rng))
}

fn draw(rate: Rate, integers: &mut impl Integers) -> i64 {
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
fn bernoulli_exp(numerator: u64, denominator: u64, integers: &mut impl Integers) -> bool {
    let mut terms = 1;
    while integers.is_below(numerator, denominator * terms) {
        terms += 1;
    }
    terms % 2 == 1
}

#[cfg(test)]
mod tests;
