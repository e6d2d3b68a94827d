//! This module propagates beliefs about classes along the double claims.

use rayon::prelude::*;
use veilgraph_graph::ClassBeliefs;

use super::double_claims::DoubleClaimPairs;
use super::learned::Learned;
use super::{ClaimRatios, KnownClasses, MOST_LIKELY};
use crate::known_pairs::{SimilarClaim, SimilarClaims};

/// Holds what nodes believe of classes, and what they tell each other.
///
/// A message from node `i` to node `j` is what is believed of the class of `i` if the claims about their pair were not
/// known. It stands in the slot of `i` for its partner `j`. Where there is no memory for all messages, those of the pairs
/// that say least are worked out from beliefs when they are needed, which is right to first order.
pub(crate) struct Messages<'a> {
    pairs: &'a DoubleClaimPairs,
    n_classes: usize,
    /// The classes of all nodes with all that is known, `[n, n_classes]`.
    beliefs: Vec<f32>,
    /// The sum of what all reports say, in nats, `[n, n_classes]`.
    field: Vec<f32>,
    /// What the double claim of each slot multiplies the odds of a link by, less one, per unit of affinity, `[slots]`.
    gains: Vec<f32>,
    stored: Stored,
    /// What two nodes of one class add to the affinity `1 − h` of any two nodes, `[n_classes]`.
    same_class: Vec<f32>,
    /// `1 − h`.
    any_class: f32,
}

/// Holds the messages that are kept.
struct Stored {
    /// The message of slot `s` is the one with this number. `None` says that all are kept, in the order of slots.
    number_of_slot: Option<Vec<u32>>,
    /// The messages of the slots of node `i` have the numbers `offsets[i]..offsets[i + 1]`.
    offsets: Vec<usize>,
    /// `[messages, n_classes]`.
    messages: Vec<f32>,
}

/// Stands for a message that is not kept.
const NOT_STORED: u32 = u32::MAX;

