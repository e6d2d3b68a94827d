//! Pairs of which the server knows more than their nodes' parameters, and what that adds to sums over pairs.

use rayon::prelude::*;
use veilgraph_posterior::{Kernel, LinkEvidence, dense_sums, evidence_logits};

/// Claimed and similar pairs with what they add to the log odds.
pub(crate) struct KnownPairs<'a> {
    /// Claims, where they count.
    evidence: Option<&'a LinkEvidence>,
    similar: &'a SimilarClaims<'a>,
    epsilon_links: f64,
    /// Of every bin (from 0, the pairs in none) and number of claims.
    logits: Vec<[f64; 3]>,
}

/// Similar pairs by rows of the lower node, each with its claims: looked up once.
pub(crate) struct SimilarClaims<'a> {
    evidence: &'a LinkEvidence,
    offsets: Vec<usize>,
    /// Partner, bin, claims.
    pairs: Vec<(u32, u8, u8)>,
}

impl<'a> SimilarClaims<'a> {
    pub(crate) fn new(evidence: &'a LinkEvidence) -> Self {
        let mut similar = Self { evidence, offsets: vec![0], pairs: Vec::with_capacity(evidence.similar().n_pairs()) };
        for i in 0..evidence.n_nodes() {
            let row = evidence.similar().row(i);
            similar.pairs.extend(row.map(|(j, bin)| (j, bin, evidence.known(i as u32, j).claims)));
            similar.offsets.push(similar.pairs.len());
        }
        similar
    }

    fn row(&self, i: usize) -> &[(u32, u8, u8)] {
        &self.pairs[self.offsets[i]..self.offsets[i + 1]]
    }
}

impl<'a> KnownPairs<'a> {
    /// What is known before the reports are seen.
    pub(crate) fn prior(similar: &'a SimilarClaims<'a>, bin_logits: &[f64]) -> Self {
        Self { evidence: None, similar, epsilon_links: 0.0, logits: evidence_logits(0.0, bin_logits) }
    }

    /// What is known after.
    pub(crate) fn posterior(similar: &'a SimilarClaims<'a>, epsilon_links: f64, bin_logits: &[f64]) -> Self {
        let logits = evidence_logits(epsilon_links, bin_logits);
        Self { evidence: Some(similar.evidence), similar, epsilon_links, logits }
    }

    /// `Σ_{j≠i} k(b_i + b_j + l_ij) v_j` by the claims alone, where they are many.
    pub(crate) fn dense_sums(&self, kernel: Kernel, b: &[f64], v: &[f64]) -> Option<Vec<f64>> {
        dense_sums(self.evidence?, self.epsilon_links, kernel, b, v)
    }

