//! Noisy steps on the same data, and what they cost together.

use veilgraph_contract::Cost;

use crate::loss_distribution::{self, Direction, Losses};
use crate::occurrences::Occurrences;
use crate::{Budget, Curve, occurrence_bounded, sampled_gaussian};

/// One kind of step.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// Gaussian noise of standard deviation `noise_multiplier` on what a node moves by at most 1. Integer noise is no such
    /// step: what is known of it are its divergences.
    Gaussian {
        /// The standard deviation.
        noise_multiplier: f64,
    },
    /// See [`sampled_gaussian`].
    SampledGaussian {
        /// Probability with which a node is in the sample.
        rate: f64,
        /// The standard deviation, over the length of a node's term.
        noise_multiplier: f64,
    },
    /// See [`occurrence_bounded`].
    OccurrenceBounded {
        /// How rows are sampled.
        occurrences: Occurrences,
        /// The standard deviation, over the longest term.
        noise_multiplier: f64,
    },
    /// What is known by its Rényi divergences alone.
    Divergences(Curve),
}

/// Noisy steps on the same data, each of which may depend on those before.
#[derive(Clone, Debug, PartialEq)]
pub struct Composition(Vec<(Step, f64)>);

/// What a budget is compared with.
pub trait Costs {
    /// Whether the cost is known to be at most the budget.
    fn keep(&self, budget: Budget) -> bool;
}

impl Costs for Curve {
    fn keep(&self, Budget { epsilon, dp_delta }: Budget) -> bool {
        self.epsilon(dp_delta) <= epsilon
    }
}

impl Costs for Composition {
    fn keep(&self, Budget { epsilon, dp_delta }: Budget) -> bool {
        let curve = self.curve();
        let known = curve.epsilon(dp_delta);
        // The distribution of the loss takes time, and is never that far below its divergences.
        known <= epsilon
            || (known <= 2.0 * epsilon + 1.0 && self.epsilon_of_losses(&curve, dp_delta, epsilon) <= epsilon)
    }
}

impl Composition {
    /// `times` steps of one kind.
    #[must_use]
    pub fn of(step: Step, times: f64) -> Self {
        Self(vec![(step, times)])
    }

    /// These steps and others.
    #[must_use]
    pub fn and(mut self, other: Self) -> Self {
        self.0.extend(other.0);
        self
    }

    /// The Rényi divergences of all steps together.
    #[must_use]
    pub fn curve(&self) -> Curve {
        self.0.iter().fold(Curve::nothing(), |sum, (step, times)| sum.and(&step.curve().repeated(*times)))
    }

    /// The epsilon at `dp_delta`, in nats: the smaller one of what Rényi divergences and the distribution of the privacy
    /// loss tell. The second one is known for Gaussian noise alone.
    #[must_use]
    pub fn epsilon(&self, dp_delta: f64) -> f64 {
        self.epsilon_beside(&self.curve(), dp_delta)
    }

    /// The same, where the divergences of all steps are known.
    fn epsilon_beside(&self, curve: &Curve, dp_delta: f64) -> f64 {
        let known = curve.epsilon(dp_delta);
        if known > 0.0 && known.is_finite() {
            known.min(self.epsilon_of_losses(curve, dp_delta, f64::INFINITY))
        } else {
            known
        }
    }

    /// The epsilon that the distributions of the privacy loss tell, or some epsilon above `most`; infinite where they are not
    /// known.
    fn epsilon_of_losses(&self, curve: &Curve, dp_delta: f64, most: f64) -> f64 {
        let toward = |direction: Direction| {
            let losses: Option<Vec<Losses>> =
                self.0.iter().map(|(step, times)| step.losses(*times, direction)).collect();
            losses.map_or(f64::INFINITY, |losses| loss_distribution::epsilon(&losses, curve, dp_delta))
        };
        // Neighbouring data may have more or less than the data at hand, in all steps alike.
        let removed = toward(Direction::Removed);
        let is_one_sided = self.0.iter().any(|(step, _)| matches!(step, Step::SampledGaussian { .. }));
        let larger = if is_one_sided && removed <= most { removed.max(toward(Direction::Added)) } else { removed };
        rounded_up(larger)
    }

    /// The cost that the ledger states: the epsilon, and the divergences, which compose with those of other releases.
    #[must_use]
    pub fn cost(&self, dp_delta: f64) -> Cost {
        let curve = self.curve();
        match curve.cost(dp_delta) {
            Cost::Approximate { dp_delta, rdp, .. } => {
                Cost::Approximate { epsilon: self.epsilon_beside(&curve, dp_delta), dp_delta, rdp }
            }
            cost @ Cost::Pure(_) => cost,
        }
    }
}

/// A little more, with nine digits: the last ones differ between processors.
fn rounded_up(epsilon: f64) -> f64 {
    if !(epsilon > 0.0 && epsilon.is_finite()) {
        return epsilon;
    }
    let scale = libm::exp10(8.0 - libm::floor(libm::log10(epsilon)));
    (epsilon * scale).ceil() / scale
}

impl Step {
    /// Its Rényi divergences.
    #[must_use]
    pub fn curve(&self) -> Curve {
        match self {
            Self::Gaussian { noise_multiplier } => Curve::gaussian(*noise_multiplier),
            Self::SampledGaussian { rate, noise_multiplier } => sampled_gaussian(*rate, *noise_multiplier),
            Self::OccurrenceBounded { occurrences, noise_multiplier } => {
                occurrence_bounded(*occurrences, *noise_multiplier)
            }
            Self::Divergences(curve) => curve.clone(),
        }
    }

    /// The distribution of its privacy loss, where it is known.
    fn losses(&self, times: f64, direction: Direction) -> Option<Losses> {
        match *self {
            Self::Gaussian { noise_multiplier } => Some(Losses::of_moves([(1.0, 1.0)], noise_multiplier, times)),
            Self::SampledGaussian { rate, noise_multiplier } if rate >= 1.0 => {
                Some(Losses::of_moves([(1.0, 1.0)], noise_multiplier, times))
            }
            Self::SampledGaussian { rate, noise_multiplier } => {
                Some(Losses::of_sample(rate, noise_multiplier, times, direction))
            }
            Self::OccurrenceBounded { occurrences, noise_multiplier } => {
                let moves = occurrences.moves().into_iter().map(|(distance, log)| (distance, libm::exp(log)));
                Some(Losses::of_moves(moves, noise_multiplier, times))
            }
            Self::Divergences(_) => None,
        }
    }
}

#[cfg(test)]
mod tests;
