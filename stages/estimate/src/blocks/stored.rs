//! This module chooses which messages are kept.

use super::double_claims::DoubleClaimPairs;

/// Holds the messages that are kept.
pub(crate) struct Stored {
    /// The message of slot `s` is the one with this number.
    pub number_of_slot: Vec<u32>,
    /// The messages of the slots of node `i` have the numbers `offsets[i]..offsets[i + 1]`.
    pub offsets: Vec<usize>,
    /// `[messages, n_classes]`.
    pub messages: Vec<f32>,
}

/// Stands for a message that is not kept.
const NOT_STORED: u32 = u32::MAX;

impl Stored {
    /// Chooses which messages are kept: those of the pairs that say most, at most `most`.
    pub(crate) fn new(pairs: &DoubleClaimPairs, strengths: &[f32], most: usize) -> Self {
        /// Below this strength a message follows well enough from beliefs.
        const LEAST: f32 = 0.5;
        let mut strong: Vec<f32> = strengths.iter().copied().filter(|&strength| strength > LEAST).collect();
        let mut least = LEAST;
        if strong.len() > most {
            let (_, &mut limit, _) = strong.select_nth_unstable_by(most, |a, b| b.total_cmp(a));
            least = limit;
        }
        let mut number_of_slot = vec![NOT_STORED; strengths.len()];
        let mut offsets = vec![0];
        let mut n_messages = 0;
        for node in 0..pairs.n_nodes() {
            for slot in pairs.slots(node).filter(|&slot| strengths[slot] > least) {
                number_of_slot[slot] = n_messages as u32;
                n_messages += 1;
            }
            offsets.push(n_messages);
        }
        Self { number_of_slot, offsets, messages: Vec::new() }
    }

    /// Returns the number of kept messages.
    pub(crate) fn n_messages(&self) -> usize {
        self.offsets.last().copied().unwrap_or(0)
    }

    /// Returns the number of the message of this slot, if it is kept.
    pub(crate) fn number(&self, slot: usize) -> Option<usize> {
        let number = self.number_of_slot[slot];
        (number != NOT_STORED).then_some(number as usize)
    }
}