/// Lists what similar pairs say by not being claimed, beyond what is expected of all pairs, in both directions.
///
/// # Shapes
/// `offsets`: `[n + 1]`; `partners` and `strengths`: `[entries]`.
struct Unclaimed {
    offsets: Vec<usize>,
    partners: Vec<u32>,
    strengths: Vec<f32>,
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
            stored: Stored { number_of_slot: None, offsets: Vec::new(), messages: Vec::new() },
            same_class: Vec::new(),
            any_class: 1.0,
        };
        for (row, known) in messages.beliefs.chunks_exact_mut(n_classes).zip(&classes.known) {
            fix(row, *known);
        }
        messages
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

    /// Propagates until beliefs have settled, with three quarters of what the reports say: reports about similar nodes
    /// repeat what their features say already, so all of it would make beliefs too sure. At most `most_stored` numbers
    /// are kept as messages.
    pub(crate) fn propagate(
        &mut self,
        learned: &Learned,
        similar: &SimilarClaims,
        classes: &KnownClasses,
        ratios: ClaimRatios,
        most_stored: usize,
    ) {
        const MOST_PASSES: usize = 25;
        const SETTLED: f32 = 2e-3;
        self.any_class = (1.0 - learned.homophily) as f32;
        self.same_class = learned.shares.iter().map(|share| (learned.homophily / share) as f32).collect();
        let largest = learned.largest_affinity();
        let gain = |i: usize, slot: usize| {
            let base = learned.base(i, self.pairs.partners[slot], self.pairs.bins[slot]);
            ((base * largest).min(MOST_LIKELY) / largest * ratios.less_one[2].min(1e26)) as f32
        };
        self.gains = (0..self.pairs.n_nodes())
            .into_par_iter()
            .flat_map_iter(|i| self.pairs.slots(i).map(move |slot| (i, slot)))
            .map(|(i, slot)| gain(i, slot))
            .collect();
        let unclaimed = Unclaimed::new(learned, similar, ratios, self.pairs.n_nodes());
        self.stored = Stored::new(self.pairs, &self.gains, most_stored / self.n_classes);
        self.stored.messages = self.first_messages();
        for _ in 0..MOST_PASSES {
            if self.pass(learned, &unclaimed, classes, ratios) < SETTLED {
                break;
            }
        }
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
        let slots = self.pairs.slots(node);
        let mut field = self.mean_field(node, background, unclaimed);
        // 1 + gain · affinity, for each slot and class of the node.
        let mut factors = vec![1.0_f64; slots.len() * n_classes];
        for (slot, row) in slots.clone().zip(factors.chunks_exact_mut(n_classes)) {
            self.message(self.pairs.reverse[slot] as usize, self.pairs.partners[slot] as usize, node, row);
            let gain = f64::from(self.gains[slot]);
            for (value, &same) in row.iter_mut().zip(&self.same_class) {
                *value = 1.0 + gain * (f64::from(self.any_class) + f64::from(same) * *value);
            }
        }
        for rows in factors.chunks(FACTORS * n_classes) {
            for (class, sum) in field.iter_mut().enumerate() {
                let product: f64 = rows.iter().skip(class).step_by(n_classes).product();
                *sum += libm::log(product);
            }
        }
        let log_odds: Vec<f64> =
            classes.prior.row(node).iter().zip(&field).map(|(&p, field)| prior_log(p) + 0.75 * field).collect();
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
        let mut numbers = 0;
        for (slot, row) in slots.zip(factors.chunks_exact(n_classes)) {
            let Some(number) = self.stored.number(slot) else { continue };
            let out = &mut next.outgoing[numbers * n_classes..][..n_classes];
            numbers += 1;
            normalize(odds.iter().zip(row).map(|(odds, &factor)| odds / three_quarters(factor)), out);
            fix(out, classes.known[node]);
            let old = &self.stored.messages[number * n_classes..][..n_classes];
            out.iter_mut().zip(old).for_each(|(new, old)| *new = KEPT * old + (1.0 - KEPT) * *new);
        }
        change
    }

    /// Returns what the pairs that are not claimed say about the class of a node, in nats, up to a constant.
    fn mean_field(&self, node: usize, background: &Background, unclaimed: &Unclaimed) -> Vec<f64> {
        let own = background.learned.weights[node];
        let of_all = background.weight_by_class.iter().zip(self.belief(node));
        let mut field: Vec<f64> =
            of_all.map(|(sum, &belief)| background.per_weight * own * (sum - own * f64::from(belief))).collect();
        for entry in unclaimed.offsets[node]..unclaimed.offsets[node + 1] {
            let strength = f64::from(unclaimed.strengths[entry]);
            let partner = self.belief(unclaimed.partners[entry] as usize);
            field.iter_mut().zip(partner).for_each(|(sum, &belief)| *sum += strength * f64::from(belief));
        }
        field.iter_mut().zip(&self.same_class).for_each(|(sum, &same)| *sum *= f64::from(same));
        field
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
        // What the receiver told the sender is taken out again.
        let gain = f64::from(self.gains[slot]);
        let mut total = 0.0;
        let terms = self.belief(sender).iter().zip(self.belief(receiver)).zip(&self.same_class);
        for (out, ((&own, &told), &same)) in out.iter_mut().zip(terms) {
            let factor = 1.0 + gain * (f64::from(self.any_class) + f64::from(same) * f64::from(told));
            *out = f64::from(own) / three_quarters(factor);
            total += *out;
        }
        out.iter_mut().for_each(|out| *out /= total);
    }

    /// Returns the classes of all nodes, those of training nodes as if their labels were not known, and the share of what
    /// the reports say that makes the labels of validation nodes likeliest.
    pub(crate) fn weighed(&self, classes: &KnownClasses) -> (ClassBeliefs, f64) {
        const SHARES: [f64; 5] = [0.0, 0.25, 0.5, 0.75, 1.0];
        let row = |node: usize, share: f64| -> Vec<f32> {
            let field = &self.field[node * self.n_classes..][..self.n_classes];
            let logs = classes.prior.row(node).iter().zip(field).map(|(&p, &f)| prior_log(p) + share * f64::from(f));
            let logs: Vec<f64> = logs.collect();
            let most = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let mut row = vec![0.0; self.n_classes];
            normalize(logs.iter().map(|log| libm::exp(log - most)), &mut row);
            row
        };
        let loss = |share: f64| -> f64 {
            let of = |&(node, class): &(u32, u16)| {
                -libm::log(f64::from(row(node as usize, share)[usize::from(class)]).max(1e-30))
            };
            classes.validation.iter().map(of).sum()
        };
        let mut best = (f64::INFINITY, 0.75);
        for share in SHARES.into_iter().filter(|_| !classes.validation.is_empty()) {
            let loss = loss(share);
            if loss < best.0 {
                best = (loss, share);
            }
        }
        let rows = (0..self.pairs.n_nodes()).flat_map(|node| row(node, best.1)).collect();
        let beliefs = ClassBeliefs::new(self.n_classes, rows)
            .unwrap_or_else(|invalid| unreachable!("rows are normalized: {invalid}"));
        (beliefs, best.1)
    }
}

