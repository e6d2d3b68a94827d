//! This module says what the two nodes of a double claim tell each other.
//!
//! Where a function has `LANES`, that is the number of classes, known to the compiler; 0 stands for any number.

#![expect(clippy::inline_always, reason = "what `dispatch` calls takes its vector width only where it is inlined")]

use super::Messages;
use crate::blocks::{MOST_LIKELY, TRUST, to_the_trust};

/// Where a claim makes no class likelier than by this, relatively, three terms of its logarithm suffice.
const WEAK: f32 = 0.2;

/// The most numbers that a row is filled up to, so that it takes whole vector registers.
pub(super) const MOST_PADDED: usize = 16;

impl Messages<'_> {
    /// Returns by how much the double claim of a slot in the row of `node` makes the reports likelier, relatively, per unit
    /// of affinity. It is the same in both directions of a pair, and cheaper to work out than to keep for every slot.
    #[inline(always)]
    pub(super) fn gain(&self, node: usize, slot: usize) -> f32 {
        let base = self.learned.base(node, self.pairs.partners[slot], self.pairs.bins[slot]);
        (base * self.claim).min(self.largest_gain()) as f32
    }

    /// No double claim makes the reports likelier by more than this, relatively.
    pub(super) fn largest_gain(&self) -> f64 {
        MOST_LIKELY * self.claim
    }

    /// Returns by how much the claim of a slot can make a class likelier, relatively, as far as beliefs tell; both
    /// directions of a pair have the same strength.
    pub(super) fn strength(&self, node: usize, slot: usize) -> f32 {
        let both = self.belief::<0>(node).iter().zip(self.belief::<0>(self.pairs.partners[slot] as usize));
        let same = both.zip(&self.affinity.same).map(|((a, b), same)| same * a.max(*b)).fold(0.0, f32::max);
        self.gain(node, slot) * (self.affinity.any + same)
    }

    /// Adds what the claim of a slot with this gain says about the class of its node, where it is so little that three terms
    /// of the logarithm suffice; returns whether it is.
    ///
    /// # Shapes
    /// `sums`: one number for each class, but [`MOST_PADDED`] at least; `room`, which is
    /// used where `LANES` is 0: `[n_classes]`.
    #[inline(always)]
    pub(super) fn add_weak<const LANES: usize>(
        &self,
        (node, partner, gain): (usize, usize, f32),
        sums: &mut [f32],
        room: &mut [f32],
    ) -> bool {
        const { assert!(LANES <= MOST_PADDED, "a row of this width does not fit") };
        if gain * self.affinity.any >= WEAK {
            return false;
        }
        match LANES {
            0 => {
                let width = self.n_classes;
                let (own, other, same) = (self.belief::<0>(node), self.belief::<0>(partner), self.same::<0>());
                self.add_weak_row(gain, own, other, same, &mut sums[..width], &mut room[..width])
            }
            1..=4 => self.add_weak_padded::<4>((node, partner, gain), sums),
            5..=8 => self.add_weak_padded::<8>((node, partner, gain), sums),
            _ => self.add_weak_padded::<MOST_PADDED>((node, partner, gain), sums),
        }
    }

    /// Does what [`Self::add_weak_row`] does with rows of `PADDED` numbers, which fill whole vector registers. What follows the
    /// classes of a node in memory is read too, but counts for nothing, because it is finite and `same` is 0 there.
    #[inline(always)]
    fn add_weak_padded<const PADDED: usize>(
        &self,
        (node, partner, gain): (usize, usize, f32),
        sums: &mut [f32],
    ) -> bool {
        let row = |node: usize| {
            let rest = &self.beliefs[node * self.n_classes..];
            rest.first_chunk::<PADDED>().copied().unwrap_or_else(|| {
                let mut row = [0.0; PADDED];
                row[..rest.len()].copy_from_slice(rest);
                row
            })
        };
        let (Some(same), Some(sums)) = (self.affinity.same.first_chunk::<PADDED>(), sums.first_chunk_mut::<PADDED>())
        else {
            unreachable!("both have {MOST_PADDED} numbers")
        };
        self.add_weak_row(gain, &row(node), &row(partner), same, sums, &mut [0.0; PADDED])
    }

    /// Adds what a claim with this gain says, to `sums`, unless it is too much for three terms of the logarithm.
    ///
    /// # Shapes
    /// All rows are of one length.
    #[inline(always)]
    fn add_weak_row(
        &self,
        gain: f32,
        own: &[f32],
        other: &[f32],
        same: &[f32],
        sums: &mut [f32],
        room: &mut [f32],
    ) -> bool {
        const THIRD: f32 = 1.0 / 3.0;
        let any = self.affinity.any;
        let mut mean = 0.0;
        for ((own, other), same) in own.iter().zip(other).zip(same) {
            mean += gain * same * own * other;
        }
        // Whether any number is too large is asked of all classes at once: to take the largest of them one after the other would
        // keep the compiler from vector instructions.
        let mut n_large = 0_u32;
        for (out, ((own, other), same)) in room.iter_mut().zip(own.iter().zip(other).zip(same)) {
            // What the node told its partner is taken out of the partner's belief again.
            let told = gain * same * own;
            let message = other * (1.0 - TRUST as f32 * (told - mean));
            *out = gain * (any + same * message);
            n_large += u32::from(*out >= WEAK) + u32::from(told >= WEAK);
        }
        if n_large > 0 {
            return false;
        }
        for (sum, &x) in sums.iter_mut().zip(&*room) {
            *sum += x * (1.0 - x * (0.5 - x * THIRD));
        }
        true
    }

    /// Turns the message that a node receives into what the claim, with this gain, multiplies the odds of each of its
    /// classes by.
    #[inline(always)]
    pub(super) fn to_factors<const LANES: usize>(&self, gain: f32, message: &mut [f32]) {
        let (any, largest) = (self.affinity.any, self.largest_gain() as f32);
        for (value, &same) in message.iter_mut().zip(self.same::<LANES>()) {
            *value = 1.0 + (gain * (any + same * *value)).min(largest);
        }
    }

    /// Writes the message that `node` sends to the partner of a slot of its row.
    ///
    /// # Shapes
    /// `out`: `[n_classes]`.
    pub(crate) fn outgoing(&self, slot: usize, node: usize, out: &mut [f32]) {
        match self.stored.number(slot) {
            Some(number) => self.kept_message::<0>(number, out),
            None => self.weak_message::<0>(self.gain(node, slot), node, self.pairs.partners[slot] as usize, out),
        }
    }

    /// Writes the message that `node` receives from the partner of a slot of its row.
    ///
    /// # Shapes
    /// `out`: `[n_classes]`.
    pub(crate) fn incoming(&self, slot: usize, node: usize, out: &mut [f32]) {
        match self.stored.number(slot) {
            Some(number) => self.kept_message::<0>(self.stored.reverse[number] as usize, out),
            None => self.weak_message::<0>(self.gain(node, slot), self.pairs.partners[slot] as usize, node, out),
        }
    }

    /// Writes the message with this number.
    #[inline(always)]
    pub(super) fn kept_message<const LANES: usize>(&self, number: usize, out: &mut [f32]) {
        let width = self.same::<LANES>().len();
        out.copy_from_slice(&self.stored.messages[number * width..][..width]);
    }

    /// Writes the message of a pair with this gain that is not kept: what the receiver told the sender is taken out of the
    /// sender's belief again.
    #[inline(always)]
    pub(super) fn weak_message<const LANES: usize>(&self, gain: f32, sender: usize, receiver: usize, out: &mut [f32]) {
        let (any, largest) = (self.affinity.any, self.largest_gain() as f32);
        let terms = self.belief::<LANES>(sender).iter().zip(self.belief::<LANES>(receiver)).zip(self.same::<LANES>());
        for (out, ((&own, &told), &same)) in out.iter_mut().zip(terms) {
            *out = own / to_the_trust(1.0 + (gain * (any + same * told)).min(largest));
        }
        let total: f32 = out.iter().sum();
        out.iter_mut().for_each(|out| *out /= total);
    }

    /// Returns the probabilities of the classes of a node.
    #[inline(always)]
    pub(super) fn belief<const LANES: usize>(&self, node: usize) -> &[f32] {
        let width = if LANES == 0 { self.n_classes } else { LANES };
        &self.beliefs[node * width..][..width]
    }

    /// Returns what a common class adds to the affinity of two nodes, `[n_classes]`.
    #[inline(always)]
    fn same<const LANES: usize>(&self) -> &[f32] {
        let width = if LANES == 0 { self.n_classes } else { LANES };
        &self.affinity.same[..width]
    }
}
