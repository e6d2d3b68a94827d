//! This module says how much likelier than others a pair is, and divides pairs into bins by that.

use rayon::prelude::*;
use veilgraph_contract::Invalid;
use veilgraph_posterior::SimilarPairs;

use super::double_claims::DoubleClaimPairs;
use super::learned::Learned;
use super::messages::Messages;
use crate::learned_score::LearnedScore;
use crate::similar_claims::{SimilarClaim, SimilarClaims};

/// Lists the pairs that are similar or claimed twice, each with its log odds beyond those of the pairs that are neither.
pub(crate) struct PairScores {
    /// The row of a node holds its later partners, in ascending order.
    pub rows: Vec<Vec<(u32, f32)>>,
    /// The logarithm of the mean affinity of the pairs that are neither: a pair has the prior probability
    /// `w_i w_j e^{of_others + score}`.
    pub of_others: f64,
    /// The homophily `h` that they count with.
    pub homophily: f64,
    /// The number of latent blocks in the place of classes, where no class is known.
    pub n_latent: Option<u16>,
}

impl PairScores {
    /// Scores the pairs by their bins and by what is believed of their classes. At a double claim, what it says itself
    /// about the classes is left out, so that it does not count twice.
    pub(crate) fn new(
        learned: &Learned,
        similar: &SimilarClaims,
        pairs: &DoubleClaimPairs,
        messages: &Messages,
    ) -> Self {
        let n_classes = learned.shares.len();
        let belief = |node: usize| &messages.beliefs()[node * n_classes..][..n_classes];
        let of_beliefs = |i: usize, j: u32| learned.affinity(belief(i), belief(j as usize));
        let of_messages = |i: usize, slot: usize, scratch: &mut [Vec<f32>; 2]| {
            let same = same_class(messages, slot, i, &learned.shares, scratch);
            1.0 - learned.homophily + learned.homophily * same
        };
        let row = |scratch: &mut [Vec<f32>; 2], i: usize| -> ScoredRow {
            let slots = pairs.later_slots(i);
            // Rows take 8 bytes a pair, and there may be tens of millions of pairs, so no row has room to spare.
            let pairs_of_row = Vec::with_capacity(slots.len() + similar.row(i).len());
            let mut row = ScoredRow { pairs: pairs_of_row, weight: 0.0, affinity: 0.0 };
            let (mut claimed, mut alike) = (slots.peekable(), similar.row(i).iter().peekable());
            loop {
                let next_claimed = claimed.peek().map_or(u32::MAX, |&slot| pairs.partners[slot]);
                let next_alike = alike.peek().map_or(u32::MAX, |pair| pair.partner);
                let partner = next_claimed.min(next_alike);
                if partner == u32::MAX {
                    row.pairs.shrink_to_fit();
                    return row;
                }
                let slot = claimed.next_if(|&slot| pairs.partners[slot] == partner);
                let bin = alike.next_if(|pair| pair.partner == partner).map_or(0, |&SimilarClaim { bin, .. }| bin);
                let affinity = slot.map_or_else(|| of_beliefs(i, partner), |slot| of_messages(i, slot, scratch));
                let logit = learned.bin_logits[usize::from(bin)] + libm::log(affinity);
                let weight = learned.weights[i] * learned.weights[partner as usize];
                row.weight += weight;
                row.affinity += weight * affinity;
                row.pairs.push((partner, logit as f32));
            }
        };
        let scratch = || [vec![0.0; n_classes], vec![0.0; n_classes]];
        let scored: Vec<ScoredRow> = (0..pairs.n_nodes()).into_par_iter().map_init(scratch, row).collect();
        let of_others = libm::log(affinity_of_others(learned, messages.beliefs(), &scored));
        let mut rows: Vec<Vec<(u32, f32)>> = scored.into_iter().map(|row| row.pairs).collect();
        rows.par_iter_mut().for_each(|row| row.iter_mut().for_each(|(_, logit)| *logit -= of_others as f32));
        Self { rows, of_others, homophily: learned.homophily, n_latent: None }
    }

    /// Adds what was learned to the scores of the similar pairs.
    pub(crate) fn add(&mut self, similar: &SimilarClaims, learned: &LearnedScore) {
        self.rows.par_iter_mut().enumerate().for_each(|(i, row)| {
            let score = learned.of_row(i);
            let mut scored = row.iter_mut();
            for claim in similar.row(i) {
                // Every similar pair has a score, and both rows ascend.
                if let Some((_, logit)) = scored.find(|(partner, _)| *partner == claim.partner) {
                    *logit += score(claim.partner);
                }
            }
        });
    }
}

/// Returns `Σ_c m_i(c) m_j(c) / π_c` with both messages of a pair, whose slot stands in the row of node `i`.
///
/// # Shapes
/// `shares` and each of `scratch`: `[n_classes]`.
pub(crate) fn same_class(
    messages: &Messages,
    slot: usize,
    i: usize,
    shares: &[f64],
    scratch: &mut [Vec<f32>; 2],
) -> f64 {
    let [own, other] = scratch;
    messages.outgoing(slot, i, own);
    messages.incoming(slot, i, other);
    own.iter().zip(&*other).zip(shares).map(|((a, b), share)| f64::from(a * b) / share).sum()
}

