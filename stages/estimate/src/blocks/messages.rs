//! This module propagates beliefs about classes along the double claims.

mod told;
mod update;

use rayon::prelude::*;
use veilgraph_graph::vectors::dispatch;

use super::double_claims::DoubleClaimPairs;
use super::learned::Learned;
use super::stored::Stored;
use super::unclaimed::{Background, ClassAffinity, Unclaimed};
use super::{ClaimRatios, KnownClasses, fix};
use told::MOST_PADDED;
use update::{Room, Update, UpdateNode};

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
    /// The weights and bins that beliefs were last propagated with.
    learned: Learned,
    /// `L(2) − 1`, by which a double claim makes a link likelier, relatively.
    claim: f64,
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
            learned: Learned::default(),
            claim: 0.0,
            stored: Stored::default(),
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

    /// Propagates until beliefs have settled, in at most `most_passes`. At most `most_stored` numbers are kept as messages.
    pub(crate) fn propagate(
        &mut self,
        learned: &Learned,
        unclaimed: &Unclaimed,
        classes: &KnownClasses,
        ratios: ClaimRatios,
        most_stored: usize,
        most_passes: usize,
    ) {
        const SETTLED: f32 = 2e-3;
        self.affinity.any = (1.0 - learned.homophily) as f32;
        self.affinity.same = learned.shares.iter().map(|share| (learned.homophily / share) as f32).collect();
        self.affinity.same.resize(self.n_classes.max(MOST_PADDED), 0.0);
        self.claim = ratios.less_one[2];
        self.learned.clone_from(learned);
        // The messages of the last round go before those of this one come.
        self.stored = Stored::default();
        let strength = |node: usize, slot: usize| self.strength(node, slot);
        self.stored = Stored::new(self.pairs, strength, most_stored / self.n_classes);
        self.stored.messages = self.first_messages();
        let mut spare = self.spare();
        for pass in 0..most_passes {
            let change = self.pass(unclaimed, classes, ratios, &mut spare);
            tracing::debug!(pass, change, kept = self.stored.n_messages(), "beliefs propagated");
            if change < SETTLED {
                break;
            }
        }
    }

    /// Returns messages that say what their senders believe.
    fn first_messages(&self) -> Vec<f32> {
        let mut messages = Vec::with_capacity(self.stored.n_messages() * self.n_classes);
        for node in 0..self.pairs.n_nodes() {
            let range = self.stored.offsets[node]..self.stored.offsets[node + 1];
            range.for_each(|_| messages.extend_from_slice(self.belief::<0>(node)));
        }
        messages
    }

    /// Returns room for the beliefs and messages of the next pass.
    fn spare(&self) -> Spare {
        Spare {
            beliefs: vec![0.0; self.beliefs.len()],
            field: vec![0.0; self.field.len()],
            messages: vec![0.0; self.stored.messages.len()],
        }
    }

    /// Updates all beliefs and messages once, all from those of the last pass, which `spare` holds afterwards; returns by
    /// how much a belief changed at most.
    fn pass(&mut self, unclaimed: &Unclaimed, classes: &KnownClasses, ratios: ClaimRatios, spare: &mut Spare) -> f32 {
        let n_classes = self.n_classes;
        let learned = &self.learned;
        let mut weight_by_class = vec![0.0; n_classes];
        for (weight, row) in learned.weights.iter().zip(self.beliefs.chunks_exact(n_classes)) {
            weight_by_class.iter_mut().zip(row).for_each(|(sum, &belief)| *sum += weight * f64::from(belief));
        }
        let background = Background {
            weight_by_class,
            per_weight: ratios.less_one[0] * ratios.unclaimed,
            less_one: ratios.less_one[0],
            learned,
        };
        let (known, room) = ((&background, unclaimed, classes), || Room::new(n_classes));
        let mut rest = spare.messages.as_mut_slice();
        let mut outgoing = Vec::with_capacity(self.pairs.n_nodes());
        for ends in self.stored.offsets.windows(2) {
            let (own, others) = rest.split_at_mut((ends[1] - ends[0]) * n_classes);
            outgoing.push(own);
            rest = others;
        }
        let rows = outgoing.into_par_iter().zip(spare.beliefs.par_chunks_mut(n_classes));
        let changes = rows.zip(spare.field.par_chunks_mut(n_classes)).enumerate();
        let change = changes
            .map_init(room, |room, (node, ((outgoing, belief), field))| {
                let mut next = Update { outgoing, belief, field };
                dispatch(UpdateNode { messages: self, node, known, room, next: &mut next })
            })
            .reduce(|| 0.0, f32::max);
        std::mem::swap(&mut self.beliefs, &mut spare.beliefs);
        std::mem::swap(&mut self.field, &mut spare.field);
        std::mem::swap(&mut self.stored.messages, &mut spare.messages);
        change
    }
}

/// Holds the beliefs and messages of another pass, so that a pass needs no new memory.
struct Spare {
    beliefs: Vec<f32>,
    field: Vec<f32>,
    messages: Vec<f32>,
}

#[cfg(test)]
mod tests;
