//! The exponential mechanism: a choice among many whose probability grows with a score, drawn by integer arithmetic alone.

use alloc::vec::Vec;

use rand_core::Rng;

use crate::discrete_gaussian::is_accepted;
use crate::uniform::{Integers, Words};

/// Steps between the lowest and the highest score.
pub const STEPS: u32 = 1 << 20;

/// How much likelier the highest score is than the lowest one, in nats: `steps / 2^20`, so that sampling is exact.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Range(u64);

impl Range {
    /// The largest range in nats. A draw takes at most some `e^range` attempts.
    pub const MOST: f64 = 14.0;

    /// The largest range of the grid that is at most `nats`; none above [`Self::MOST`], or for what is no such number.
    #[must_use]
    pub fn at_most(nats: f64) -> Option<Self> {
        (0.0..=Self::MOST).contains(&nats).then(|| Self(libm::floor(nats * f64::from(STEPS)) as u64))
    }

    /// In nats.
    #[must_use]
    pub fn nats(self) -> f64 {
        self.0 as f64 / f64::from(STEPS)
    }
}

/// `count` different numbers below `scores.len()`, one after the other: each with a probability proportional to
/// `exp(range · score / STEPS)` among those that are left. In the order in which they were chosen.
///
/// Adding Gumbel noise to the scores and taking the largest sums gives the same law (Durfee, Rogers 2019, Practical
/// differentially private top-k selection, lemma 4.2).
///
/// # Privacy
/// Scores are between 0 and [`STEPS`]. If a node may move every score at will, one choice has log probabilities that move
/// within a window of twice `range`, so it is of bounded range `2 · range` and costs `(2 range)² / 8` in concentrated
/// differential privacy; choices add up.
///
/// # Panics
/// When `count` exceeds the number of scores.
pub fn choose(scores: &[u32], count: usize, range: Range, rng: &mut impl Rng) -> Vec<usize> {
    assert!(count <= scores.len(), "{count} cannot be chosen among {}", scores.len());
    let integers = &mut Words(rng);
    let mut chosen = Vec::with_capacity(count);
    while chosen.len() < count {
        let candidate = integers.below(scores.len() as u64) as usize;
        if chosen.contains(&candidate) {
            continue;
        }
        let deficit = u64::from(STEPS.saturating_sub(scores[candidate]));
        if is_accepted(deficit * range.0, u64::from(STEPS) * u64::from(STEPS), integers) {
            chosen.push(candidate);
        }
    }
    chosen
}

#[cfg(test)]
mod tests;
