//! This module learns the homophily: by how much links are likelier within a class.

use rayon::prelude::*;

use super::double_claims::DoubleClaimPairs;
use super::learned::Learned;
use super::messages::Messages;
use super::scores::same_class;
use super::{ClaimRatios, KnownClasses, MOST_LIKELY};
use crate::known_pairs::{STRIPES, sum_in_order};
use crate::similar_claims::{SimilarClaim, SimilarClaims};

/// Describes a pair of which the claims tell something, in 8 bytes, because there may be tens of millions.
struct Told {
    /// `w_i w_j g_ij`.
    base: f32,
    /// How much likelier than others a link of this pair is if classes decide all: `θ = base (1 + h · excess)`.
    excess: f32,
}

/// Lists what the claims tell of the pairs of a stripe of nodes.
#[derive(Default)]
struct ToldPairs {
    /// Both nodes claim these pairs.
    double: Vec<Told>,
    /// Nobody claims these similar pairs.
    unclaimed: Vec<Told>,
    /// The sum of `w_i w_j excess` over all similar pairs.
    similar_excess: f64,
}

impl ToldPairs {
    /// Adds the pairs of a node and later ones.
    ///
    /// `excess_of_slot` and `excess` say how much likelier than others a link is if classes decide all; a pair of which
    /// this is not known tells nothing.
    fn add(
        &mut self,
        i: usize,
        (learned, similar, pairs): (&Learned, &SimilarClaims, &DoubleClaimPairs),
        mut excess_of_slot: impl FnMut(usize) -> Option<f64>,
        excess: impl Fn(u32) -> Option<f64>,
    ) {
        let told = |base: f64, excess: f64| Told { base: base as f32, excess: excess as f32 };
        for slot in pairs.later_slots(i) {
            let base = learned.base(i, pairs.partners[slot], pairs.bins[slot]);
            self.double.extend(excess_of_slot(slot).map(|excess| told(base, excess)));
        }
        for &SimilarClaim { partner, bin, claims } in similar.row(i) {
            let Some(excess) = excess(partner) else { continue };
            self.similar_excess += learned.weights[i] * learned.weights[partner as usize] * excess;
            if claims == 0 {
                self.unclaimed.push(told(learned.base(i, partner, bin), excess));
            }
        }
    }

    /// Returns the derivative of the logarithm of the likelihood by the homophily, and its information, as this list tells
    /// them.
    fn slopes(&self, homophily: f64, ratios: ClaimRatios) -> Vec<f64> {
        let (mut gradient, mut information) = (0.0, 0.0);
        for (pairs, less_one) in [(&self.double, ratios.less_one[2]), (&self.unclaimed, ratios.less_one[0])] {
            for &Told { base, excess } in pairs {
                let (base, excess) = (f64::from(base), f64::from(excess));
                let theta = base * (1.0 + homophily * excess);
                if theta >= MOST_LIKELY {
                    continue;
                }
                let slope = base * excess * less_one / (1.0 + theta * less_one);
                gradient += slope;
                information += slope * slope;
            }
        }
        vec![gradient, information]
    }
}

impl Learned {
    /// Finds the homophily under which the reports about pairs of training nodes are likeliest.
    pub(crate) fn learn_homophily(
        &mut self,
        similar: &SimilarClaims,
        pairs: &DoubleClaimPairs,
        classes: &KnownClasses,
        ratios: ClaimRatios,
    ) {
        let learned = &*self;
        let excess = |i: usize, j: u32| -> Option<f64> {
            let (a, b) = (classes.known[i]?, classes.known[j as usize]?);
            Some(if a == b { 1.0 / learned.shares[usize::from(a)] - 1.0 } else { -1.0 })
        };
        let of_stripe = |stripe: usize| -> ToldPairs {
            let mut told = ToldPairs::default();
            for i in (stripe..pairs.n_nodes()).step_by(STRIPES).filter(|&i| classes.known[i].is_some()) {
                let of_slot = |slot: usize| excess(i, pairs.partners[slot]);
                told.add(i, (learned, similar, pairs), of_slot, |j| excess(i, j));
            }
            told
        };
        let told: Vec<ToldPairs> = (0..STRIPES).into_par_iter().map(of_stripe).collect();
        // The sum of `w_i w_j excess` over all pairs, as far as classes are known.
        let of_all = self.excess_of_all(classes);
        self.climb(&told, of_all, ratios);
    }

