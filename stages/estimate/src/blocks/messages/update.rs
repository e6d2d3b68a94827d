//! This module updates the belief of one node, and the messages that it sends.

#![expect(clippy::inline_always, reason = "what `dispatch` calls takes its vector width only where it is inlined")]

use pulp::{Simd, WithSimd};
use veilgraph_graph::lanes::for_lanes;

use super::Messages;
use super::told::MOST_PADDED;
use crate::blocks::unclaimed::{Background, Unclaimed};
use crate::blocks::{KnownClasses, TRUST, fix, normalize, prior_log, to_the_trust};

/// Holds where the update of one node is written.
pub(super) struct Update<'a> {
    pub outgoing: &'a mut [f32],
    pub belief: &'a mut [f32],
    pub field: &'a mut [f32],
}

/// Is the room in which one node after the other is updated.
///
/// # Shapes
/// `factors`: `[kept messages of the node, n_classes]`; `weak`: at least `[n_classes]`; all others: `[n_classes]`.
pub(super) struct Room {
    /// What the reports say of each class, in nats.
    field: Vec<f64>,
    told: Vec<f64>,
    /// The product of factors of which no logarithm was taken yet.
    products: Vec<f64>,
    odds: Vec<f64>,
    /// What the weak claims say, in nats; at least as many numbers as a padded row has.
    weak: Vec<f32>,
    row: Vec<f32>,
    /// What the claims whose messages are kept multiply the odds by.
    factors: Vec<f32>,
}

impl Room {
    pub(super) fn new(n_classes: usize) -> Self {
        let (numbers, single) = (|| vec![0.0_f64; n_classes], || vec![0.0_f32; n_classes]);
        Self {
            field: numbers(),
            told: numbers(),
            products: numbers(),
            odds: numbers(),
            weak: vec![0.0; n_classes.max(MOST_PADDED)],
            row: single(),
            factors: Vec::new(),
        }
    }
}

/// Updates one node with the processor's vector instructions; see [`Messages::update`].
pub(super) struct UpdateNode<'a, 'b> {
    pub messages: &'a Messages<'a>,
    pub node: usize,
    pub known: (&'a Background<'a>, &'a Unclaimed, &'a KnownClasses),
    pub room: &'a mut Room,
    pub next: &'a mut Update<'b>,
}

impl WithSimd for UpdateNode<'_, '_> {
    type Output = f32;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> f32 {
        let Self { messages, node, known, room, next } = self;
        for_lanes!(messages.n_classes, LANES => messages.update::<LANES>(node, known, room, next))
    }
}

impl Messages<'_> {
    /// Updates one node; returns by how much its belief changed at most.
    ///
    /// `LANES` is the number of classes, known to the compiler; 0 stands for any number.
    #[inline(always)]
    pub(super) fn update<const LANES: usize>(
        &self,
        node: usize,
        (background, unclaimed, classes): (&Background, &Unclaimed, &KnownClasses),
        room: &mut Room,
        next: &mut Update,
    ) -> f32 {
        /// So much of the last value is kept, so that beliefs do not swing.
        const KEPT: f32 = 0.3;
        let n_classes = if LANES == 0 { self.n_classes } else { LANES };
        let Room { field, told, products, odds, weak, row, factors } = room;
        let (field, told, products) = (&mut field[..n_classes], &mut told[..n_classes], &mut products[..n_classes]);
        let (odds, row) = (&mut odds[..n_classes], &mut row[..n_classes]);
        unclaimed.write_field::<LANES>(node, background, &self.beliefs, &self.affinity, field, told);
        weak.fill(0.0);
        products.fill(1.0);
        factors.clear();
        let (mut n_factors, most_factors) = (0, self.most_factors());
        for slot in self.pairs.slots(node) {
            let (partner, gain) = (self.pairs.partners[slot] as usize, self.gain(node, slot));
            if let Some(number) = self.stored.number(slot) {
                self.kept_message::<LANES>(self.stored.reverse[number] as usize, row);
                self.to_factors::<LANES>(gain, row);
                factors.extend_from_slice(row);
            } else {
                if self.add_weak::<LANES>((node, partner, gain), weak, row) {
                    continue;
                }
                self.weak_message::<LANES>(gain, partner, node, row);
                self.to_factors::<LANES>(gain, row);
            }
            products.iter_mut().zip(&*row).for_each(|(product, &factor)| *product *= f64::from(factor));
            n_factors += 1;
            if n_factors == most_factors {
                add_logarithms(products, field);
                n_factors = 0;
            }
        }
        add_logarithms(products, field);
        field.iter_mut().zip(&*weak).for_each(|(sum, &weak)| *sum += f64::from(weak));
        for ((log_odds, &probability), field) in odds.iter_mut().zip(classes.prior.row(node)).zip(&*field) {
            *log_odds = prior_log(probability) + TRUST * field;
        }
        let most = odds.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        odds.iter_mut().for_each(|odds| *odds = libm::exp(*odds - most));
        normalize(odds.iter().copied(), next.belief);
        fix(next.belief, classes.known[node]);
        let mut change = 0.0_f32;
        for (new, &old) in next.belief.iter_mut().zip(self.belief::<LANES>(node)) {
            change = change.max((*new - old).abs());
            *new = KEPT * old + (1.0 - KEPT) * *new;
        }
        next.field.iter_mut().zip(&*field).for_each(|(out, &value)| *out = value as f32);
        row.iter_mut().zip(&*odds).for_each(|(single, &odds)| *single = odds as f32);
        let old = &self.stored.messages[self.stored.offsets[node] * n_classes..];
        let outgoing = next.outgoing.chunks_exact_mut(n_classes).zip(old.chunks_exact(n_classes));
        for ((out, old), factors) in outgoing.zip(factors.chunks_exact(n_classes)) {
            for (out, (odds, &factor)) in out.iter_mut().zip(row.iter().zip(factors)) {
                *out = odds / to_the_trust(factor);
            }
            let total: f32 = out.iter().sum();
            out.iter_mut().for_each(|out| *out /= total);
            fix(out, classes.known[node]);
            out.iter_mut().zip(old).for_each(|(new, old)| *new = KEPT * old + (1.0 - KEPT) * *new);
        }
        change
    }

    /// Returns of how many factors the logarithm is taken at once, so that no product is too large: each is at most one more
    /// than the largest gain.
    fn most_factors(&self) -> usize {
        /// `ln` of the largest number that is represented is 709.
        const LARGEST: f64 = 690.0;
        (LARGEST / libm::log1p(self.largest_gain())).clamp(1.0, 64.0) as usize
    }
}

/// Adds the logarithms of these products, which are 1 afterwards.
fn add_logarithms(products: &mut [f64], sums: &mut [f64]) {
    for (sum, product) in sums.iter_mut().zip(products) {
        *sum += libm::log(*product);
        *product = 1.0;
    }
}
