//! This module learns the homophily: by how much links are likelier within a class.

use rayon::prelude::*;

use super::double_claims::DoubleClaimPairs;
use super::learned::Learned;
use super::messages::Messages;
use super::scores::same_class;
use super::{ClaimRatios, KnownClasses, MOST_LIKELY};
use crate::similar_claims::{SimilarClaim, SimilarClaims};

/// Describes a pair of which the claims tell something.
struct Told {
    /// `w_i w_j g_ij`.
    base: f64,
    /// How much likelier than others a link of this pair is if classes decide all: `θ = base (1 + h · excess)`.
    excess: f64,
    /// What the claims multiply the likelihood by, less one.
    less_one: f64,
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
        let excess = |i: usize, j: u32| -> Option<f64> {
            let (a, b) = (classes.known[i]?, classes.known[j as usize]?);
            Some(if a == b { 1.0 / self.shares[usize::from(a)] - 1.0 } else { -1.0 })
        };
        let mut told: Vec<Told> = Vec::new();
        // The sum of `w_i w_j excess` over the pairs that nobody claims, as expected without links.
        let mut unclaimed = ratios.unclaimed * self.excess_of_all(classes);
        for i in (0..self.weights.len()).filter(|&i| classes.known[i].is_some()) {
            for slot in pairs.slots(i).filter(|&slot| pairs.partners[slot] as usize > i) {
                let j = pairs.partners[slot];
                let base = self.base(i, j, pairs.bins[slot]);
                told.extend(excess(i, j).map(|excess| Told { base, excess, less_one: ratios.less_one[2] }));
            }
            for &SimilarClaim { partner, bin, claims } in similar.row(i) {
                let Some(excess) = excess(i, partner) else { continue };
                let base = self.base(i, partner, bin);
                unclaimed -= ratios.unclaimed * self.weights[i] * self.weights[partner as usize] * excess;
                if claims == 0 {
                    told.push(Told { base, excess, less_one: ratios.less_one[0] });
                }
            }
        }
        self.climb(&told, ratios.less_one[0] * unclaimed);
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
        let n_classes = self.shares.len();
        let belief = |node: usize| &messages.beliefs()[node * n_classes..][..n_classes];
        let of_beliefs = |i: usize, j: u32| -> f64 {
            let both = belief(i).iter().zip(belief(j as usize)).zip(&self.shares);
            both.map(|((a, b), share)| f64::from(a * b) / share).sum::<f64>() - 1.0
        };
        let row = |scratch: &mut [Vec<f64>; 2], i: usize| -> Vec<Told> {
            let claimed = pairs.slots(i).filter(|&slot| pairs.partners[slot] as usize > i).map(|slot| Told {
                base: self.base(i, pairs.partners[slot], pairs.bins[slot]),
                excess: same_class(messages, pairs, slot, i, &self.shares, scratch) - 1.0,
                less_one: ratios.less_one[2],
            });
            let alike = similar.row(i).iter().filter(|pair| pair.claims == 0).map(|pair| Told {
                base: self.base(i, pair.partner, pair.bin),
                excess: of_beliefs(i, pair.partner),
                less_one: ratios.less_one[0],
            });
            claimed.chain(alike).collect()
        };
        let scratch = || [vec![0.0; n_classes], vec![0.0; n_classes]];
        let rows = (0..pairs.n_nodes()).into_par_iter().map_init(scratch, row);
        let told: Vec<Told> = rows.flatten_iter().collect();
        let mut unclaimed = self.same_of_all(messages.beliefs()) - self.weight_of_all();
        for i in 0..pairs.n_nodes() {
            for pair in similar.row(i) {
                let weight = self.weights[i] * self.weights[pair.partner as usize];
                unclaimed -= weight * of_beliefs(i, pair.partner);
            }
        }
        self.climb(&told, ratios.less_one[0] * ratios.unclaimed * unclaimed);
    }

    /// Takes Newton steps towards the homophily that makes the claims of these pairs likeliest. `of_others` is the derivative
    /// of what all other pairs say.
    fn climb(&mut self, told: &[Told], of_others: f64) {
        const STEPS: usize = 30;
        const RANGE: (f64, f64) = (0.01, 0.98);
        for _ in 0..STEPS {
            let (mut gradient, mut information) = (of_others, 1e-9);
            for &Told { base, excess, less_one } in told {
                let theta = base * (1.0 + self.homophily * excess);
                if theta >= MOST_LIKELY {
                    continue;
                }
                let slope = base * excess * less_one / (1.0 + theta * less_one);
                gradient += slope;
                information += slope * slope;
            }
            let step = (gradient / information).clamp(-0.2, 0.2);
            let next = (self.homophily + step).clamp(RANGE.0, RANGE.1);
            let is_settled = (next - self.homophily).abs() < 1e-4;
            self.homophily = next;
            if is_settled {
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