    /// Finds the homophily under which all reports are likeliest, where no class is known.
    ///
    /// Under the Bethe approximation, the claims of a pair have the probability `1 + base (1 + h x̄) R` up to a factor, where
    /// `x̄` is the mean excess under the messages of both nodes.
    pub(crate) fn learn_homophily_of_beliefs(
        &mut self,
        similar: &SimilarClaims,
        pairs: &DoubleClaimPairs,
        messages: &Messages,
        ratios: ClaimRatios,
    ) {
        let (learned, n_classes) = (&*self, self.shares.len());
        let belief = |node: usize| &messages.beliefs()[node * n_classes..][..n_classes];
        let of_beliefs = |i: usize, j: u32| -> f64 {
            let both = belief(i).iter().zip(belief(j as usize)).zip(&learned.shares);
            both.map(|((a, b), share)| f64::from(a * b) / share).sum::<f64>() - 1.0
        };
        let of_stripe = |stripe: usize| -> ToldPairs {
            let mut told = ToldPairs::default();
            let mut scratch = [vec![0.0; n_classes], vec![0.0; n_classes]];
            for i in (stripe..pairs.n_nodes()).step_by(STRIPES) {
                let of_slot = |slot: usize| Some(same_class(messages, slot, i, &learned.shares, &mut scratch) - 1.0);
                told.add(i, (learned, similar, pairs), of_slot, |j| Some(of_beliefs(i, j)));
            }
            told
        };
        let told: Vec<ToldPairs> = (0..STRIPES).into_par_iter().map(of_stripe).collect();
        let of_all = self.same_of_all(messages.beliefs()) - self.weight_of_all();
        self.climb(&told, of_all, ratios);
    }

    /// Takes Newton steps towards the homophily that makes the claims of these pairs likeliest.
    ///
    /// `excess_of_all` is the sum of `w_i w_j excess` over all pairs. Those that are not similar say, by not being claimed,
    /// what is expected of them without links.
    fn climb(&mut self, told: &[ToldPairs], excess_of_all: f64, ratios: ClaimRatios) {
        const STEPS: usize = 30;
        const RANGE: (f64, f64) = (0.01, 0.98);
        let of_similar: f64 = told.iter().map(|told| told.similar_excess).sum();
        let of_others = ratios.less_one[0] * ratios.unclaimed * (excess_of_all - of_similar);
        for _ in 0..STEPS {
            let homophily = self.homophily;
            let slopes = sum_in_order(told.par_iter().map(|told| told.slopes(homophily, ratios)).collect());
            let (gradient, information) = (of_others + slopes[0], 1e-9 + slopes[1]);
            let step = (gradient / information).clamp(-0.2, 0.2);
            let next = (homophily + step).clamp(RANGE.0, RANGE.1);
            self.homophily = next;
            if (next - homophily).abs() < 1e-4 {
                break;
            }
        }
    }

    /// Returns the sum of `w_i w_j` over all pairs.
    pub(crate) fn weight_of_all(&self) -> f64 {
        let (total, square) =
            self.weights.iter().fold((0.0, 0.0), |(sum, square), weight| (sum + weight, square + weight * weight));
        (total * total - square) / 2.0
    }

    /// Returns the sum of `w_i w_j Σ_c b_i(c) b_j(c) / π_c` over all pairs, with the beliefs `b`.
    ///
    /// # Shapes
    /// `beliefs`: `[n, n_classes]`, row-major.
    pub(crate) fn same_of_all(&self, beliefs: &[f32]) -> f64 {
        let n_classes = self.shares.len();
        let (mut sums, mut squares) = (vec![0.0; n_classes], vec![0.0; n_classes]);
        for (weight, row) in self.weights.iter().zip(beliefs.chunks_exact(n_classes)) {
            for ((sum, square), &belief) in sums.iter_mut().zip(&mut squares).zip(row) {
                let product = weight * f64::from(belief);
                *sum += product;
                *square += product * product;
            }
        }
        let same = sums.iter().zip(&squares).zip(&self.shares);
        same.map(|((sum, square), share)| (sum * sum - square) / 2.0 / share).sum()
    }

    /// Returns the sum of `w_i w_j excess` over all pairs of training nodes.
    fn excess_of_all(&self, classes: &KnownClasses) -> f64 {
        let (mut sums, mut squares) = (vec![0.0; self.shares.len()], vec![0.0; self.shares.len()]);
        for (weight, known) in self.weights.iter().zip(&classes.known) {
            if let Some(class) = *known {
                sums[usize::from(class)] += weight;
                squares[usize::from(class)] += weight * weight;
            }
        }
        let total: f64 = sums.iter().sum();
        let all = (total * total - squares.iter().sum::<f64>()) / 2.0;
        let same = sums.iter().zip(&squares).zip(&self.shares);
        same.map(|((sum, square), share)| (sum * sum - square) / 2.0 / share).sum::<f64>() - all
    }
}
