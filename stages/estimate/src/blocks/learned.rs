//! This module learns weights of nodes and log odds of bins.

use rayon::prelude::*;

use super::{ClaimRatios, MOST_LIKELY};
use crate::known_pairs::{STRIPES, sum_in_order};
use crate::similar_claims::{SimilarClaim, SimilarClaims};

/// Holds the parameters of the prior probability of a link.
#[derive(Clone, Default)]
pub(crate) struct Learned {
    /// `w_i` of each node; 0 where a node sent nothing.
    pub weights: Vec<f64>,
    /// `ln g` of each bin of similarity, from bin 0 on, which is 0.
    pub bin_logits: Vec<f64>,
    /// `g` of each bin.
    factors: Vec<f64>,
    /// `h`.
    pub homophily: f64,
    /// `π_c`: the share of all link ends at nodes of each class.
    pub shares: Vec<f64>,
}

impl Learned {
    /// Returns where learning starts: bins that tell nothing, and moderate homophily.
    pub(crate) fn new(degrees: &[f64], similar: &SimilarClaims, n_classes: usize) -> Self {
        let total: f64 = degrees.iter().sum();
        let n_bins = usize::from(similar.n_bins()) + 1;
        Self {
            weights: degrees.iter().map(|degree| degree / total.sqrt()).collect(),
            bin_logits: vec![0.0; n_bins],
            factors: vec![1.0; n_bins],
            homophily: 0.5,
            shares: vec![1.0 / n_classes as f64; n_classes],
        }
    }

    /// Returns `E_ij` for nodes with these class probabilities.
    pub(crate) fn affinity(&self, a: &[f32], b: &[f32]) -> f64 {
        let same = a.iter().zip(b).zip(&self.shares).map(|((a, b), share)| f64::from(a * b) / share).sum::<f64>();
        1.0 - self.homophily + self.homophily * same
    }

    /// Returns the largest `E_ij`.
    pub(crate) fn largest_affinity(&self) -> f64 {
        let rarest = self.shares.iter().copied().fold(1.0, f64::min);
        1.0 - self.homophily + self.homophily / rarest
    }

    /// Returns `w_i w_j g_ij`.
    #[inline]
    pub(crate) fn base(&self, i: usize, j: u32, bin: u8) -> f64 {
        self.weights[i] * self.weights[j as usize] * self.factors[usize::from(bin)]
    }

    /// Learns everything but the homophily from the reports, with these beliefs about classes.
    ///
    /// # Shapes
    /// `degrees`: `[n]`, links; `beliefs`: `[n, n_classes]`, row-major.
    pub(crate) fn learn(&mut self, degrees: &[f64], similar: &SimilarClaims, beliefs: &[f32], ratios: ClaimRatios) {
        const STEPS: usize = 4;
        let n_classes = self.shares.len();
        let total: f64 = degrees.iter().sum();
        let mut ends = vec![0.0; n_classes];
        for (degree, row) in degrees.iter().zip(beliefs.chunks_exact(n_classes)) {
            ends.iter_mut().zip(row).for_each(|(sum, &belief)| *sum += degree * f64::from(belief));
        }
        self.shares = ends.into_iter().map(|sum| (sum / total).max(1e-4)).collect();
        // Neither bins nor weights change what classes say of a pair.
        let affinities = self.affinities(similar, beliefs);
        for _ in 0..STEPS {
            self.learn_bins(similar, &affinities, ratios);
            self.fit_weights(degrees, similar, beliefs, &affinities);
        }
    }

    /// Returns `E_ij` of all similar pairs.
    fn affinities(&self, similar: &SimilarClaims, beliefs: &[f32]) -> Vec<f32> {
        let row = |node: usize| &beliefs[node * self.shares.len()..][..self.shares.len()];
        let of_node = |i: usize| {
            let partners = similar.row(i).iter().map(|pair| pair.partner as usize);
            partners.map(move |partner| self.affinity(row(i), row(partner)) as f32)
        };
        (0..self.weights.len()).into_par_iter().flat_map_iter(of_node).collect()
    }

