//! This module holds the pairs of which the server knows more than their nodes' parameters, and how they change sums
//! over all pairs.
//!
//! A pair is known if somebody claimed it (reported it as linked) or if it stands in a bin, a class of pairs that the
//! server tells from the others.

use rayon::prelude::*;
use veilgraph_posterior::{LinkEvidence, LogisticKernel, dense_sums, evidence_logits};

use crate::similar_claims::{SimilarClaim, SimilarClaims};

/// Holds the known pairs with what they add to the log odds.
pub(crate) struct KnownPairs<'a> {
    /// The claims are absent where the reports are not looked at.
    evidence: Option<&'a LinkEvidence>,
    similar: &'a SimilarClaims<'a>,
    epsilon_links: f64,
    /// A pair adds these log odds by its bin (bin 0 holds the pairs in no bin) and its number of claims,
    /// `[1 + n_bins][3]`.
    logits: Vec<[f64; 3]>,
    /// These shares of the pairs that are not listed count as having 0, 1 and 2 claims.
    shares: [f64; 3],
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
        Self {
            evidence: None,
            similar,
            epsilon_links: 0.0,
            logits: evidence_logits(0.0, bin_logits),
            shares: UNCLAIMED,
        }
    }

    /// Returns what is known after the reports were looked at: the bins and the claims.
    pub(crate) fn posterior(similar: &'a SimilarClaims<'a>, epsilon_links: f64, bin_logits: &[f64]) -> Self {
        let logits = evidence_logits(epsilon_links, bin_logits);
        Self { evidence: Some(similar.evidence()), similar, epsilon_links, logits, shares: UNCLAIMED }
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
        Self { evidence: None, similar: listed, epsilon_links, logits, shares }
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
        self.logits[0].into_iter().zip(self.shares).filter(|&(_, share)| share > 0.0).collect()
    }

    /// Returns `e^{-l}` of all log odds.
    fn exp_minus_logits(&self) -> Vec<[f64; 3]> {
        self.logits.iter().map(|logits| logits.map(|logit| libm::exp(-logit))).collect()
    }

    /// Returns the symmetric matrix `k(b_i + b_j + l_ij) − k(b_i + b_j + unlisted)` over the known pairs. Where
    /// [`Self::dense_sums`] counts the claims, the matrix is `k(b_i + b_j + l_ij) − k(b_i + b_j + l'_ij)` over the
    /// pairs in bins, with the log odds `l'_ij` of the claims alone.
    ///
    /// Slopes are kept, in single precision and 4 bytes each, where they are few enough, because one Newton step multiplies by
    /// them many times.
    pub(crate) fn changes(&self, kernel: LogisticKernel, b: &[f64]) -> Changes<'_> {
        const MOST_KEPT: usize = 1 << 25;
        // e^{-logit} of a pair is a product of three numbers that are computed once, so no pair needs an exponential.
        let exp_minus_b: Vec<f64> = b.iter().map(|&b| libm::exp(-b)).collect();
        let exp_minus_logits = self.exp_minus_logits();
        let shares = exp_minus_logits[0].iter().zip(self.shares).filter(|&(_, share)| share > 0.0);
        let unlisted = shares.map(|(&exp_minus_logit, share)| (exp_minus_logit, share)).collect();
        let mut changes = Changes { known: self, kernel, exp_minus_b, exp_minus_logits, unlisted, kept: None };
        let n_claimed = self.listed_claims().map_or(0, LinkEvidence::n_claimed);
        if kernel == LogisticKernel::LogisticSlope && n_claimed + self.similar.n_pairs() <= MOST_KEPT {
            let row = |i: usize| {
                let mut row = Vec::with_capacity(self.similar.row(i).len());
                changes.visit(i, |_, change| row.push(change as f32));
                row.shrink_to_fit();
                row
            };
            changes.kept = Some((0..b.len()).into_par_iter().map(row).collect());
        }
        changes
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

/// Represents the symmetric matrix of [`KnownPairs::changes`], by which known pairs change sums of a kernel over all
/// pairs.
pub(crate) struct Changes<'a> {
    known: &'a KnownPairs<'a>,
    kernel: LogisticKernel,
    exp_minus_b: Vec<f64>,
    exp_minus_logits: Vec<[f64; 3]>,
    /// `e^{-l}` of a pair that is not listed, with the share of the pairs that count so.
    unlisted: Vec<(f64, f64)>,
    /// If the entries are kept, the row of each node holds those of its later partners.
    kept: Option<Vec<Vec<f32>>>,
}

