//! This module says what the two nodes of a double claim tell each other.
//!
//! Where a function has `LANES`, that is the number of classes, known to the compiler; 0 stands for any number.

use super::Messages;
use crate::blocks::{MOST_LIKELY, TRUST, to_the_trust};

impl Messages<'_> {
    /// Returns by how much the double claim of a slot in the row of `node` makes the reports likelier, relatively, per unit
    /// of affinity. It is the same in both directions of a pair, and cheaper to work out than to keep for every slot.
    #[inline]
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
    /// `sums` and `room`: `[n_classes]`.
    pub(super) fn add_weak<const LANES: usize>(
        &self,
        (node, partner, gain): (usize, usize, f32),
        sums: &mut [f32],
        room: &mut [f32],
    ) -> bool {
        const WEAK: f32 = 0.2;
        const THIRD: f32 = 1.0 / 3.0;
        let any = self.affinity.any;
        if gain * any >= WEAK {
            return false;
        }
        let (own, other, same) = (self.belief::<LANES>(node), self.belief::<LANES>(partner), self.same::<LANES>());
        // A local array can stay in vector registers; `room` serves a width that the compiler does not know.
        let mut registers = [0.0; LANES];
        let room = if LANES == 0 { &mut room[..own.len()] } else { registers.as_mut_slice() };
        let sums = &mut sums[..own.len()];
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
    pub(super) fn kept_message<const LANES: usize>(&self, number: usize, out: &mut [f32]) {
        let width = self.same::<LANES>().len();
        out.copy_from_slice(&self.stored.messages[number * width..][..width]);
    }

    /// Writes the message of a pair with this gain that is not kept: what the receiver told the sender is taken out of the
    /// sender's belief again.
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
    pub(super) fn belief<const LANES: usize>(&self, node: usize) -> &[f32] {
        let width = if LANES == 0 { self.n_classes } else { LANES };
        &self.beliefs[node * width..][..width]
    }

    /// Returns what a common class adds to the affinity of two nodes, `[n_classes]`.
    fn same<const LANES: usize>(&self) -> &[f32] {
        let width = if LANES == 0 { self.n_classes } else { LANES };
        &self.affinity.same[..width]
    }
}
