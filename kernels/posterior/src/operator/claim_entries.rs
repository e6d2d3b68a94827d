//! This module forms the probabilities of pairs from the planes of claims.

#![expect(clippy::inline_always, reason = "what `dispatch` calls takes its vector width only where it is inlined")]

use pulp::{Simd, WithSimd};
use rayon::prelude::*;

use super::real::{Real, WORD};
use crate::claims::ClaimPlanes;
use veilgraph_graph::vectors::dispatch;

/// Represents the matrix `P_ij = 1 / (1 + e^{-β_i} e^{-β_j} e^{-l})` with a diagonal of 0, where `l` are the log odds
/// that the claims of the pair add. Its entries are formed when they are needed, or once for all ([`Self::all`]).
pub(super) struct ClaimEntries<T> {
    /// `e^{-β_i}`, then ones up to a whole word, `[n_words * 64]`.
    exp_minus_beta: Vec<T>,
    /// `e^{-l}` for 0, 1 and 2 claims.
    exp_minus_evidence: [T; 3],
    planes: ClaimPlanes,
}

impl<T: Real> ClaimEntries<T> {
    /// Builds the matrix from the parameters of the nodes and the log odds that 0, 1 and 2 claims add.
    pub(super) fn new(beta: &[f64], logits: [f64; 3], planes: ClaimPlanes) -> Self {
        let exp_minus = |logit: f64| T::from_f64(libm::exp(-logit));
        let mut exp_minus_beta: Vec<T> = beta.iter().copied().map(exp_minus).collect();
        exp_minus_beta.resize(beta.len().next_multiple_of(WORD), T::ONE);
        Self { exp_minus_beta, exp_minus_evidence: logits.map(exp_minus), planes }
    }

    /// Returns the number of nodes.
    pub(super) fn n_nodes(&self) -> usize {
        self.planes.any.n_rows()
    }

    /// Writes the entries of row `node` in the 64 columns of one word; entries beyond the last column mean nothing, but are
    /// numbers where those of the node are.
    #[inline(always)]
    pub(super) fn write(&self, node: usize, word: usize, entries: &mut [T; WORD]) {
        let ClaimPlanes { any, both } = &self.planes;
        T::select(self.exp_minus_evidence, any.row(node)[word], both.row(node)[word], entries);
        let exp_minus_beta = self.exp_minus_beta[node];
        let (words, _) = self.exp_minus_beta.as_chunks::<WORD>();
        for (entry, &other_exp_minus_beta) in entries.iter_mut().zip(&words[word]) {
            *entry = exp_minus_beta * other_exp_minus_beta * *entry;
        }
        T::replace_by_probabilities(entries);
        if node / WORD == word {
            entries[node % WORD] = T::default();
        }
    }
}

impl<T: Real> ClaimEntries<T> {
    /// Returns all entries.
    ///
    /// # Shapes
    /// Returns `[n_nodes, n_nodes]`, row-major.
    pub(super) fn all(&self) -> Vec<T> {
        let n_nodes = self.n_nodes();
        let mut entries = vec![T::default(); n_nodes * n_nodes];
        let rows = entries.par_chunks_exact_mut(n_nodes.max(1)).enumerate();
        rows.for_each(|(node, out)| dispatch(WriteRow { claims: self, node, out }));
        entries
    }
}

/// Writes the entries of row `node` to `out`, `[n_nodes]`.
struct WriteRow<'a, T: Real> {
    claims: &'a ClaimEntries<T>,
    node: usize,
    out: &'a mut [T],
}

impl<T: Real> WithSimd for WriteRow<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let (words, rest) = self.out.as_chunks_mut::<WORD>();
        for (word, out) in words.iter_mut().enumerate() {
            self.claims.write(self.node, word, out);
        }
        if !rest.is_empty() {
            let mut entries = [T::default(); WORD];
            self.claims.write(self.node, words.len(), &mut entries);
            rest.copy_from_slice(&entries[..rest.len()]);
        }
    }
}