impl Changes<'_> {
    /// Calls `add(j, entry)` for the known partners `j` above `i`. A pair that is claimed and in a bin comes twice:
    /// once with the change by its claims, and once with the further change by its bin.
    #[inline]
    fn visit(&self, i: usize, mut add: impl FnMut(u32, f64)) {
        let Self { known, kernel, exp_minus_b, exp_minus_logits, unlisted, .. } = self;
        let at = |j: u32, exp_minus_logit: f64| {
            kernel.from_exp_minus(exp_minus_b[i] * exp_minus_b[j as usize] * exp_minus_logit)
        };
        let change = |j: u32, exp_minus_logit: f64, exp_minus_unlisted: f64| {
            if *kernel == LogisticKernel::Logistic {
                // Both probabilities over one denominator: one division in place of two, for every claim. Where parameters
                // ran away, the quotient is no number.
                let product = exp_minus_b[i] * exp_minus_b[j as usize];
                let denominator = (1.0 + product * exp_minus_logit) * (1.0 + product * exp_minus_unlisted);
                let quotient = product * (exp_minus_unlisted - exp_minus_logit) / denominator;
                if quotient.is_finite() {
                    return quotient;
                }
            }
            at(j, exp_minus_logit) - at(j, exp_minus_unlisted)
        };
        for (j, claims) in known.listed_claims().into_iter().flat_map(|evidence| evidence.claims(i)) {
            add(j, change(j, exp_minus_logits[0][usize::from(claims)], exp_minus_logits[0][0]));
        }
        let is_unclaimed = known.shares == UNCLAIMED;
        for &SimilarClaim { partner, bin, claims } in known.similar.row(i) {
            let (bin, claims) = (usize::from(bin), usize::from(claims));
            if is_unclaimed {
                add(partner, change(partner, exp_minus_logits[bin][claims], exp_minus_logits[0][claims]));
            } else {
                let unlisted: f64 = unlisted.iter().map(|&(logit, share)| share * at(partner, logit)).sum();
                add(partner, at(partner, exp_minus_logits[bin][claims]) - unlisted);
            }
        }
    }

    /// Adds the products of the kept entries of row `i` with `v[i]` to `sums`, and returns the sum of those with the partners'
    /// numbers.
    fn add_kept(&self, i: usize, kept: &[f32], v: &[f64], sums: &mut [f64]) -> f64 {
        let similar = self.known.similar.row(i);
        let (of_claims, of_similar) = kept.split_at(kept.len() - similar.len());
        let mut sum = 0.0;
        // One chained iterator over both would ask before each pair which of them it has come to.
        if let Some(evidence) = self.known.listed_claims() {
            debug_assert_eq!(evidence.claims(i).count(), of_claims.len());
            let partners = evidence.claims(i).map(|(j, _)| j);
            sum = add_products(sum, partners.zip(of_claims), v[i], v, sums);
        }
        add_products(sum, similar.iter().map(|pair| pair.partner).zip(of_similar), v[i], v, sums)
    }

    /// Returns the matrix times `v`.
    ///
    /// # Shapes
    /// `v`: `[n]`. Returns `[n]`.
    pub(crate) fn times(&self, v: &[f64]) -> Vec<f64> {
        let product_of_stripe = |stripe: usize| {
            let mut sums = vec![0.0; v.len()];
            for i in (stripe..v.len()).step_by(STRIPES) {
                let mut sum_of_row = 0.0;
                match &self.kept {
                    Some(rows) => sum_of_row = self.add_kept(i, &rows[i], v, &mut sums),
                    None => self.visit(i, |j, change| {
                        sum_of_row += change * v[j as usize];
                        sums[j as usize] += change * v[i];
                    }),
                }
                sums[i] += sum_of_row;
            }
            sums
        };
        sum_in_order((0..STRIPES).into_par_iter().map(product_of_stripe).collect())
    }
}

/// Adds the products of a row's entries with the number `own` of its node to `sums`, and returns `sum` plus the products with the
/// numbers of the partners. In a function of its own the sum stays in a register.
///
/// # Shapes
/// `v` and `sums`: `[n]`.
#[inline(never)]
fn add_products<'a>(
    mut sum: f64,
    entries: impl Iterator<Item = (u32, &'a f32)>,
    own: f64,
    v: &[f64],
    sums: &mut [f64],
) -> f64 {
    for (j, &entry) in entries {
        let (j, entry) = (j as usize, f64::from(entry));
        sum += entry * v[j];
        sums[j] += entry * own;
    }
    sum
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
