//! Uniform integers and events of a given probability, from random words alone.

use rand_core::Rng;

/// Where integers come from: random words, or a test that tries every one of them.
pub(crate) trait Integers {
    /// A uniform integer below `bound`, exactly.
    fn below(&mut self, bound: u64) -> u64;
    /// Whether a uniform integer below `bound` lies below `threshold`.
    fn is_below(&mut self, threshold: u64, bound: u64) -> bool {
        self.below(bound) < threshold
    }
}

/// Integers from random words, by rejection. (The distributions of `rand` accept a small bias.)
pub(crate) struct Words<'a, R>(pub(crate) &'a mut R);

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

/// A uniform integer below `bound`, exactly.
///
/// # Panics
/// When `bound` is 0, because no integer lies below it.
pub fn below(bound: u64, rng: &mut impl Rng) -> u64 {
    assert!(bound > 0, "no integer lies below 0");
    Words(rng).below(bound)
}

/// True with probability `threshold / 2^64`, exactly.
pub fn bernoulli(threshold: u64, rng: &mut impl Rng) -> bool {
    rng.next_u64() < threshold
}

/// The probability `threshold / 2^64`.
#[must_use]
pub fn probability(threshold: u64) -> f64 {
    threshold as f64 / WORDS
}

/// Number of values of a 64-bit word.
pub(crate) const WORDS: f64 = 18_446_744_073_709_551_616.0;

/// The threshold of a probability that is rounded up, so that an event which hides the truth is never rarer than asked
/// for.
///
/// The probability is off by a few units of `2^-53`, relative; a margin of `2^-48` makes the rounding one-sided.
pub(crate) fn threshold_at_least(probability: f64) -> u64 {
    let margin = 1.0 + 65_536.0 / WORDS;
    (libm::ceil(probability * margin * WORDS) as u64).max(1)
}

#[cfg(test)]
mod tests;
