//! This module holds the matrix by which known pairs change sums of a kernel over all pairs.

use rayon::prelude::*;
use veilgraph_posterior::{LinkEvidence, LogisticKernel};

use super::{KnownPairs, STRIPES, sum_in_order};
use crate::partner_ranges::{PairInRange, PartnerRange, PartnerRanges};
use crate::similar_claims::code_of;

/// Slopes of so many pairs are kept at most.
const MOST_KEPT: usize = 1 << 25;

impl KnownPairs<'_> {
    /// Returns the symmetric matrix `k(b_i + b_j + l_ij) − k(b_i + b_j + unlisted)` over the known pairs. Where
    /// [`Self::dense_sums`] counts the claims, the matrix is `k(b_i + b_j + l_ij) − k(b_i + b_j + l'_ij)` over the
    /// pairs in bins, with the log odds `l'_ij` of the claims alone.
    ///
    /// Slopes are kept, in single precision and 4 bytes each, where they are few enough, because one Newton step multiplies by
    /// them many times.
    pub(crate) fn changes(&self, kernel: LogisticKernel, b: &[f64]) -> Changes<'_> {
        // e^{-logit} of a pair is a product of three numbers that are computed once, so no pair needs an exponential.
        let exp_minus_b = b.iter().map(|&b| libm::exp(-b)).collect();
        let exp_minus_logits = self.exp_minus_logits();
        let typical = self.shares.map(|shares| {
            let with_shares = exp_minus_logits[0].into_iter().zip(shares);
            with_shares.filter(|&(_, share)| share > 0.0).collect()
        });
        let bins = exp_minus_logits.iter().enumerate();
        let odds = bins.flat_map(|(bin, logits)| {
            let subtracted = |claims: usize| exp_minus_logits[0][if bin == 0 { 0 } else { claims }];
            [0, 1, 2]
                .map(|claims| PairOdds { exp_minus_logit: logits[claims], exp_minus_subtracted: subtracted(claims) })
        });
        let odds_of_code = odds.collect();
        let ranges = self.similar.ranges(self.listed_claims().is_some());
        let mut changes = Changes { known: self, kernel, exp_minus_b, odds_of_code, typical, ranges, kept: None };
        let n_claimed = self.listed_claims().map_or(0, LinkEvidence::n_claimed);
        if kernel == LogisticKernel::LogisticSlope && n_claimed + self.similar.n_pairs() <= MOST_KEPT {
            changes.keep();
        }
        changes
    }
}

/// Represents the symmetric matrix of [`KnownPairs::changes`], by which known pairs change sums of a kernel over all
/// pairs.
pub(crate) struct Changes<'a> {
    known: &'a KnownPairs<'a>,
    kernel: LogisticKernel,
    /// `[n]`
    exp_minus_b: Vec<f64>,
    /// What the pairs of each [code](code_of) add to their nodes' log odds.
    odds_of_code: Vec<PairOdds>,
    /// `e^{-l}` of the numbers of claims that a pair which is not listed may have, each with its share of these pairs, where listed
    /// pairs are changed from that mixture ([`KnownPairs::typical`]).
    typical: Option<Vec<(f64, f64)>>,
    /// The known pairs in the order in which a large graph is visited.
    pub(super) ranges: Option<&'a PartnerRanges>,
    /// If the entries are kept: those of each node's later partners, or those of each range.
    pub(super) kept: Option<Vec<Vec<f32>>>,
}

/// Holds `e^{-l}` of the two log odds whose kernels are subtracted.
#[derive(Clone, Copy)]
struct PairOdds {
    exp_minus_logit: f64,
    /// It is not used where typical pairs are subtracted.
    exp_minus_subtracted: f64,
}

