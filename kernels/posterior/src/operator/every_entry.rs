//! This module applies the soft graph where many pairs are claimed: entries of `P` are formed from two bits and two
//! numbers. They are kept where all of them fit into memory; in larger graphs they are used and forgotten.

#![expect(clippy::inline_always, reason = "what `dispatch` calls takes its vector width only where it is inlined")]

use pulp::{Simd, WithSimd};
use rayon::prelude::*;
use veilgraph_graph::ProductRows;
use veilgraph_graph::vectors::dispatch;

use super::claim_entries::ClaimEntries;
use super::corrections::Corrections;
use super::real::{Real, WORD};
use crate::claims::ClaimPlanes;
use crate::evidence::Known;
use crate::logistic_kernel::LogisticKernel;
use crate::model::Posterior;

/// Represents `P` as entries that follow from the claims, plus corrections at the similar pairs.
pub struct EveryEntry<T> {
    n_nodes: usize,
    entries: Entries<T>,
}

/// Holds what a product reads.
enum Entries<T> {
    /// All entries are kept, row-major `[n_nodes, n_nodes]`, with the corrections in them.
    Kept(Vec<T>),
    /// Entries are formed from the claims for each product, which is then corrected.
    Formed { claims: ClaimEntries<T>, similar: Corrections<T> },
}

impl<T: Real> EveryEntry<T> {
    /// Builds the operator of this posterior, whose claims are in `planes`.
    pub(super) fn new(posterior: &Posterior, planes: ClaimPlanes) -> Self {
        let similar = posterior.evidence().similar();
        let probability = |i, j, known| LogisticKernel::Logistic.at(posterior.logit(i, j, known));
        let change = |i: usize, j: u32, bin: u8| {
            let claims = planes.claims(i, j);
            let i = i as u32;
            let difference = probability(i, j, Known { claims, bin }) - probability(i, j, Known { claims, bin: 0 });
            T::from_f64(difference)
        };
        let n_nodes = posterior.n_nodes();
        let logit = |claims| posterior.evidence_logit(Known { claims, bin: 0 });
        let similar = Corrections::new(n_nodes, |i| similar.row(i), change);
        let claims = ClaimEntries::new(posterior.beta(), [0, 1, 2].map(logit), planes);
        let entries = if Self::are_kept(n_nodes) {
            let mut kept = claims.all();
            similar.add_to(&mut kept);
            Entries::Kept(kept)
        } else {
            Entries::Formed { claims, similar }
        };
        Self { n_nodes, entries }
    }

    /// Returns whether all entries of a graph with so many nodes are kept.
    pub(super) fn are_kept(n_nodes: usize) -> bool {
        const MOST_BYTES: usize = 1 << 28;
        T::KEPT_ENTRY_COST.is_some() && n_nodes * n_nodes * size_of::<T>() <= MOST_BYTES
    }

    /// Returns the number of nodes.
    pub(super) fn n_nodes(&self) -> usize {
        self.n_nodes
    }

    /// Returns the rows of `P x` that are read.
    ///
    /// # Shapes
    /// `x`: `[n_nodes, width]`, row-major. Returns `[n_nodes, width]`, row-major.
    pub(super) fn apply(&self, x: &[T], width: usize, rows: ProductRows) -> Vec<T> {
        let (claims, similar) = match &self.entries {
            Entries::Kept(entries) => return T::dense_product(entries, x, width, rows),
            Entries::Formed { claims, similar } => (claims, similar),
        };
        // A few more columns cost less than rows whose width is not known in advance. Blocks of 16 columns would form every
        // entry once for each of them.
        let padded_width = [8, 16].into_iter().find(|&known| width > 1 && width <= known).unwrap_or(width);
        if padded_width == width {
            let mut product = in_rows(claims, x, width, rows);
            similar.add_product(x, width, rows, &mut product);
            return product;
        }
        let mut padded = vec![T::default(); self.n_nodes * padded_width];
        for (row, values) in padded.chunks_exact_mut(padded_width).zip(x.chunks_exact(width)) {
            row[..width].copy_from_slice(values);
        }
        let mut product = in_rows(claims, &padded, padded_width, rows);
        similar.add_product(&padded, padded_width, rows, &mut product);
        product.chunks_exact(padded_width).flat_map(|row| row[..width].iter().copied()).collect()
    }
}

/// Returns the rows that are read of the product of the entries that follow from the claims and `x`, row by row in parallel.
///
/// # Shapes
/// `x` and the product: `[n_nodes, width]`, row-major.
fn in_rows<T: Real>(claims: &ClaimEntries<T>, x: &[T], width: usize, rows: ProductRows) -> Vec<T> {
    let mut product = vec![T::default(); x.len()];
    // Vector instructions of the processor are used; the columns are independent, so every width of
    // vectors gives the same bits.
    product.par_chunks_exact_mut(width.max(1)).enumerate().for_each(|(node, out)| {
        for node in rows.computed_of(node..node + 1) {
            dispatch(MultiplyRow { claims, node, x, out });
        }
    });
    product
}

/// Writes row `node` of the product of the entries and `x` to `out`.
///
/// The 64 terms of a word are summed in the precision `T`, and the words in double precision, because thousands of
/// terms add up.
///
/// # Shapes
/// `x`: `[n_nodes, width]`, row-major; `out`: `[width]`.
struct MultiplyRow<'a, T: Real> {
    claims: &'a ClaimEntries<T>,
    node: usize,
    x: &'a [T],
    out: &'a mut [T],
}

impl<T: Real> WithSimd for MultiplyRow<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        match self.out.len() {
            16 => self.with_known_width::<16>(),
            8 => self.with_known_width::<8>(),
            _ => self.with_any_width(),
        }
    }
}

impl<T: Real> MultiplyRow<'_, T> {
    /// Keeps the sums of a word in registers, because their number is known to the compiler.
    #[inline(always)]
    fn with_known_width<const WIDTH: usize>(self) {
        let mut sums = [0.0_f64; WIDTH];
        let mut entries = [T::default(); WORD];
        let (rows, _) = self.x.as_chunks::<WIDTH>();
        for (word, rows) in rows.chunks(WORD).enumerate() {
            let mut partial = [T::default(); WIDTH];
            self.claims.write(self.node, word, &mut entries);
            for (&entry, row) in entries.iter().zip(rows) {
                for (sum, &value) in partial.iter_mut().zip(row) {
                    *sum += entry * value;
                }
            }
            sums.iter_mut().zip(partial).for_each(|(sum, partial)| *sum += partial.to_f64());
        }
        self.out.iter_mut().zip(sums).for_each(|(out, sum)| *out = T::from_f64(sum));
    }

    /// Keeps the sums of a word in `out`.
    #[inline(always)]
    fn with_any_width(self) {
        let width = self.out.len();
        let mut sums = vec![0.0_f64; width];
        let mut entries = [T::default(); WORD];
        for (word, rows) in self.x.chunks(WORD * width).enumerate() {
            self.out.fill(T::default());
            self.claims.write(self.node, word, &mut entries);
            for (&entry, row) in entries.iter().zip(rows.chunks_exact(width)) {
                for (sum, &value) in self.out.iter_mut().zip(row) {
                    *sum += entry * value;
                }
            }
            sums.iter_mut().zip(&*self.out).for_each(|(sum, &partial)| *sum += partial.to_f64());
        }
        self.out.iter_mut().zip(sums).for_each(|(out, sum)| *out = T::from_f64(sum));
    }
}
