//! Noise on what a node counts: its degree, its neighbours in a group, an entry of its list.

use std::str::FromStr;

use rand::{Rng, RngExt};
use serde::{Deserialize, Serialize};
use veilgraph_contract::Invalid;

use crate::discrete_laplace::{Rate, discrete_laplace};

/// Distribution of the noise on degrees and other counts; `degree_noise` in a config.
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
    "a budget of {epsilon} nats lies outside what integer noise can represent here, [{least}, {most}]; change epsilon, or degree_fraction where there is one"
)]
pub struct DegreeBudgetError {
    epsilon: f64,
    /// The smallest budget that can be represented, in nats.
    least: f64,
    /// The largest one.
    most: f64,
}

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

/// Noise on a count that one bit of a list moves by one.
///
/// # Privacy
/// A count with this noise is `epsilon`-differentially private for a change of the count by one: in exact arithmetic
/// where the noise is continuous, as executed where it is integer. Noise at an infinite budget protects nothing.
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
                let [least, most] = Rate::COARSE_RANGE.map(|rate| rate * steps as f64);
                let rate = Rate::at_most(epsilon / steps as f64).ok_or(DegreeBudgetError { epsilon, least, most })?;
                Ok(Self::Discrete { rate, steps })
            }
        }
    }

    /// `count` with noise.
    pub fn add(self, count: usize, rng: &mut impl Rng) -> f64 {
        match self {
            Self::None => count as f64,
            Self::Laplace(scale) => count as f64 + laplace(scale, rng),
            Self::Discrete { rate, steps } => count as f64 + discrete_laplace(rate, rng) as f64 / steps as f64,
        }
    }
}

/// One draw from a centered Laplace distribution, by inversion.
fn laplace(scale: f64, rng: &mut impl Rng) -> f64 {
    let uniform: f64 = rng.random::<f64>() - 0.5;
    -scale * uniform.signum() * libm::log1p(-2.0 * uniform.abs())
}

#[cfg(test)]
mod tests;