    /// Claims that are listed, if they count.
    fn listed(&self) -> Option<&'a LinkEvidence> {
        self.evidence.filter(|evidence| evidence.planes().is_none())
    }

    /// Log odds of the other pairs, beyond those of their nodes.
    pub(crate) fn base(&self) -> f64 {
        self.logits[0][0]
    }

    fn exp_minus(&self) -> Vec<[f64; 3]> {
        self.logits.iter().map(|logits| logits.map(|logit| libm::exp(-logit))).collect()
    }

    /// The symmetric matrix `k(b_i + b_j + l_ij) − k(b_i + b_j + base)` over the known pairs; over similar pairs alone, and
    /// beyond their claims, where [`Self::dense_sums`] counts those. Slopes are kept, in single
    /// precision, where they are few enough: one Newton step multiplies by them many times.
    pub(crate) fn changes(&self, kernel: Kernel, b: &[f64]) -> Changes<'_> {
        const MOST_KEPT: usize = 1 << 24;
        // e^{-s} of a pair is a product of two numbers: no exponential per pair.
        let exp_minus_b: Vec<f64> = b.iter().map(|&b| libm::exp(-b)).collect();
        let mut changes = Changes { known: self, kernel, exp_minus_b, exp_minus: self.exp_minus(), kept: None };
        let n_claimed = self.listed().map_or(0, LinkEvidence::n_claimed);
        if kernel == Kernel::LogisticSlope && n_claimed + self.similar.pairs.len() <= MOST_KEPT {
            let row = |i: usize| {
                let mut row = Vec::new();
                changes.visit(i, |j, change| row.push((j, change as f32)));
                row
            };
            changes.kept = Some((0..b.len()).into_par_iter().map(row).collect());
        }
        changes
    }

    /// Expected links among the similar pairs of each bin, and how they change with its log odds: `Σ P` and
    /// `Σ P (1 − P)`, from bin 1 on.
    pub(crate) fn expected_links(&self, b: &[f64]) -> [Vec<f64>; 2] {
        let n_bins = self.logits.len() - 1;
        let exp_minus_b: Vec<f64> = b.iter().map(|&b| libm::exp(-b)).collect();
        let exp_minus = self.exp_minus();
        let piece = |piece: usize| {
            let mut sums = vec![0.0; 2 * n_bins];
            for i in (piece..b.len()).step_by(PIECES) {
                for &(j, bin, claims) in self.similar.row(i) {
                    let product = exp_minus_b[i] * exp_minus_b[j as usize];
                    let of = product * exp_minus[usize::from(bin)][usize::from(claims)];
                    sums[usize::from(bin) - 1] += Kernel::Logistic.from_exp_minus(of);
                    sums[n_bins + usize::from(bin) - 1] += Kernel::LogisticSlope.from_exp_minus(of);
                }
            }
            sums
        };
        let mut links = in_order((0..PIECES).into_par_iter().map(piece).collect());
        let slopes = links.split_off(n_bins);
        [links, slopes]
    }
}

/// What known pairs change in sums of a kernel over all pairs.
pub(crate) struct Changes<'a> {
    known: &'a KnownPairs<'a>,
    kernel: Kernel,
    exp_minus_b: Vec<f64>,
    exp_minus: Vec<[f64; 3]>,
    /// Partners above each node with their entries.
    kept: Option<Vec<Vec<(u32, f32)>>>,
}

impl Changes<'_> {
    /// Calls `add(j, entry)` for the known partners above `i`; a pair that is claimed and similar comes twice.
    #[inline]
    fn visit(&self, i: usize, mut add: impl FnMut(u32, f64)) {
        let Self { known, kernel, exp_minus_b, exp_minus, .. } = self;
        let mut change = |j: u32, from: f64, to: f64| {
            let product = exp_minus_b[i] * exp_minus_b[j as usize];
            add(j, kernel.from_exp_minus(product * to) - kernel.from_exp_minus(product * from));
        };
        for (j, claims) in known.listed().into_iter().flat_map(|evidence| evidence.claims(i)) {
            change(j, exp_minus[0][0], exp_minus[0][usize::from(claims)]);
        }
        for &(j, bin, claims) in known.similar.row(i) {
            change(j, exp_minus[0][usize::from(claims)], exp_minus[usize::from(bin)][usize::from(claims)]);
        }
    }

    /// The matrix times `v`.
    pub(crate) fn times(&self, v: &[f64]) -> Vec<f64> {
        let piece = |piece: usize| {
            let mut sums = vec![0.0; v.len()];
            for i in (piece..v.len()).step_by(PIECES) {
                let mut own = 0.0;
                let mut add = |j: u32, change: f64| {
                    own += change * v[j as usize];
                    sums[j as usize] += change * v[i];
                };
                match &self.kept {
                    Some(rows) => rows[i].iter().for_each(|&(j, change)| add(j, change.into())),
                    None => self.visit(i, add),
                }
                sums[i] += own;
            }
            sums
        };
        in_order((0..PIECES).into_par_iter().map(piece).collect())
    }
}

/// Pieces of the nodes, whose sums are added in order: the result does not depend on the number of threads.
/// Rows hold partners above, so every piece takes every sixteenth node: they are equally long.
const PIECES: usize = 16;

fn in_order(pieces: Vec<Vec<f64>>) -> Vec<f64> {
    let add = |mut total: Vec<f64>, piece: Vec<f64>| {
        total.iter_mut().zip(piece).for_each(|(total, sum)| *total += sum);
        total
    };
    pieces.into_iter().reduce(add).unwrap_or_default()
}