impl Changes<'_> {
    /// Calls `add(j, odds)` for the known partners `j` above `i`. A pair that is claimed and in a bin comes twice: once for the
    /// change by its claims, and once for the further change by its bin.
    #[inline]
    fn visit(&self, i: usize, mut add: impl FnMut(usize, PairOdds)) {
        for (j, claims) in self.known.listed_claims().into_iter().flat_map(|evidence| evidence.claims(i)) {
            add(j as usize, self.odds_of_code[usize::from(claims)]);
        }
        for pair in self.known.similar.row(i) {
            add(pair.partner as usize, self.odds_of_code[usize::from(code_of(pair.bin, pair.claims))]);
        }
    }

    /// Returns the entry of a pair, where `product` is `e^{-b_i - b_j}`.
    #[inline]
    fn entry(&self, product: f64, PairOdds { exp_minus_logit, exp_minus_subtracted }: PairOdds) -> f64 {
        let at = |exp_minus_logit: f64| self.kernel.from_exp_minus(product * exp_minus_logit);
        if let Some(typical) = &self.typical {
            let unlisted: f64 = typical.iter().map(|&(logit, share)| share * at(logit)).sum();
            return at(exp_minus_logit) - unlisted;
        }
        if self.kernel == LogisticKernel::Logistic {
            // Both probabilities over one denominator: one division in place of two, for every claim. Where parameters
            // ran away, the quotient is no number.
            let denominator = (1.0 + product * exp_minus_logit) * (1.0 + product * exp_minus_subtracted);
            let quotient = product * (exp_minus_subtracted - exp_minus_logit) / denominator;
            if quotient.is_finite() {
                return quotient;
            }
        }
        at(exp_minus_logit) - at(exp_minus_subtracted)
    }

    /// Computes all entries once and keeps them.
    pub(super) fn keep(&mut self) {
        let row = |i: usize| {
            let mut row = Vec::with_capacity(self.known.similar.row(i).len());
            self.visit(i, |j, odds| row.push(self.entry(self.exp_minus_b[i] * self.exp_minus_b[j], odds) as f32));
            row.shrink_to_fit();
            row
        };
        let range = |range: &PartnerRange| {
            let mut entries = Vec::with_capacity(range.pairs.len());
            for (i, pairs) in range.rows() {
                let entry = |&PairInRange { partner, code }: &PairInRange| {
                    let product = self.exp_minus_b[i] * self.exp_minus_b[range.first_partner + usize::from(partner)];
                    self.entry(product, self.odds_of_code[usize::from(code)]) as f32
                };
                entries.extend(pairs.iter().map(entry));
            }
            entries
        };
        self.kept = Some(match self.ranges {
            Some(ranges) => ranges.all().par_iter().map(range).collect(),
            None => (0..self.exp_minus_b.len()).into_par_iter().map(row).collect(),
        });
    }

    /// Returns the matrix times `v`.
    ///
    /// # Shapes
    /// `v`: `[n]`. Returns `[n]`.
    pub(crate) fn times(&self, v: &[f64]) -> Vec<f64> {
        let product_of_stripe = |stripe: usize| match self.ranges {
            Some(ranges) => self.times_by_ranges(ranges, stripe, v),
            None => self.times_by_rows(stripe, v),
        };
        sum_in_order((0..STRIPES).into_par_iter().map(product_of_stripe).collect())
    }

    /// Returns the product of the rows of a stripe and of their mirrored entries, row by row.
    fn times_by_rows(&self, stripe: usize, v: &[f64]) -> Vec<f64> {
        let mut sums = vec![0.0; v.len()];
        for i in (stripe..v.len()).step_by(STRIPES) {
            let mut sum_of_row = 0.0;
            match &self.kept {
                Some(rows) => sum_of_row = self.add_kept(i, &rows[i], v, &mut sums),
                None => self.visit(i, |j, odds| {
                    let entry = self.entry(self.exp_minus_b[i] * self.exp_minus_b[j], odds);
                    sum_of_row += entry * v[j];
                    sums[j] += entry * v[i];
                }),
            }
            sums[i] += sum_of_row;
        }
        sums
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
            let partners = evidence.claims(i).map(|(j, _)| j as usize);
            sum = add_products(sum, partners.zip(of_claims), v[i], v, sums);
        }
        add_products(sum, similar.iter().map(|pair| pair.partner as usize).zip(of_similar), v[i], v, sums)
    }

    /// Returns the same as [`Self::times_by_rows`] up to rounding, since sums run range by range.
    fn times_by_ranges(&self, ranges: &PartnerRanges, stripe: usize, v: &[f64]) -> Vec<f64> {
        let own = (stripe..v.len()).step_by(STRIPES);
        let own = own.map(|i| OwnNumbers { exp_minus_b: self.exp_minus_b[i], v: v[i], sum_of_row: 0.0 });
        let mut own: Vec<OwnNumbers> = own.collect();
        let mut sums = Vec::with_capacity(v.len());
        // The sums of one range are made in a buffer that is used again. A fresh buffer of zeros would be read before it is written,
        // and Linux then takes two page faults for each page, the second of which interrupts all processors.
        let mut sums_of_range: Vec<f64> = Vec::new();
        for place in ranges.of_stripe(stripe) {
            let range = &ranges.all()[place];
            let partners = range.first_partner..v.len().min(range.first_partner + ranges.nodes_per_range());
            let (exp_minus_b, v) = (&self.exp_minus_b[partners.clone()], &v[partners]);
            sums_of_range.clear();
            sums_of_range.resize(v.len(), 0.0);
            let mut kept = self.kept.as_ref().map(|kept| kept[place].as_slice());
            for (i, pairs) in range.rows() {
                let own = &mut own[i / STRIPES];
                if let Some(entries) = kept.as_mut().and_then(|kept| kept.split_off(..pairs.len())) {
                    let entries = pairs.iter().map(|pair| usize::from(pair.partner)).zip(entries);
                    own.sum_of_row = add_products(own.sum_of_row, entries, own.v, v, &mut sums_of_range);
                    continue;
                }
                for &PairInRange { partner, code } in pairs {
                    let j = usize::from(partner);
                    let entry = self.entry(own.exp_minus_b * exp_minus_b[j], self.odds_of_code[usize::from(code)]);
                    own.sum_of_row += entry * v[j];
                    sums_of_range[j] += entry * own.v;
                }
            }
            sums.extend_from_slice(&sums_of_range);
        }
        sums.iter_mut().skip(stripe).step_by(STRIPES).zip(own).for_each(|(sum, own)| *sum += own.sum_of_row);
        sums
    }
}

/// Holds the numbers of a row's node, and the sum of its products so far.
struct OwnNumbers {
    exp_minus_b: f64,
    v: f64,
    sum_of_row: f64,
}

/// Adds the products of a row's entries with the number `own` of its node to `sums`, and returns `sum` plus the products with the
/// numbers of the partners. In a function of its own the sum stays in a register.
///
/// # Shapes
/// `v` and `sums`: one number for each partner.
#[inline(never)]
fn add_products<'a>(
    mut sum: f64,
    entries: impl Iterator<Item = (usize, &'a f32)>,
    own: f64,
    v: &[f64],
    sums: &mut [f64],
) -> f64 {
    for (j, &entry) in entries {
        let entry = f64::from(entry);
        sum += entry * v[j];
        sums[j] += entry * own;
    }
    sum
}