    /// Takes one Newton step towards the log odds of bins that maximize the marginal likelihood.
    ///
    /// The derivative of `ln (1 + θ R)` by `ln θ` is `q = θ R / (1 + θ R)`, and the sum of `q²` estimates the information.
    ///
    /// # Shapes
    /// `affinities`: `[similar pairs]`.
    fn learn_bins(&mut self, similar: &SimilarClaims, affinities: &[f32], ratios: ClaimRatios) {
        /// Four uncertain links in every bin keep steps in nearly empty bins short.
        const DAMPING: f64 = 4.0;
        let n_bins = self.bin_logits.len();
        let of_stripe = |stripe: usize| {
            let mut sums = vec![0.0; 2 * n_bins];
            for i in (stripe..self.weights.len()).step_by(STRIPES) {
                let pairs = similar.row(i).iter().zip(&affinities[similar.numbers(i)]);
                for (&SimilarClaim { partner, bin, claims }, &affinity) in pairs {
                    let theta = self.base(i, partner, bin) * f64::from(affinity);
                    if theta >= MOST_LIKELY {
                        // The likelihood no longer grows with the bin.
                        continue;
                    }
                    let change = theta * ratios.less_one[usize::from(claims)];
                    let slope = change / (1.0 + change);
                    sums[usize::from(bin)] += slope;
                    sums[n_bins + usize::from(bin)] += slope * slope;
                }
            }
            sums
        };
        let sums = sum_in_order((0..STRIPES).into_par_iter().map(of_stripe).collect());
        for bin in 1..n_bins {
            self.bin_logits[bin] += (sums[bin] / (sums[n_bins + bin] + DAMPING)).clamp(-1.0, 1.0);
        }
        self.factors = self.bin_logits.iter().map(|&logit| libm::exp(logit)).collect();
    }

    /// Scales the weights so that the expected degrees come nearer to the given ones.
    fn fit_weights(&mut self, degrees: &[f64], similar: &SimilarClaims, beliefs: &[f32], affinities: &[f32]) {
        let (n, n_classes) = (self.weights.len(), self.shares.len());
        let row = |node: usize| &beliefs[node * n_classes..][..n_classes];
        let mut total = 0.0;
        let mut by_class = vec![0.0; n_classes];
        for (node, &weight) in self.weights.iter().enumerate() {
            total += weight;
            by_class.iter_mut().zip(row(node)).for_each(|(sum, &belief)| *sum += weight * f64::from(belief));
        }
        let of_stripe = |stripe: usize| {
            let mut sums = vec![0.0; n];
            for i in (stripe..n).step_by(STRIPES) {
                let pairs = similar.row(i).iter().zip(&affinities[similar.numbers(i)]);
                for (&SimilarClaim { partner, bin, .. }, &affinity) in pairs {
                    let affinity = f64::from(affinity);
                    let without = self.weights[i] * self.weights[partner as usize] * affinity;
                    let more = (self.base(i, partner, bin) * affinity).min(MOST_LIKELY) - without.min(MOST_LIKELY);
                    sums[i] += more;
                    sums[partner as usize] += more;
                }
            }
            sums
        };
        let more = sum_in_order((0..STRIPES).into_par_iter().map(of_stripe).collect());
        let expected: Vec<f64> = (0..n)
            .map(|i| {
                let same = row(i).iter().zip(&by_class).zip(&self.shares);
                let same: f64 = same.map(|((&belief, sum), share)| f64::from(belief) * sum / share).sum();
                let all = self.weights[i] * ((1.0 - self.homophily) * total + self.homophily * same);
                all - self.weights[i] * self.weights[i] * self.affinity(row(i), row(i)) + more[i]
            })
            .collect();
        for ((weight, degree), expected) in self.weights.iter_mut().zip(degrees).zip(expected) {
            *weight *= (degree / expected.max(1e-9)).sqrt().clamp(0.2, 5.0);
        }
    }
}
