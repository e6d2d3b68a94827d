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
        let size = 1_u64 << block_bits;
        let shift = 64 * (size - 1);
        let within = Cumulative::new(threshold, block_bits).map_while(|value| u64::try_from(value >> shift).ok());
        let mut tops = Vec::new();
        for top in within {
            tops.push(top);
            if top == u64::MAX {
                break;
            }
        }
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
