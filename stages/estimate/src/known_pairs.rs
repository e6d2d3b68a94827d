//! This module holds the pairs of which the server knows more than their nodes' parameters, and how they change sums
//! over all pairs.
//!
//! A pair is known if somebody claimed it (reported it as linked) or if it stands in a bin, a class of pairs that the
//! server tells from the others.

use rayon::prelude::*;
use veilgraph_posterior::{LinkEvidence, LogisticKernel, dense_sums, evidence_logits};

use crate::similar_claims::{SimilarClaim, SimilarClaims};

pub(crate) use changes::Changes;

mod changes;

/// Holds the known pairs with what they add to the log odds.
pub(crate) struct KnownPairs<'a> {
    /// The claims are absent where the reports are not looked at.
    evidence: Option<&'a LinkEvidence>,
    similar: &'a SimilarClaims<'a>,
    epsilon_links: f64,
    /// A pair adds these log odds by its bin (bin 0 holds the pairs in no bin) and its number of claims,
    /// `[1 + n_bins][3]`.
    logits: Vec<[f64; 3]>,
    /// Where claims are not summed one by one: these shares of the pairs that are not listed count as having 0, 1 and 2 claims, and a
    /// listed pair is changed from that mixture. Elsewhere every pair that is not listed counts as unclaimed, and the changes by claims
    /// and by bins are added one after the other.
    shares: Option<[f64; 3]>,
}

/// Every pair that is not listed counts as one that nobody claimed.
const UNCLAIMED: [f64; 3] = [1.0, 0.0, 0.0];

/// Holds two sums over the pairs of the bins that share learned log odds.
pub(crate) struct BinSums {
    /// `Σ P`: this many links are expected.
    pub links: Vec<f64>,
    /// `Σ P (1 − P)`: this is the slope of `links` by the log odds of the bins.
    pub doubt: Vec<f64>,
}

impl<'a> KnownPairs<'a> {
    /// Returns what is known before the reports are looked at: the bins.
    pub(crate) fn prior(similar: &'a SimilarClaims<'a>, bin_logits: &[f64]) -> Self {
        Self { evidence: None, similar, epsilon_links: 0.0, logits: evidence_logits(0.0, bin_logits), shares: None }
    }

    /// Returns what is known after the reports were looked at: the bins and the claims.
    pub(crate) fn posterior(similar: &'a SimilarClaims<'a>, epsilon_links: f64, bin_logits: &[f64]) -> Self {
        let logits = evidence_logits(epsilon_links, bin_logits);
        Self { evidence: Some(similar.evidence()), similar, epsilon_links, logits, shares: None }
    }

    /// Returns what is known after the reports were looked at, but where these shares of all pairs that are not `listed`
    /// have 0, 1 and 2 claims, whoever their nodes are. Sums then cost no pass over all claims.
    pub(crate) fn typical(
        listed: &'a SimilarClaims<'a>,
        shares: [f64; 3],
        epsilon_links: f64,
        bin_logits: &[f64],
    ) -> Self {
        let logits = evidence_logits(epsilon_links, bin_logits);
        Self { evidence: None, similar: listed, epsilon_links, logits, shares: Some(shares) }
    }

    /// Returns `Σ_{j≠i} k(b_i + b_j + l_ij) v_j` for every node `i`, where the log odds `l_ij` are those of the claims
    /// alone; it returns `None` where few pairs were claimed, or the claims are not looked at.
    ///
    /// # Shapes
    /// `b` and `v`: `[n]`. Returns `[n]`.
    pub(crate) fn dense_sums(&self, kernel: LogisticKernel, b: &[f64], v: &[f64]) -> Option<Vec<f64>> {
        dense_sums(self.evidence?, self.epsilon_links, kernel, b, v)
    }

    /// Returns the claims if they are looked at and listed.
    fn listed_claims(&self) -> Option<&'a LinkEvidence> {
        self.evidence.filter(|evidence| evidence.planes().is_none())
    }

    /// Returns what a pair that is not listed adds to its nodes' log odds (without a claim, links are less likely), for
    /// each number of claims with the share of the pairs that count so.
    pub(crate) fn unlisted(&self) -> Vec<(f64, f64)> {
        self.logits[0].into_iter().zip(self.shares.unwrap_or(UNCLAIMED)).filter(|&(_, share)| share > 0.0).collect()
    }

    /// Returns `e^{-l}` of all log odds.
    fn exp_minus_logits(&self) -> Vec<[f64; 3]> {
        self.logits.iter().map(|logits| logits.map(|logit| libm::exp(-logit))).collect()
    }

    /// Sums the probabilities of the pairs in bins that have a sum, and their slopes. Pairs of other bins cost next to nothing.
    ///
    /// # Shapes
    /// `b`: `[n]`; `sum_of_bin`: `[n_bins]`, from bin 1 on, numbers below `n_sums`. Both sums are `[n_sums]`.
    pub(crate) fn bin_sums(&self, b: &[f64], sum_of_bin: &[Option<usize>], n_sums: usize) -> BinSums {
        let exp_minus_b: Vec<f64> = b.iter().map(|&b| libm::exp(-b)).collect();
        let exp_minus_logits = self.exp_minus_logits();
        let sums_of_stripe = |stripe: usize| {
            let mut sums = vec![0.0; 2 * n_sums];
            for i in (stripe..b.len()).step_by(STRIPES) {
                for &SimilarClaim { partner, bin, claims } in self.similar.row(i) {
                    let Some(sum) = sum_of_bin[usize::from(bin) - 1] else { continue };
                    let product = exp_minus_b[i] * exp_minus_b[partner as usize];
                    let exp_minus = product * exp_minus_logits[usize::from(bin)][usize::from(claims)];
                    let probability = LogisticKernel::Logistic.from_exp_minus(exp_minus);
                    sums[sum] += probability;
                    // `P (1 − P)` as a product in which nothing cancels. Where `P` is 0, one factor may be infinite.
                    sums[n_sums + sum] += if probability > 0.0 { exp_minus * probability * probability } else { 0.0 };
                }
            }
            sums
        };
        let mut links = sum_in_order((0..STRIPES).into_par_iter().map(sums_of_stripe).collect());
        let doubt = links.split_off(n_sums);
        BinSums { links, doubt }
    }
}

/// A stripe is every sixteenth node. Rows hold the later partners only, so stripes have about equally many pairs, and
/// their sums are added in order, so the result does not depend on the number of threads.
pub(crate) const STRIPES: usize = 16;

/// Adds vectors of equal length in their order.
pub(crate) fn sum_in_order(stripes: Vec<Vec<f64>>) -> Vec<f64> {
    let add = |mut total: Vec<f64>, stripe: Vec<f64>| {
        total.iter_mut().zip(stripe).for_each(|(total, sum)| *total += sum);
        total
    };
    stripes.into_iter().reduce(add).unwrap_or_default()
}

#[cfg(test)]
mod tests;
