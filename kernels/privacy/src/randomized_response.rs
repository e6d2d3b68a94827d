//! Randomized response on the bits of a list (Warner 1965; Blink, algorithm 1).

use rand::Rng;

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
    const WORDS: f64 = 18_446_744_073_709_551_616.0;
    if epsilon.is_infinite() {
        return 0;
    }
    // The exponential is off by some 2^-52, relative; the margin makes the rounding one-sided.
    let margin = 1.0 + 2.0_f64.powi(-48);
    let words = (flip_probability(epsilon) * margin * WORDS).ceil();
    (words as u64).clamp(1, 1 << 63)
}

/// 64 independent bits, each set with probability `threshold / 2^64` exactly.
///
/// Lane by lane it compares a uniform word with the threshold, from the highest bit down, and stops
/// when every lane is decided: about eight random words for 64 bits.
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

/// The noisy list of `node` as bits: each bit but its own is flipped independently with [`flip_probability`].
///
/// `neighbours` ascend and do not hold `node`; `row` has one bit per node, all zero.
///
/// # Privacy
/// `ε`-differentially private for any one bit of the list. The node's own bit is public: it is zero.
///
/// # Source
/// Zhu, Tan, Xiao (2023), Blink, algorithm 1; the diagonal as in the published code.
pub fn noisy_bits(n_nodes: usize, node: u32, neighbours: &[u32], epsilon: f64, rng: &mut impl Rng, row: &mut [u64]) {
    let threshold = threshold(epsilon);
    if threshold > 0 {
        row.iter_mut().for_each(|word| *word = flips(threshold, rng));
    }
    for &link in neighbours {
        row[link as usize / 64] ^= 1 << (link % 64);
    }
    row[node as usize / 64] &= !(1 << (node % 64));
    if let Some(last) = row.last_mut().filter(|_| !n_nodes.is_multiple_of(64)) {
        *last &= (1 << (n_nodes % 64)) - 1;
    }
}

#[cfg(test)]
mod tests;
