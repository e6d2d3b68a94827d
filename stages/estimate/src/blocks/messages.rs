//! This module propagates beliefs about classes along the double claims.

use rayon::prelude::*;

use super::double_claims::DoubleClaimPairs;
use super::learned::Learned;
use super::stored::Stored;
use super::unclaimed::{Background, ClassAffinity, Unclaimed};
use super::{ClaimRatios, KnownClasses, MOST_LIKELY, TRUST, fix, normalize, prior_log, to_the_trust};
use crate::similar_claims::SimilarClaims;

/// Holds what nodes believe of classes, and what they tell each other.
///
/// A message from node `i` to node `j` is what is believed of the class of `i` if the claims about their pair were not
/// known. It stands in the slot of `i` for its partner `j`. The messages of pairs that say little are not kept: they are
/// worked out from beliefs when they are needed, which is right to first order in what the pair says.
pub(crate) struct Messages<'a> {
    pairs: &'a DoubleClaimPairs,
    n_classes: usize,
    /// The classes of all nodes with all that is known, `[n, n_classes]`.
    beliefs: Vec<f32>,
    /// The sum of what all reports say, in nats, `[n, n_classes]`.
    field: Vec<f32>,
    /// By how much the double claim of each slot makes the reports likelier, relatively, per unit of affinity, `[slots]`.
    gains: Vec<f32>,
    /// No double claim makes the reports likelier by more than this, relatively.
    largest_gain: f64,
    stored: Stored,
    affinity: ClassAffinity,
}

impl<'a> Messages<'a> {
    /// Returns beliefs before any report is read.
    pub(crate) fn new(pairs: &'a DoubleClaimPairs, classes: &KnownClasses) -> Self {
        let n_classes = classes.prior.n_classes();
        let mut messages = Self {
            pairs,
            n_classes,
            beliefs: classes.prior.probabilities().to_vec(),
            field: vec![0.0; classes.prior.probabilities().len()],
            gains: Vec::new(),
            largest_gain: 0.0,
            stored: Stored { number_of_slot: Vec::new(), offsets: Vec::new(), messages: Vec::new() },
            affinity: ClassAffinity::default(),
        };
        for (row, known) in messages.beliefs.chunks_exact_mut(n_classes).zip(&classes.known) {
            fix(row, *known);
        }
        messages
    }

    /// Returns the same before any report is read, but with these beliefs to start with.
    ///
    /// # Shapes
    /// `beliefs`: `[n, n_classes]`, row-major.
    pub(crate) fn starting_with(self, beliefs: Vec<f32>) -> Self {
        Self { beliefs, ..self }
    }

    /// Returns the sum of what all reports say about the classes of all nodes, in nats.
    ///
    /// # Shapes
    /// Returns `[n, n_classes]`, row-major.
    pub(crate) fn field(&self) -> &[f32] {
        &self.field
    }

    /// Returns the probabilities of all classes at all nodes, where those of training nodes are known.
    ///
    /// # Shapes
    /// Returns `[n, n_classes]`, row-major.
    pub(crate) fn beliefs(&self) -> &[f32] {
        &self.beliefs
    }

    fn belief(&self, node: usize) -> &[f32] {
        &self.beliefs[node * self.n_classes..][..self.n_classes]
    }

    /// Propagates until beliefs have settled, in at most `most_passes`. At most `most_stored` numbers are kept as messages.
    pub(crate) fn propagate(
        &mut self,
        learned: &Learned,
        similar: &SimilarClaims,
        classes: &KnownClasses,
        ratios: ClaimRatios,
        most_stored: usize,
        most_passes: usize,
    ) {
        const SETTLED: f32 = 2e-3;
        self.affinity.any = (1.0 - learned.homophily) as f32;
        self.affinity.same = learned.shares.iter().map(|share| (learned.homophily / share) as f32).collect();
        let claim = ratios.less_one[2];
        self.largest_gain = MOST_LIKELY * claim;
        let gain = |i: usize, slot: usize| {
            let base = learned.base(i, self.pairs.partners[slot], self.pairs.bins[slot]);
            (base * claim).min(self.largest_gain) as f32
        };
        self.gains = (0..self.pairs.n_nodes())
            .into_par_iter()
            .flat_map_iter(|i| self.pairs.slots(i).map(move |slot| (i, slot)))
            .map(|(i, slot)| gain(i, slot))
            .collect();
        let unclaimed = Unclaimed::new(learned, similar, ratios, self.pairs.n_nodes());
        self.stored = Stored::new(self.pairs, &self.strengths(), most_stored / self.n_classes);
        self.stored.messages = self.first_messages();
        for pass in 0..most_passes {
            let change = self.pass(learned, &unclaimed, classes, ratios);
            tracing::debug!(pass, change, kept = self.stored.n_messages(), "beliefs propagated");
            if change < SETTLED {
                break;
            }
        }
    }

