//! Randomized response on the bits of a list (Warner 1965; Blink, algorithm 1).

mod blocks;

use alloc::vec;
use alloc::vec::Vec;

use rand_core::Rng;

use self::blocks::Blocks;
use crate::uniform::{probability, threshold_at_least};

/// Flips up to this probability are drawn block by block, which then takes fewer random words than 64 bits at a time.
const RARE: f64 = 1.0 / 32.0;

/// Probability that randomized response flips a bit: `1 / (1 + e^ε)`.
#[must_use]
pub fn flip_probability(epsilon: f64) -> f64 {
    1.0 / (1.0 + libm::exp(epsilon))
}

/// A bit is flipped when a uniform 64-bit word lies below this threshold.
///
/// # Privacy
/// The flip probability is exactly `threshold / 2^64`, rounded up from `1 / (1 + e^ε)`, so the true
/// cost `ln((2^64 - t) / t)` never exceeds `ε`; it falls short by at most `2^-48 (1 + cosh ε)`.
/// An infinite budget flips nothing.
#[must_use]
pub fn threshold(epsilon: f64) -> u64 {
    if epsilon.is_infinite() {
        return 0;
    }
    threshold_at_least(flip_probability(epsilon)).min(HALF)
}

/// The threshold of a probability of 1/2, beyond which a flipped bit would tell as much as one that is kept.
const HALF: u64 = 1 << 63;

/// 64 independent bits, each set with probability `threshold / 2^64` exactly.
///
/// Each of the 64 bits (a lane) compares a uniform number with the threshold, digit by digit from the highest, and all
/// lanes share the random words: one word holds one digit of each lane. The comparison stops when every lane is decided,
/// after about eight words.
pub fn flips(threshold: u64, rng: &mut impl Rng) -> u64 {
    let mut undecided = u64::MAX;
    let mut below = 0;
    for bit in (0..64).rev() {
        if undecided == 0 || threshold << (63 - bit) == 0 {
            // Once the rest of the threshold is zero, no undecided lane can fall below it.
            break;
        }
        let word = rng.next_u64();
        if threshold >> bit & 1 == 1 {
            below |= undecided & !word;
            undecided &= word;
        } else {
            undecided &= !word;
        }
    }
    below
}

/// Randomized response at one budget on lists of one length.
pub struct RandomizedResponse {
    n_nodes: usize,
    threshold: u64,
    blocks: Option<Blocks>,
}

impl RandomizedResponse {
    /// Randomized response at `epsilon` nats per bit, on lists with a bit for each of `n_nodes`.
    #[must_use]
    pub fn new(epsilon: f64, n_nodes: usize) -> Self {
        Self::with_threshold(threshold(epsilon), n_nodes)
    }

    /// Flips with a `probability` that is rounded up, and is then at least `2^-64` and at most 1/2, on lists with a bit for each
    /// of `n_nodes`.
    #[must_use]
    pub fn with_probability(probability: f64, n_nodes: usize) -> Self {
        Self::with_threshold(threshold_at_least(probability).min(HALF), n_nodes)
    }

    fn with_threshold(threshold: u64, n_nodes: usize) -> Self {
        // There are two exact samplers. `flips` decides 64 bits at a time and is cheaper where many bits flip. `Blocks`
        // draws for a block of bits how many of them flip, and then which; it is cheaper where few bits flip.
        let is_rare = threshold > 0 && probability(threshold) <= RARE;
        Self { n_nodes, threshold, blocks: is_rare.then(|| Blocks::of(threshold, n_nodes)) }
    }

    /// The noisy list of `node`: each bit but its own is flipped independently with [`flip_probability`].
    ///
    /// `neighbours` ascend and do not hold `node`; so does the result.
    ///
    /// # Privacy
    /// `ε`-differentially private for any one bit of the list. The node's own bit is public: it is zero.
    ///
    /// # Complexity
    /// Linear in neighbours and flips where flips are rare, else in `n_nodes`.
    ///
    /// # Source
    /// Zhu, Tan, Xiao (2023), Blink, algorithm 1; the diagonal as in the published code.
    pub fn noisy_list(&self, node: u32, neighbours: &[u32], rng: &mut impl Rng) -> Vec<u32> {
        if self.threshold == 0 {
            return neighbours.to_vec();
        }
        let Some(blocks) = &self.blocks else {
            let mut row = vec![0; self.n_nodes.div_ceil(64)];
            self.noisy_bits(node, neighbours, rng, &mut row);
            return ones(&row);
        };
        let mut flips = Vec::new();
        blocks.flips(self.n_nodes as u32, rng, &mut flips);
        let kept = neighbours.iter().filter(|link| flips.binary_search(link).is_err());
        let added = flips.iter().filter(|&&flip| flip != node && neighbours.binary_search(&flip).is_err());
        let mut list: Vec<u32> = kept.chain(added).copied().collect();
        list.sort_unstable();
        list
    }

    /// The same as bits, one per node, into a `row` of zeros.
    ///
    /// # Complexity
    /// Linear in `n_nodes`.
    pub fn noisy_bits(&self, node: u32, neighbours: &[u32], rng: &mut impl Rng, row: &mut [u64]) {
        if self.threshold > 0 {
            row.iter_mut().for_each(|word| *word = flips(self.threshold, rng));
        }
        for &link in neighbours {
            row[link as usize / 64] ^= 1 << (link % 64);
        }
        row[node as usize / 64] &= !(1 << (node % 64));
        if let Some(last) = row.last_mut().filter(|_| !self.n_nodes.is_multiple_of(64)) {
            *last &= (1 << (self.n_nodes % 64)) - 1;
        }
    }
}

/// Positions of the set bits of a row, ascending; the lowest bit of a word comes first.
fn ones(row: &[u64]) -> Vec<u32> {
    let mut ones = Vec::with_capacity(row.iter().map(|word| word.count_ones() as usize).sum());
    for (&word, first) in row.iter().zip((0..).step_by(64)) {
        let mut rest = word;
        while rest != 0 {
            ones.push(first + rest.trailing_zeros());
            rest &= rest - 1;
        }
    }
    ones
}

#[cfg(test)]
mod tests;