/// Holds the listed pairs of a node and later ones.
struct ScoredRow {
    /// The partners with the log odds of the pairs.
    pairs: Vec<(u32, f32)>,
    /// The sum of `w_i w_j` over the pairs.
    weight: f64,
    /// The sum of `w_i w_j E_ij` over the pairs.
    affinity: f64,
}

/// Returns the mean affinity of the pairs that are not listed, each weighed by the product of its weights.
fn affinity_of_others(learned: &Learned, beliefs: &[f32], listed: &[ScoredRow]) -> f64 {
    let n_classes = learned.shares.len();
    let (mut by_class, mut squares) = (vec![0.0; n_classes], vec![0.0; n_classes]);
    let (mut total, mut square) = (0.0, 0.0);
    for (&weight, row) in learned.weights.iter().zip(beliefs.chunks_exact(n_classes)) {
        total += weight;
        square += weight * weight;
        for ((sum, square), &belief) in by_class.iter_mut().zip(&mut squares).zip(row) {
            *sum += weight * f64::from(belief);
            *square += (weight * f64::from(belief)).powi(2);
        }
    }
    let mut pairs = (total * total - square) / 2.0;
    let same = by_class.iter().zip(&squares).zip(&learned.shares);
    let same: f64 = same.map(|((sum, square), share)| (sum * sum - square) / 2.0 / share).sum();
    let mut affinity = (1.0 - learned.homophily) * pairs + learned.homophily * same;
    for row in listed {
        pairs -= row.weight;
        affinity -= row.affinity;
    }
    // Where nearly all pairs are listed, the others do not matter, and rounding decides.
    if pairs > 1e-6 * total * total {
        (affinity / pairs).clamp(1.0 - learned.homophily, learned.largest_affinity())
    } else {
        1.0
    }
}

/// Divides log odds into equal intervals, the bins.
pub(crate) struct Intervals {
    least: f32,
    width: f32,
    n_bins: u8,
    /// The mean log odds of each bin, from bin 1 on.
    pub logits: Vec<f64>,
}

/// Pairs are in no bin if they are as likely as those that are not listed, to within these log odds.
const NEGLIGIBLE: f32 = 0.02;

impl Intervals {
    /// Divides the range of these log odds. Where there are none, there is no bin.
    pub(crate) fn new(rows: &[Vec<(u32, f32)>], n_bins: u8) -> Self {
        let logits = || rows.iter().flatten().map(|&(_, logit)| logit).filter(|logit| logit.abs() > NEGLIGIBLE);
        if logits().next().is_none() {
            return Self { least: 0.0, width: 0.0, n_bins: 0, logits: Vec::new() };
        }
        let (least, most) = logits().fold((f32::INFINITY, f32::NEG_INFINITY), |(a, b), x| (a.min(x), b.max(x)));
        let n_bins = if most > least { n_bins } else { 1 };
        let width = ((most - least) / f32::from(n_bins)).max(f32::MIN_POSITIVE);
        let mut intervals = Self { least, width, n_bins, logits: Vec::new() };
        let mut sums = vec![(0.0, 0.0); usize::from(n_bins)];
        for logit in logits() {
            let (sum, count) = &mut sums[usize::from(intervals.bin(logit)) - 1];
            *sum += f64::from(logit);
            *count += 1.0;
        }
        let middle = |bin: usize| f64::from(least) + f64::from(width) * (bin as f64 + 0.5);
        let mean = |(bin, (sum, count)): (usize, (f64, f64))| if count > 0.0 { sum / count } else { middle(bin) };
        intervals.logits = sums.into_iter().enumerate().map(mean).collect();
        intervals
    }

    /// Returns the bin of these log odds.
    fn bin(&self, logit: f32) -> u8 {
        (((logit - self.least) / self.width) as u8).min(self.n_bins - 1) + 1
    }

    /// Lists the pairs with their bins.
    ///
    /// # Errors
    /// Fails when rows are out of order.
    pub(crate) fn pairs(&self, rows: &[Vec<(u32, f32)>]) -> Result<SimilarPairs, Invalid> {
        let binned = rows.iter().map(|row| {
            let told = row.iter().filter(|(_, logit)| logit.abs() > NEGLIGIBLE);
            told.map(|&(j, logit)| (j, self.bin(logit))).collect()
        });
        SimilarPairs::from_rows(self.n_bins, binned)
    }

    /// Maps log odds by a function that is linear between the means of the bins, where it has these values.
    ///
    /// # Shapes
    /// `values`: `[n_bins]`.
    pub(crate) fn mapped(&self, logit: f32, values: &[f64]) -> f32 {
        if self.logits.is_empty() {
            return logit;
        }
        let x = f64::from(logit);
        let next = self.logits.partition_point(|&mean| mean <= x);
        let value = match (next.checked_sub(1), self.logits.get(next)) {
            (None, _) => x + values[0] - self.logits[0],
            (Some(last), None) => x + values[last] - self.logits[last],
            (Some(last), Some(mean)) => {
                let share = (x - self.logits[last]) / (mean - self.logits[last]);
                values[last] + share * (values[next] - values[last])
            }
        };
        value as f32
    }
}