    /// Returns by how much the claim of each slot can make a class likelier, relatively, as far as beliefs tell; both
    /// directions of a pair have the same strength.
    fn strengths(&self) -> Vec<f32> {
        let strength = |(node, slot): (usize, usize)| {
            let both = self.belief(node).iter().zip(self.belief(self.pairs.partners[slot] as usize));
            let same = both.zip(&self.affinity.same).map(|((a, b), same)| same * a.max(*b)).fold(0.0, f32::max);
            self.gains[slot] * (self.affinity.any + same)
        };
        let slots = |node: usize| self.pairs.slots(node).map(move |slot| (node, slot));
        (0..self.pairs.n_nodes()).into_par_iter().flat_map_iter(slots).map(strength).collect()
    }

    /// Returns messages that say what their senders believe.
    fn first_messages(&self) -> Vec<f32> {
        let mut messages = Vec::with_capacity(self.stored.n_messages() * self.n_classes);
        for node in 0..self.pairs.n_nodes() {
            let range = self.stored.offsets[node]..self.stored.offsets[node + 1];
            range.for_each(|_| messages.extend_from_slice(self.belief(node)));
        }
        messages
    }

    /// Updates all beliefs and messages once; returns by how much a belief changed at most.
    fn pass(&mut self, learned: &Learned, unclaimed: &Unclaimed, classes: &KnownClasses, ratios: ClaimRatios) -> f32 {
        let n_classes = self.n_classes;
        let mut weight_by_class = vec![0.0; n_classes];
        for (weight, row) in learned.weights.iter().zip(self.beliefs.chunks_exact(n_classes)) {
            weight_by_class.iter_mut().zip(row).for_each(|(sum, &belief)| *sum += weight * f64::from(belief));
        }
        let background = Background { weight_by_class, per_weight: ratios.less_one[0] * ratios.unclaimed, learned };
        let mut next_beliefs = vec![0.0; self.beliefs.len()];
        let mut next_field = vec![0.0; self.field.len()];
        let mut next_messages = vec![0.0; self.stored.messages.len()];
        let mut rest = next_messages.as_mut_slice();
        let mut outgoing = Vec::with_capacity(self.pairs.n_nodes());
        for ends in self.stored.offsets.windows(2) {
            let (own, others) = rest.split_at_mut((ends[1] - ends[0]) * n_classes);
            outgoing.push(own);
            rest = others;
        }
        let rows = outgoing.into_par_iter().zip(next_beliefs.par_chunks_mut(n_classes));
        let changes = rows.zip(next_field.par_chunks_mut(n_classes)).enumerate();
        let change = changes
            .map(|(node, ((outgoing, belief), field))| {
                self.update(node, &background, unclaimed, classes, &mut Update { outgoing, belief, field })
            })
            .reduce(|| 0.0, f32::max);
        (self.beliefs, self.field, self.stored.messages) = (next_beliefs, next_field, next_messages);
        change
    }

