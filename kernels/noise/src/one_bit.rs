//! One bit about a number in a range: it is set more often, the larger the number is.

use rand_core::Rng;

use crate::randomized_response::threshold;
use crate::uniform::{WORDS, bernoulli};

/// Draws a bit that is set with probability `1 / (E + 1) + share · (E - 1) / (E + 1)`, where `E = e^ε` and `share` in
/// `[0, 1]` says where in its range a number lies.
///
/// # Privacy
/// `ε`-differentially private for the number: either value of the bit has a probability between `t / 2^64` and
/// `1 - t / 2^64` whatever the number is, and `ln((2^64 - t) / t)` never exceeds `ε` (see [`threshold`]).
///
/// # Source
/// Ding, Kulkarni, Yekhanin (2017), Collecting telemetry data privately; on features: Sajadmanesh,
/// Gatica-Perez (2020), When differential privacy meets graph neural networks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OneBit {
    least: u64,
}

impl OneBit {
    /// The mechanism at a finite budget of `epsilon` nats; none where the budget is too small or not finite, so that
    /// the bit would say nothing at all or everything.
    #[must_use]
    pub fn new(epsilon: f64) -> Option<Self> {
        if !epsilon.is_finite() {
            return None;
        }
        let least = threshold(epsilon);
        (least < 1 << 63).then_some(Self { least })
    }

    /// Whether the bit is set, for a number that lies at `share` of its range; a share outside `[0, 1]` counts as the
    /// nearer end.
    pub fn draw(self, share: f64, rng: &mut impl Rng) -> bool {
        bernoulli(self.threshold_at(share), rng)
    }

    /// The bit is set when a random word lies below this threshold.
    #[must_use]
    pub fn threshold_at(self, share: f64) -> u64 {
        let most = self.least.wrapping_neg();
        let span = (most - self.least) as f64;
        // The product may be rounded up beyond the span; the bit would then cost more than its budget.
        let above = libm::round(share.clamp(0.0, 1.0) * span) as u64;
        self.least + above.min(most - self.least)
    }

    /// How much more often the bit is set at the upper end than at the lower one: `(E - 1) / (E + 1)`, as executed.
    #[must_use]
    pub fn contrast(self) -> f64 {
        2.0 * ((1_u64 << 63) - self.least) as f64 / WORDS
    }
}

#[cfg(test)]
mod tests;
