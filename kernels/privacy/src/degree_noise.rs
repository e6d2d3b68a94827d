//! Noise on what a node counts: its degree, its neighbours in a group, an entry of its list.

use std::str::FromStr;

use rand::{Rng, RngExt};
use serde::{Deserialize, Serialize};
use veilgraph_contract::Invalid;

/// Distribution of the noise on degrees and other counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DegreeNoise {
    /// Integer noise, exact: the default.
    #[default]
    DiscreteLaplace,
    /// Continuous noise as in the published code. Its floating-point bits leak (Mironov 2012), so it
    /// serves to reproduce published figures and is never deployable.
    Laplace,
}

/// Why no noise can be drawn.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[error(
    "a budget of {0} nats lies outside what integer noise on a count can represent, [2^-20, 2^11]; change epsilon or degree_fraction"
)]
pub struct DegreeBudgetError(f64);

impl DegreeNoise {
    /// Name as in a config.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::DiscreteLaplace => "discrete-laplace",
            Self::Laplace => "laplace",
        }
    }

    /// Whether the guarantee holds as executed, and not only in exact arithmetic.
    #[must_use]
    pub fn is_sound(self) -> bool {
        self == Self::DiscreteLaplace
    }
}

impl FromStr for DegreeNoise {
    type Err = Invalid;

    fn from_str(name: &str) -> Result<Self, Invalid> {
        [Self::DiscreteLaplace, Self::Laplace]
            .into_iter()
            .find(|noise| noise.name() == name)
            .ok_or_else(|| Invalid(format!("`{name}` is no noise on degrees")))
    }
}

/// The noisy degree that a node sends.
///
/// # Privacy
/// `epsilon`-differentially private for any one bit of the list (a bit moves the degree by one) with
/// [`DegreeNoise::DiscreteLaplace`]; with [`DegreeNoise::Laplace`] only in exact arithmetic.
/// An infinite budget sends the degree itself.
///
/// # Errors
/// When the budget is too small or too large for integer noise.
pub fn noisy_degree(
    degree: usize,
    epsilon: f64,
    noise: DegreeNoise,
    rng: &mut impl Rng,
) -> Result<f64, DegreeBudgetError> {
    CountNoise::new(epsilon, noise, 1).map(|noise| noise.add(degree, rng))
}

/// Noise on counts that one bit of a list moves by one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum CountNoise {
    /// None, at an infinite budget.
    None,
    /// Continuous, with this scale.
    Laplace(f64),
    /// Integer, in steps of `1 / steps`.
    Discrete {
        /// Decay per step.
        rate: Rate,
        /// Steps to one.
        steps: u64,
    },
}

impl CountNoise {
    /// Noise at `epsilon` nats; integer noise in steps of `1 / steps`, at most as much budget as asked for.
    ///
    /// # Errors
    /// When the budget is too small or too large for integer noise.
    pub fn new(epsilon: f64, noise: DegreeNoise, steps: u64) -> Result<Self, DegreeBudgetError> {
        match noise {
            _ if epsilon.is_infinite() => Ok(Self::None),
            DegreeNoise::Laplace => Ok(Self::Laplace(1.0 / epsilon)),
            DegreeNoise::DiscreteLaplace => {
                let rate = Rate::at_most(epsilon / steps as f64).ok_or(DegreeBudgetError(epsilon))?;
                Ok(Self::Discrete { rate, steps })
            }
        }
    }

    /// `count` with noise.
    ///
    /// # Privacy
    /// `epsilon`-differentially private for a change of `count` by one; see [`noisy_degree`].
    pub fn add(self, count: usize, rng: &mut impl Rng) -> f64 {
        match self {
            Self::None => count as f64,
            Self::Laplace(scale) => count as f64 + laplace(scale, rng),
            Self::Discrete { rate, steps } => count as f64 + discrete_laplace(rate, rng) as f64 / steps as f64,
        }
    }
}

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
        let numerator = (epsilon * DENOMINATOR as f64).floor();
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

/// One draw from a centered Laplace distribution, by inversion.
fn laplace(scale: f64, rng: &mut impl Rng) -> f64 {
    let uniform: f64 = rng.random::<f64>() - 0.5;
    -scale * uniform.signum() * libm::log1p(-2.0 * uniform.abs())
}

#[cfg(test)]
mod tests;
