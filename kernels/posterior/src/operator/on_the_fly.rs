//! Many claims: entries of `P` are formed from two bits and two numbers, used, and forgotten.

#![expect(clippy::inline_always, reason = "what `dispatch` calls takes its vector width only where it is inlined")]

use std::sync::Arc;

use pulp::{Arch, Simd, WithSimd};
use rayon::prelude::*;
use veilgraph_graph::BitMatrix;

use super::real::{LANES, Real};
use crate::model::Posterior;

/// `P_ij = 1 / (1 + e^{-β_i} e^{-β_j} e^{-l})`, with `l` told by the planes of claims.
pub struct OnTheFly<T> {
    exp_minus_beta: Vec<T>,
    /// `e^{-l}` for 0, 1 and 2 claims.
    exp_minus_evidence: [T; 3],
    any: Arc<BitMatrix>,
    both: Arc<BitMatrix>,
}

struct AddRow<'a, T: Real> {
    operator: &'a OnTheFly<T>,
    node: usize,
    x: &'a [T],
    out: &'a mut [T],
}

impl<T: Real> WithSimd for AddRow<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let Self { operator, node, x, out } = self;
        match out.len() {
            16 => operator.add_row::<16>(node, x, out),
            8 => operator.add_row::<8>(node, x, out),
            _ => operator.add_row_of_any_width(node, x, out),
        }
    }
}

impl<T: Real> OnTheFly<T> {
    pub(super) fn new(posterior: &Posterior, any: Arc<BitMatrix>, both: Arc<BitMatrix>) -> Self {
        Self {
            exp_minus_beta: posterior.beta().iter().map(|&b| T::of(libm::exp(-b))).collect(),
            exp_minus_evidence: [0, 1, 2].map(|claims| T::of(libm::exp(-posterior.evidence_logit(claims)))),
            any,
            both,
        }
    }

    pub(super) fn n_nodes(&self) -> usize {
        self.exp_minus_beta.len()
    }

    pub(super) fn apply(&self, x: &[T], width: usize) -> Vec<T> {
        // A few more columns cost less than rows whose width is not known in advance.
        let padded = [8, 16].into_iter().find(|&lanes| width > 1 && width <= lanes).unwrap_or(width);
        if padded == width {
            return self.apply_rows(x, width);
        }
        let mut wide = vec![T::default(); self.n_nodes() * padded];
        for (row, values) in wide.chunks_exact_mut(padded).zip(x.chunks_exact(width)) {
            row[..width].copy_from_slice(values);
        }
        self.apply_rows(&wide, padded).chunks_exact(padded).flat_map(|row| row[..width].iter().copied()).collect()
    }

    fn apply_rows(&self, x: &[T], width: usize) -> Vec<T> {
        let mut product = vec![T::default(); x.len()];
        // The processor's widest vectors; lanes are independent, so every width gives the same bits.
        let arch = Arch::new();
        product.par_chunks_exact_mut(width.max(1)).enumerate().for_each(|(node, out)| {
            arch.dispatch(AddRow { operator: self, node, x, out });
        });
        product
    }

    #[inline(always)]
    fn add_row<const WIDTH: usize>(&self, node: usize, x: &[T], out: &mut [T]) {
        // The own precision inside a word, double across words: thousands of terms add up.
        let mut sums = [0.0_f64; WIDTH];
        let (rows, _) = x.as_chunks::<WIDTH>();
        for (word, rows) in rows.chunks(LANES).enumerate() {
            let mut partial = [T::default(); WIDTH];
            for (&entry, row) in self.entries(node, word).iter().zip(rows) {
                for (sum, &value) in partial.iter_mut().zip(row) {
                    *sum += entry * value;
                }
            }
            sums.iter_mut().zip(partial).for_each(|(sum, partial)| *sum += partial.wide());
        }
        out.iter_mut().zip(sums).for_each(|(out, sum)| *out = T::of(sum));
    }

    #[inline(always)]
    fn add_row_of_any_width(&self, node: usize, x: &[T], out: &mut [T]) {
        let mut sums = vec![0.0_f64; out.len()];
        for (word, rows) in x.chunks(LANES * out.len()).enumerate() {
            out.fill(T::default());
            for (&entry, row) in self.entries(node, word).iter().zip(rows.chunks_exact(out.len())) {
                for (sum, &value) in out.iter_mut().zip(row) {
                    *sum += entry * value;
                }
            }
            sums.iter_mut().zip(&*out).for_each(|(sum, &partial)| *sum += partial.wide());
        }
        out.iter_mut().zip(sums).for_each(|(out, sum)| *out = T::of(sum));
    }

    /// Entries of row `node` in the columns of one word; 0 on the diagonal.
    #[inline(always)]
    fn entries(&self, node: usize, word: usize) -> [T; LANES] {
        let mut entries = T::select(self.exp_minus_evidence, self.any.row(node)[word], self.both.row(node)[word]);
        let own = self.exp_minus_beta[node];
        let columns = &self.exp_minus_beta[word * LANES..((word + 1) * LANES).min(self.n_nodes())];
        for (entry, &other) in entries.iter_mut().zip(columns) {
            *entry = T::ONE / (T::ONE + own * other * *entry);
        }
        if node / LANES == word {
            entries[node % LANES] = T::default();
        }
        entries
    }
}
