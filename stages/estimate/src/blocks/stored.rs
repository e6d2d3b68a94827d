//! This module chooses which messages are kept.

use rayon::prelude::*;

use super::double_claims::DoubleClaimPairs;

/// Holds the messages that are kept. A slot without a message takes one bit and a half.
#[derive(Default)]
pub(crate) struct Stored {
    /// One bit for each slot: whether its message is kept. There is room for at least one slot more.
    bits: Vec<u64>,
    /// The number of messages that are kept of all slots before those of each word of `bits`.
    before: Vec<u32>,
    /// The messages of the slots of node `i` have the numbers `offsets[i]..offsets[i + 1]`.
    pub offsets: Vec<usize>,
    /// The number of the message of the same pair in the other direction, `[messages]`.
    pub reverse: Vec<u32>,
    /// `[messages, n_classes]`.
    pub messages: Vec<f32>,
}

impl Stored {
    /// Chooses which messages are kept: those of the pairs that say most, at most `most`.
    ///
    /// `strength(node, slot)` says how much a pair says, for a slot in the row of this node. It is the same in both
    /// directions of a pair.
    pub(crate) fn new(pairs: &DoubleClaimPairs, strength: impl Fn(usize, usize) -> f32 + Sync, most: usize) -> Self {
        /// Below this strength a message follows well enough from beliefs.
        const LEAST: f32 = 0.5;
        let bits = stronger_than(LEAST, pairs, &strength);
        let n_strong: usize = bits.iter().map(|word| word.count_ones() as usize).sum();
        let bits = if n_strong > most {
            let later = |i: usize| pairs.later_slots(i).map(move |slot| (i, slot));
            let strengths = (0..pairs.n_nodes()).into_par_iter().flat_map_iter(later);
            let mut strong: Vec<f32> =
                strengths.map(|(i, slot)| strength(i, slot)).filter(|&strength| strength > LEAST).collect();
            // Both directions of a pair are as strong, so half as many pairs as messages are kept.
            let (_, &mut least, _) = strong.select_nth_unstable_by(most / 2, |a, b| b.total_cmp(a));
            stronger_than(least, pairs, &strength)
        } else {
            bits
        };
        let mut n_before = 0;
        let before = bits.iter().map(|word| {
            n_before += word.count_ones();
            n_before - word.count_ones()
        });
        let mut stored = Self { before: before.collect(), bits, ..Self::default() };
        stored.offsets = pairs.offsets.iter().map(|&slot| stored.n_before(slot)).collect();
        stored.reverse = vec![0; n_before as usize];
        // Rows are filled in the order of pairs: partners below a node come before those above.
        let mut next = stored.offsets.clone();
        for i in 0..pairs.n_nodes() {
            for slot in pairs.later_slots(i) {
                if stored.number(slot).is_some() {
                    let j = pairs.partners[slot] as usize;
                    (stored.reverse[next[i]], stored.reverse[next[j]]) = (next[j] as u32, next[i] as u32);
                    next[i] += 1;
                    next[j] += 1;
                }
            }
        }
        stored
    }

    /// Returns the number of kept messages.
    pub(crate) fn n_messages(&self) -> usize {
        self.reverse.len()
    }

    /// Returns the number of the message of this slot, if it is kept.
    pub(crate) fn number(&self, slot: usize) -> Option<usize> {
        let is_kept = self.bits[slot / 64] >> (slot % 64) & 1 == 1;
        is_kept.then(|| self.n_before(slot))
    }

    /// Returns the number of messages that are kept of all slots before this one.
    fn n_before(&self, slot: usize) -> usize {
        let earlier_in_word = self.bits[slot / 64] & ((1 << (slot % 64)) - 1);
        self.before[slot / 64] as usize + earlier_in_word.count_ones() as usize
    }
}

/// Marks the slots whose strength exceeds `least`.
///
/// # Shapes
/// Returns one bit for each slot, and more that are 0.
fn stronger_than(least: f32, pairs: &DoubleClaimPairs, strength: &(impl Fn(usize, usize) -> f32 + Sync)) -> Vec<u64> {
    let word = |word: usize| -> u64 {
        let slots = 64 * word..(64 * word + 64).min(pairs.n_slots());
        // The last node whose row does not begin later.
        let mut node = pairs.offsets.partition_point(|&first| first <= slots.start) - 1;
        let mut bits = 0;
        for slot in slots {
            while pairs.offsets[node + 1] <= slot {
                node += 1;
            }
            bits |= u64::from(strength(node, slot) > least) << (slot % 64);
        }
        bits
    };
    (0..=pairs.n_slots() / 64).into_par_iter().map(word).collect()
}

#[cfg(test)]
mod tests;
