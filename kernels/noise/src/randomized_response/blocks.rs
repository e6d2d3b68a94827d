//! Rare flips: how many there are in a block of bits, then which.

use alloc::vec::Vec;

use num_bigint::BigUint;
use rand_core::Rng;

/// Independent flips in blocks of `2^block_bits` bits, each with probability `threshold / 2^64` exactly.
///
/// The number of flips in a block is binomial. Its distribution function, times `2^(64 · size)`, is an
/// integer; a count is found by comparing it with a uniform number of as many bits, of which the first
/// 64 nearly always decide. The rest is drawn only when they do not, so the comparison is exact.
/// (Idea: Farach-Colton and Tsai, "Exact sublinear binomial sampling", 2015.)
pub(super) struct Blocks {
    threshold: u64,
    block_bits: u32,
    /// First 64 bits of the distribution function at 0, 1, 2, ...
    tops: Vec<u64>,
}

impl Blocks {
    /// Blocks in which some four to eight flips are expected, as far as blocks of 64 to 32,768 bits allow that
    /// are no longer than a list. (The distribution function of longer ones takes longer than it saves.)
    pub(super) fn of(threshold: u64, n_nodes: usize) -> Self {
        let expected_gap = (u64::MAX / threshold.max(1)).max(1);
        let longest = n_nodes.next_power_of_two().ilog2().clamp(6, 15);
        Self::new(threshold, (expected_gap.ilog2() + 3).clamp(6, longest))
    }

    pub(super) fn new(threshold: u64, block_bits: u32) -> Self {
        // The whole numbers have millions of bits and take some 30 ms; bounds on their first bits take microseconds.
        let tops = tops_from_bounds(threshold, block_bits).unwrap_or_else(|| exact_tops(threshold, block_bits));
        Self { threshold, block_bits, tops }
    }

    /// Appends the ascending positions below `n` that are flipped.
    pub(super) fn flips(&self, n: u32, rng: &mut impl Rng, positions: &mut Vec<u32>) {
        for first in (0..n).step_by(1 << self.block_bits) {
            let start = positions.len();
            for _ in 0..self.count(rng) {
                // A uniform set of that size: positions drawn twice are drawn again.
                loop {
                    let position = first + (rng.next_u32() >> (32 - self.block_bits));
                    if let Err(at) = positions[start..].binary_search(&position) {
                        positions.insert(start + at, position);
                        break;
                    }
                }
            }
        }
        // The last block may reach beyond the list; bits that do not exist are not sent.
        positions.truncate(positions.partition_point(|&position| position < n));
    }

    /// Number of flips in one block.
    fn count(&self, rng: &mut impl Rng) -> usize {
        let word = rng.next_u64();
        // The uniform number is below the distribution function wherever its first word is.
        let count = self.tops.partition_point(|&top| top < word);
        match self.tops.get(count) {
            Some(&top) if top > word => count,
            _ => self.count_by_all_bits(word, rng),
        }
    }

    /// The count when the first word decides nothing, about once in `2^60` blocks.
    #[cold]
    fn count_by_all_bits(&self, first_word: u64, rng: &mut impl Rng) -> usize {
        let further = (1_u64 << self.block_bits) - 1;
        let uniform =
            (0..further).fold(BigUint::from(first_word), |value, _| (value << 64) | BigUint::from(rng.next_u64()));
        Cumulative::new(self.threshold, self.block_bits).take_while(|value| *value <= uniform).count()
    }
}

/// First 64 bits of the distribution function, until they are all ones.
fn exact_tops(threshold: u64, block_bits: u32) -> Vec<u64> {
    let shift = 64 * ((1_u64 << block_bits) - 1);
    let mut tops = Vec::new();
    for top in Cumulative::new(threshold, block_bits).map_while(|value| u64::try_from(value >> shift).ok()) {
        tops.push(top);
        if top == u64::MAX {
            break;
        }
    }
    tops
}

/// Bits after the point of the bounds on the distribution function.
const PRECISION: u64 = 320;

/// The same from a lower and an upper bound of [`PRECISION`] bits; none where the bounds differ in the first 64 bits of a
/// value, so that only the whole number tells.
fn tops_from_bounds(threshold: u64, block_bits: u32) -> Option<Vec<u64>> {
    let size = 1_u64 << block_bits;
    let complement: BigUint = (BigUint::from(1_u8) << 64_u32) - threshold;
    // P(no flip) = (1 - t / 2^64)^size, by squaring.
    let mut low: BigUint = &complement << (PRECISION - 64);
    let mut high = low.clone();
    for _ in 0..block_bits {
        low = (&low * &low) >> PRECISION;
        high = ((&high * &high) >> PRECISION) + 1_u8;
    }
    let (mut sum_low, mut sum_high) = (BigUint::ZERO, BigUint::ZERO);
    let mut tops = Vec::new();
    for count in 0..=size {
        sum_low += &low;
        sum_high += &high;
        let top = &sum_low >> (PRECISION - 64);
        if top != &sum_high >> (PRECISION - 64) {
            return None;
        }
        let top = u64::try_from(top).ok()?;
        tops.push(top);
        if top == u64::MAX {
            break;
        }
        let divisor = &complement * (count + 1);
        low = low * threshold * (size - count) / &divisor;
        high = high * threshold * (size - count) / divisor + 1_u8;
    }
    Some(tops)
}

/// The binomial distribution function at 0, 1, 2, ..., times `2^(64 · size)`.
struct Cumulative {
    threshold: u64,
    complement: BigUint,
    size: u64,
    count: u64,
    term: BigUint,
    sum: BigUint,
}

impl Cumulative {
    fn new(threshold: u64, block_bits: u32) -> Self {
        let complement: BigUint = (BigUint::from(1_u8) << 64_u32) - threshold;
        let size = 1_u64 << block_bits;
        let term = complement.pow(1 << block_bits);
        Self { threshold, complement, size, count: 0, term, sum: BigUint::ZERO }
    }
}

impl Iterator for Cumulative {
    type Item = BigUint;

    fn next(&mut self) -> Option<BigUint> {
        if self.count > self.size {
            return None;
        }
        self.sum += &self.term;
        // C(n, k + 1) tᵏ⁺¹ sⁿ⁻ᵏ⁻¹ from C(n, k) tᵏ sⁿ⁻ᵏ; both divisions leave no rest.
        self.term *= self.threshold;
        self.term *= self.size - self.count;
        self.term /= &self.complement;
        self.count += 1;
        self.term /= self.count;
        Some(self.sum.clone())
    }
}

#[cfg(test)]
mod tests;
