//! This module holds the matrix by which known pairs change sums of a kernel over all pairs.

use rayon::prelude::*;
use veilgraph_posterior::{LinkEvidence, LogisticKernel};

use super::{KnownPairs, STRIPES, UNCLAIMED, sum_in_order};
use crate::pair_tiles::{PairTile, PairTiles, TiledPair};
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
        let shares = exp_minus_logits[0].iter().zip(self.shares).filter(|&(_, share)| share > 0.0);
        let typical = (self.shares != UNCLAIMED).then(|| shares.map(|(&logit, share)| (logit, share)).collect());
        let bins = exp_minus_logits.iter().enumerate();
        let kinds = bins.flat_map(|(bin, logits)| {
            let otherwise = |claims: usize| exp_minus_logits[0][if bin == 0 { 0 } else { claims }];
            [0, 1, 2].map(|claims| Kind { exp_minus_logit: logits[claims], exp_minus_otherwise: otherwise(claims) })
        });
        let kinds = kinds.collect();
        let tiles = self.similar.tiles(self.listed_claims().is_some());
        let mut changes = Changes { known: self, kernel, exp_minus_b, kinds, typical, tiles, kept: None };
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
    kinds: Vec<Kind>,
    /// `e^{-l}` of a pair that is not listed, with the share of the pairs that count so, where these are more than one.
    typical: Option<Vec<(f64, f64)>>,
    /// The known pairs in the order in which a large graph is visited.
    pub(super) tiles: Option<&'a PairTiles>,
    /// If the entries are kept: those of each node's later partners, or those of each tile.
    pub(super) kept: Option<Vec<Vec<f32>>>,
}

/// Holds `e^{-l}` of the two log odds whose kernels are subtracted.
#[derive(Clone, Copy)]
struct Kind {
    exp_minus_logit: f64,
    /// It is not used where typical pairs are subtracted.
    exp_minus_otherwise: f64,
}

impl Changes<'_> {
    /// Calls `add(j, kind)` for the known partners `j` above `i`. A pair that is claimed and in a bin comes twice: once for the
    /// change by its claims, and once for the further change by its bin.
    #[inline]
    fn visit(&self, i: usize, mut add: impl FnMut(usize, Kind)) {
        for (j, claims) in self.known.listed_claims().into_iter().flat_map(|evidence| evidence.claims(i)) {
            add(j as usize, self.kinds[usize::from(claims)]);
        }
        for pair in self.known.similar.row(i) {
            add(pair.partner as usize, self.kinds[usize::from(code_of(pair.bin, pair.claims))]);
        }
    }

    /// Returns the entry of a pair, where `product` is `e^{-b_i - b_j}`.
    #[inline]
    fn entry(&self, product: f64, Kind { exp_minus_logit, exp_minus_otherwise }: Kind) -> f64 {
        let at = |exp_minus_logit: f64| self.kernel.from_exp_minus(product * exp_minus_logit);
        if let Some(typical) = &self.typical {
            let unlisted: f64 = typical.iter().map(|&(logit, share)| share * at(logit)).sum();
            return at(exp_minus_logit) - unlisted;
        }
        if self.kernel == LogisticKernel::Logistic {
            // Both probabilities over one denominator: one division in place of two, for every claim. Where parameters
            // ran away, the quotient is no number.
            let denominator = (1.0 + product * exp_minus_logit) * (1.0 + product * exp_minus_otherwise);
            let quotient = product * (exp_minus_otherwise - exp_minus_logit) / denominator;
            if quotient.is_finite() {
                return quotient;
            }
        }
        at(exp_minus_logit) - at(exp_minus_otherwise)
    }

    /// Keeps all entries.
    pub(super) fn keep(&mut self) {
        let row = |i: usize| {
            let mut row = Vec::with_capacity(self.known.similar.row(i).len());
            self.visit(i, |j, kind| row.push(self.entry(self.exp_minus_b[i] * self.exp_minus_b[j], kind) as f32));
            row.shrink_to_fit();
            row
        };
        let tile = |tile: &PairTile| {
            let mut entries = Vec::with_capacity(tile.pairs.len());
            for (i, pairs) in tile.rows() {
                let entry = |&TiledPair { partner, code }: &TiledPair| {
                    let product = self.exp_minus_b[i] * self.exp_minus_b[tile.first_partner + usize::from(partner)];
                    self.entry(product, self.kinds[usize::from(code)]) as f32
                };
                entries.extend(pairs.iter().map(entry));
            }
            entries
        };
        self.kept = Some(match self.tiles {
            Some(tiles) => tiles.all().par_iter().map(tile).collect(),
            None => (0..self.exp_minus_b.len()).into_par_iter().map(row).collect(),
        });
    }

    /// Returns the matrix times `v`.
    ///
    /// # Shapes
    /// `v`: `[n]`. Returns `[n]`.
    pub(crate) fn times(&self, v: &[f64]) -> Vec<f64> {
        let product_of_stripe = |stripe: usize| match self.tiles {
            Some(tiles) => self.times_by_tiles(tiles, stripe, v),
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
                None => self.visit(i, |j, kind| {
                    let entry = self.entry(self.exp_minus_b[i] * self.exp_minus_b[j], kind);
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

    /// Returns the same as [`Self::times_by_rows`], tile by tile.
    fn times_by_tiles(&self, tiles: &PairTiles, stripe: usize, v: &[f64]) -> Vec<f64> {
        let own = (stripe..v.len()).step_by(STRIPES);
        let own = own.map(|i| OwnNumbers { exp_minus_b: self.exp_minus_b[i], v: v[i], sum_of_row: 0.0 });
        let mut own: Vec<OwnNumbers> = own.collect();
        let mut sums = Vec::with_capacity(v.len());
        // Sums of one tile at a time: memory that is fresh from the system, with zeros that nobody wrote, takes two page faults where
        // it is read before it is written, the second one with an interrupt of all processors.
        let mut sums_of_tile: Vec<f64> = Vec::new();
        for number in tiles.numbers(stripe) {
            let tile = &tiles.all()[number];
            let partners = tile.first_partner..v.len().min(tile.first_partner + tiles.nodes_per_tile());
            let (exp_minus_b, v) = (&self.exp_minus_b[partners.clone()], &v[partners]);
            sums_of_tile.clear();
            sums_of_tile.resize(v.len(), 0.0);
            let mut kept = self.kept.as_ref().map(|kept| kept[number].as_slice());
            for (i, pairs) in tile.rows() {
                let own = &mut own[i / STRIPES];
                if let Some(entries) = kept.as_mut().and_then(|kept| kept.split_off(..pairs.len())) {
                    let entries = pairs.iter().map(|pair| usize::from(pair.partner)).zip(entries);
                    own.sum_of_row = add_products(own.sum_of_row, entries, own.v, v, &mut sums_of_tile);
                    continue;
                }
                for &TiledPair { partner, code } in pairs {
                    let j = usize::from(partner);
                    let entry = self.entry(own.exp_minus_b * exp_minus_b[j], self.kinds[usize::from(code)]);
                    own.sum_of_row += entry * v[j];
                    sums_of_tile[j] += entry * own.v;
                }
            }
            sums.extend_from_slice(&sums_of_tile);
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