/// Holds where the update of one node is written.
struct Update<'a> {
    outgoing: &'a mut [f32],
    belief: &'a mut [f32],
    field: &'a mut [f32],
}

/// Holds what all pairs say by not being claimed, as far as it is expected without links.
struct Background<'a> {
    /// `Σ_j w_j b_j` of each class.
    weight_by_class: Vec<f64>,
    /// What one unit of `w_i w_j` says.
    per_weight: f64,
    learned: &'a Learned,
}

impl Stored {
    /// Chooses which messages are kept: all of them, or the ones of the pairs that say most, at most `most`.
    fn new(pairs: &DoubleClaimPairs, gains: &[f32], most: usize) -> Self {
        if gains.len() <= most {
            return Self { number_of_slot: None, offsets: pairs.offsets.clone(), messages: Vec::new() };
        }
        let mut sorted = gains.to_vec();
        sorted.sort_unstable_by(|a, b| b.total_cmp(a));
        let least = sorted[most.min(sorted.len() - 1)];
        let mut number_of_slot = vec![NOT_STORED; gains.len()];
        let mut offsets = vec![0];
        let mut n_messages = 0;
        for node in 0..pairs.n_nodes() {
            for slot in pairs.slots(node).filter(|&slot| gains[slot] > least) {
                number_of_slot[slot] = n_messages as u32;
                n_messages += 1;
            }
            offsets.push(n_messages);
        }
        Self { number_of_slot: Some(number_of_slot), offsets, messages: Vec::new() }
    }

    fn n_messages(&self) -> usize {
        self.offsets.last().copied().unwrap_or(0)
    }

    /// Returns the number of the message of this slot, if it is kept.
    fn number(&self, slot: usize) -> Option<usize> {
        match &self.number_of_slot {
            None => Some(slot),
            Some(numbers) => (numbers[slot] != NOT_STORED).then_some(numbers[slot] as usize),
        }
    }
}

impl Unclaimed {
    /// Lists the similar pairs: nobody's claim says more than the background where the pair is likely linked.
    fn new(learned: &Learned, similar: &SimilarClaims, ratios: ClaimRatios, n_nodes: usize) -> Self {
        let largest = learned.largest_affinity();
        let expected = ratios.less_one[0] * ratios.unclaimed;
        let strength = |i: usize, pair: &SimilarClaim| {
            let base = learned.base(i, pair.partner, pair.bin);
            let said =
                if pair.claims == 0 { ratios.less_one[0] * (base * largest).min(MOST_LIKELY) / largest } else { 0.0 };
            (said - expected * learned.weights[i] * learned.weights[pair.partner as usize]) as f32
        };
        let mut offsets = vec![0; n_nodes + 1];
        for i in 0..n_nodes {
            for pair in similar.row(i) {
                offsets[i + 1] += 1;
                offsets[pair.partner as usize + 1] += 1;
            }
        }
        for node in 0..n_nodes {
            offsets[node + 1] += offsets[node];
        }
        let mut next = offsets.clone();
        let n_entries = offsets[n_nodes];
        let (mut partners, mut strengths) = (vec![0; n_entries], vec![0.0; n_entries]);
        for i in 0..n_nodes {
            for pair in similar.row(i) {
                let strength = strength(i, pair);
                for (row, partner) in [(i, pair.partner), (pair.partner as usize, i as u32)] {
                    (partners[next[row]], strengths[next[row]]) = (partner, strength);
                    next[row] += 1;
                }
            }
        }
        Self { offsets, partners, strengths }
    }
}

/// Returns `x^{3/4}`.
fn three_quarters(x: f64) -> f64 {
    let root = x.sqrt();
    root * root.sqrt()
}

/// Returns the logarithm of a probability, which is not taken for 0.
fn prior_log(probability: f32) -> f64 {
    libm::log(f64::from(probability).max(1e-12))
}

/// Writes `odds` so that they sum to 1.
fn normalize(odds: impl Iterator<Item = f64> + Clone, out: &mut [f32]) {
    let total: f64 = odds.clone().sum();
    out.iter_mut().zip(odds).for_each(|(out, odds)| *out = (odds / total) as f32);
}

/// Makes a known class certain.
fn fix(row: &mut [f32], known: Option<u16>) {
    if let Some(class) = known {
        row.fill(0.0);
        row[usize::from(class)] = 1.0;
    }
}