    /// Updates one node; returns by how much its belief changed at most.
    fn update(
        &self,
        node: usize,
        background: &Background,
        unclaimed: &Unclaimed,
        classes: &KnownClasses,
        next: &mut Update,
    ) -> f32 {
        /// So much of the last value is kept, so that beliefs do not swing.
        const KEPT: f32 = 0.3;
        /// Of so many factors the logarithm is taken at once.
        const FACTORS: usize = 8;
        let n_classes = self.n_classes;
        let mut field = unclaimed.field(node, background, &self.beliefs, &self.affinity);
        let n_stored = self.stored.offsets[node + 1] - self.stored.offsets[node];
        // What the double claims multiply the odds of each class by, first those whose messages are kept.
        let mut factors = Vec::with_capacity(n_stored * n_classes);
        let mut others = Vec::new();
        let (mut weak, mut scratch) = (vec![0.0_f32; n_classes], vec![0.0_f32; n_classes]);
        for slot in self.pairs.slots(node) {
            let is_stored = self.stored.number(slot).is_some();
            if is_stored || !self.add_weak(slot, node, &mut weak, &mut scratch) {
                let row = if is_stored { &mut factors } else { &mut others };
                self.push_factors(slot, node, row);
            }
        }
        for rows in [&factors, &others].into_iter().flat_map(|rows| rows.chunks(FACTORS * n_classes)) {
            for (class, sum) in field.iter_mut().enumerate() {
                let product: f64 = rows.iter().skip(class).step_by(n_classes).product();
                *sum += libm::log(product);
            }
        }
        field.iter_mut().zip(&weak).for_each(|(sum, &weak)| *sum += f64::from(weak));
        let log_odds: Vec<f64> =
            classes.prior.row(node).iter().zip(&field).map(|(&p, field)| prior_log(p) + TRUST * field).collect();
        let most = log_odds.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let odds: Vec<f64> = log_odds.iter().map(|log| libm::exp(log - most)).collect();
        normalize(odds.iter().copied(), next.belief);
        fix(next.belief, classes.known[node]);
        let mut change = 0.0_f32;
        for (new, &old) in next.belief.iter_mut().zip(self.belief(node)) {
            change = change.max((*new - old).abs());
            *new = KEPT * old + (1.0 - KEPT) * *new;
        }
        next.field.iter_mut().zip(&field).for_each(|(out, &value)| *out = value as f32);
        let old = &self.stored.messages[self.stored.offsets[node] * n_classes..];
        let outgoing = next.outgoing.chunks_exact_mut(n_classes).zip(old.chunks_exact(n_classes));
        for ((out, old), row) in outgoing.zip(factors.chunks_exact(n_classes)) {
            normalize(odds.iter().zip(row).map(|(odds, &factor)| odds / to_the_trust(factor)), out);
            fix(out, classes.known[node]);
            out.iter_mut().zip(old).for_each(|(new, old)| *new = KEPT * old + (1.0 - KEPT) * *new);
        }
        change
    }

    /// Adds what the claim of a slot says about the class of its node, where it is so little that three terms of the
    /// logarithm suffice; returns whether it is.
    ///
    /// # Shapes
    /// `sums` and `scratch`: `[n_classes]`.
    fn add_weak(&self, slot: usize, node: usize, sums: &mut [f32], scratch: &mut [f32]) -> bool {
        const WEAK: f32 = 0.2;
        let gain = self.gains[slot];
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
    fn push_factors(&self, slot: usize, node: usize, factors: &mut Vec<f64>) {
        let first = factors.len();
        factors.resize(first + self.n_classes, 0.0);
        let row = &mut factors[first..];
        self.message(self.pairs.reverse[slot] as usize, self.pairs.partners[slot] as usize, node, row);
        for (value, &same) in row.iter_mut().zip(&self.affinity.same) {
            *value = self.factor(slot, f64::from(self.affinity.any) + f64::from(same) * *value);
        }
    }

    /// Returns what the claim of a slot multiplies the odds of a class with this affinity by.
    fn factor(&self, slot: usize, affinity: f64) -> f64 {
        1.0 + (f64::from(self.gains[slot]) * affinity).min(self.largest_gain)
    }

    /// Writes the message of `slot`, from `sender` to `receiver`.
    ///
    /// # Shapes
    /// `out`: `[n_classes]`.
    pub(crate) fn message(&self, slot: usize, sender: usize, receiver: usize, out: &mut [f64]) {
        if let Some(number) = self.stored.number(slot) {
            let message = &self.stored.messages[number * self.n_classes..][..self.n_classes];
            out.iter_mut().zip(message).for_each(|(out, &value)| *out = value.into());
            return;
        }
        // What the receiver told the sender is taken out again. Single precision suffices, because only weak messages are
        // not kept.
        let (gain, any, most) = (self.gains[slot], self.affinity.any, self.largest_gain as f32);
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

/// Holds where the update of one node is written.
struct Update<'a> {
    outgoing: &'a mut [f32],
    belief: &'a mut [f32],
    field: &'a mut [f32],
}
