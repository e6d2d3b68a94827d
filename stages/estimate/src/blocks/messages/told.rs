//! This module says what the two nodes of a double claim tell each other.

use super::Messages;
use crate::blocks::{MOST_LIKELY, TRUST};

impl Messages<'_> {
    /// Returns by how much the double claim of a slot in the row of `node` makes the reports likelier, relatively, per unit
    /// of affinity. It is the same in both directions of a pair, and cheaper to work out than to keep for every slot.
    fn gain(&self, node: usize, slot: usize) -> f32 {
        let base = self.learned.base(node, self.pairs.partners[slot], self.pairs.bins[slot]);
        (base * self.claim).min(self.largest_gain()) as f32
    }

    /// No double claim makes the reports likelier by more than this, relatively.
    fn largest_gain(&self) -> f64 {
        MOST_LIKELY * self.claim
    }

    /// Returns by how much the claim of a slot can make a class likelier, relatively, as far as beliefs tell; both
    /// directions of a pair have the same strength.
    pub(super) fn strength(&self, node: usize, slot: usize) -> f32 {
        let both = self.belief(node).iter().zip(self.belief(self.pairs.partners[slot] as usize));
        let same = both.zip(&self.affinity.same).map(|((a, b), same)| same * a.max(*b)).fold(0.0, f32::max);
        self.gain(node, slot) * (self.affinity.any + same)
    }

    /// Adds what the claim of a slot says about the class of its node, where it is so little that three terms of the
    /// logarithm suffice; returns whether it is.
    ///
    /// # Shapes
    /// `sums` and `scratch`: `[n_classes]`.
    pub(super) fn add_weak(&self, slot: usize, node: usize, sums: &mut [f32], scratch: &mut [f32]) -> bool {
        const WEAK: f32 = 0.2;
        let gain = self.gain(node, slot);
        if gain * self.affinity.any >= WEAK {
            return false;
        }
        let (own, partner) = (self.belief(node), self.belief(self.pairs.partners[slot] as usize));
        let told = |((own, _), same): ((&f32, &f32), &f32)| gain * same * own;
        let both = || own.iter().zip(partner).zip(&self.affinity.same);
        let mean: f32 = both().map(|pair| told(pair) * pair.0.1).sum();
        let mut most = 0.0_f32;
        for (out, pair) in scratch.iter_mut().zip(both()) {
            // What the node told its partner is taken out of the partner's belief again.
            let message = pair.0.1 * (1.0 - TRUST as f32 * (told(pair) - mean));
            *out = gain * (self.affinity.any + pair.1 * message);
            most = most.max(*out).max(told(pair));
        }
        if most >= WEAK {
            return false;
        }
        for (sum, &x) in sums.iter_mut().zip(&*scratch) {
            *sum += x * (1.0 - x * (0.5 - x / 3.0));
        }
        true
    }

    /// Appends what the claim of a slot multiplies the odds of each class of its node by.
    pub(super) fn push_factors(&self, slot: usize, node: usize, factors: &mut Vec<f64>) {
        let first = factors.len();
        factors.resize(first + self.n_classes, 0.0);
        let row = &mut factors[first..];
        self.incoming(slot, node, row);
        let (gain, any, largest) = (self.gain(node, slot), f64::from(self.affinity.any), self.largest_gain());
        for (value, &same) in row.iter_mut().zip(&self.affinity.same) {
            *value = 1.0 + (f64::from(gain) * (any + f64::from(same) * *value)).min(largest);
        }
    }

    /// Writes the message that `node` sends to the partner of a slot of its row.
    ///
    /// # Shapes
    /// `out`: `[n_classes]`.
    pub(crate) fn outgoing(&self, slot: usize, node: usize, out: &mut [f64]) {
        match self.stored.number(slot) {
            Some(number) => self.kept_message(number, out),
            None => self.weak_message(self.gain(node, slot), node, self.pairs.partners[slot] as usize, out),
        }
    }

    /// Writes the message that `node` receives from the partner of a slot of its row.
    ///
    /// # Shapes
    /// `out`: `[n_classes]`.
    pub(crate) fn incoming(&self, slot: usize, node: usize, out: &mut [f64]) {
        match self.stored.number(slot) {
            Some(number) => self.kept_message(self.stored.reverse[number] as usize, out),
            None => self.weak_message(self.gain(node, slot), self.pairs.partners[slot] as usize, node, out),
        }
    }

    /// Writes the message with this number.
    fn kept_message(&self, number: usize, out: &mut [f64]) {
        let message = &self.stored.messages[number * self.n_classes..][..self.n_classes];
        out.iter_mut().zip(message).for_each(|(out, &value)| *out = value.into());
    }

    /// Writes the message of a pair with this gain that is not kept: what the receiver told the sender is taken out of the
    /// sender's belief again. Single precision suffices, because only weak messages are not kept.
    fn weak_message(&self, gain: f32, sender: usize, receiver: usize, out: &mut [f64]) {
        let (any, most) = (self.affinity.any, self.largest_gain() as f32);
        let mut total = 0.0;
        let terms = self.belief(sender).iter().zip(self.belief(receiver)).zip(&self.affinity.same);
        for (out, ((&own, &told), &same)) in out.iter_mut().zip(terms) {
            let root = (1.0 + (gain * (any + same * told)).min(most)).sqrt();
            *out = f64::from(own / (root * root.sqrt()));
            total += *out;
        }
        out.iter_mut().for_each(|out| *out /= total);
    }
}
