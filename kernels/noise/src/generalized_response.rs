//! Randomized response with several classes.

use rand_core::Rng;

use crate::uniform::{WORDS, below, bernoulli, threshold_at_least};

/// Sends the true class with probability `e^ε / (e^ε + c - 1)`, and each of the other `c - 1` classes equally often.
///
/// # Privacy
/// `ε`-differentially private for the class: the probability of another class is rounded up, so that the cost
/// `ln((c - 1) · truth / (1 - truth))` never exceeds `ε`. An infinite budget sends the class itself.
///
/// # Source
/// Kairouz, Oh, Viswanath (2014), Extremal mechanisms for local differential privacy (k-ary randomized response).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GeneralizedResponse {
    n_classes: u64,
    /// Another class is sent when a random word lies below this.
    other: u64,
}

impl GeneralizedResponse {
    /// The mechanism at `epsilon` nats for `n_classes`; none for fewer than two classes, of which there is nothing to
    /// tell, and where the budget is too small to make the truth likelier than another class.
    #[must_use]
    pub fn new(epsilon: f64, n_classes: usize) -> Option<Self> {
        if n_classes < 2 {
            return None;
        }
        let others = (n_classes - 1) as f64;
        let other = if epsilon.is_infinite() { 0 } else { threshold_at_least(others / (libm::exp(epsilon) + others)) };
        // From here on, the margin of the threshold would make the truth rarer than another class.
        let blind = u64::MAX - u64::MAX / n_classes as u64 - 1;
        (other < blind).then_some(Self { n_classes: n_classes as u64, other })
    }

    /// The class that is sent in place of `class`, which lies below the number of classes.
    pub fn respond(self, class: u16, rng: &mut impl Rng) -> u16 {
        if self.other == 0 || !bernoulli(self.other, rng) {
            return class;
        }
        let other = below(self.n_classes - 1, rng) as u16;
        if other < class { other } else { other + 1 }
    }

    /// The probability of the true class, as executed.
    #[must_use]
    pub fn truth_probability(self) -> f64 {
        if self.other == 0 { 1.0 } else { self.other.wrapping_neg() as f64 / WORDS }
    }
}

#[cfg(test)]
mod tests;
