//! Many claims: entries of `P` are formed from two bits and two numbers, used, and forgotten.

#![expect(clippy::inline_always, reason = "what `dispatch` calls takes its vector width only where it is inlined")]

use pulp::Arch;
use rayon::prelude::*;
use veilgraph_graph::BitMatrix;

use crate::model::Posterior;

/// `P_ij = 1 / (1 + e^{-β_i} e^{-β_j} e^{-l})`, with `l` told by the planes of claims.
pub struct OnTheFly {
    exp_minus_beta: Vec<f32>,
    /// `e^{-l}` for 0, 1 and 2 claims.
    exp_minus_evidence: [f32; 3],
    any: BitMatrix,
    both: BitMatrix,
}

/// Entries that are formed at a time: one word of each plane.
const LANES: usize = 64;

impl OnTheFly {
    pub(super) fn new(posterior: &Posterior, any: BitMatrix, both: BitMatrix) -> Self {
        Self {
            exp_minus_beta: posterior.beta().iter().map(|&b| libm::exp(-b) as f32).collect(),
            exp_minus_evidence: [0, 1, 2].map(|claims| libm::exp(-posterior.evidence_logit(claims)) as f32),
            any,
            both,
        }
    }

    pub(super) fn n_nodes(&self) -> usize {
        self.exp_minus_beta.len()
    }

    pub(super) fn apply(&self, x: &[f32], width: usize) -> Vec<f32> {
        let mut product = vec![0.0; x.len()];
        // The processor's widest vectors; lanes are independent, so every width gives the same bits.
        let arch = Arch::new();
        product.par_chunks_exact_mut(width.max(1)).enumerate().for_each(|(node, out)| {
            arch.dispatch(
                #[inline(always)]
                || match width {
                    16 => self.add_row::<16>(node, x, out),
                    8 => self.add_row::<8>(node, x, out),
                    _ => self.add_row_of_any_width(node, x, out),
                },
            );
        });
        product
    }

    #[inline(always)]
    fn add_row<const WIDTH: usize>(&self, node: usize, x: &[f32], out: &mut [f32]) {
        // Single precision inside a word, double across words: thousands of terms add up.
        let mut sums = [0.0_f64; WIDTH];
        let (rows, _) = x.as_chunks::<WIDTH>();
        for (word, rows) in rows.chunks(LANES).enumerate() {
            let mut partial = [0.0_f32; WIDTH];
            for (&entry, row) in self.entries(node, word).iter().zip(rows) {
                for (sum, &value) in partial.iter_mut().zip(row) {
                    *sum += entry * value;
                }
            }
            sums.iter_mut().zip(partial).for_each(|(sum, partial)| *sum += f64::from(partial));
        }
        out.iter_mut().zip(sums).for_each(|(out, sum)| *out = sum as f32);
    }

    #[inline(always)]
    fn add_row_of_any_width(&self, node: usize, x: &[f32], out: &mut [f32]) {
        let mut sums = vec![0.0_f64; out.len()];
        for (word, rows) in x.chunks(LANES * out.len()).enumerate() {
            out.fill(0.0);
            for (&entry, row) in self.entries(node, word).iter().zip(rows.chunks_exact(out.len())) {
                for (sum, &value) in out.iter_mut().zip(row) {
                    *sum += entry * value;
                }
            }
            sums.iter_mut().zip(&*out).for_each(|(sum, &partial)| *sum += f64::from(partial));
        }
        out.iter_mut().zip(sums).for_each(|(out, sum)| *out = sum as f32);
    }

    /// Entries of row `node` in the columns of one word; 0 on the diagonal.
    #[inline(always)]
    fn entries(&self, node: usize, word: usize) -> [f32; LANES] {
        let (any, both) = (self.any.row(node)[word], self.both.row(node)[word]);
        let [none, one, two] = self.exp_minus_evidence.map(f32::to_bits);
        let own = self.exp_minus_beta[node];
        let mut entries = [0.0; LANES];
        // Selection by masks of 32-bit lanes: what the compiler can put into vectors.
        for half in 0..2 {
            let (any, both) = ((any >> (32 * half)) as u32, (both >> (32 * half)) as u32);
            for (lane, entry) in entries[32 * half..32 * (half + 1)].iter_mut().enumerate() {
                let is_any = 0_u32.wrapping_sub(any >> lane & 1);
                let is_both = 0_u32.wrapping_sub(both >> lane & 1);
                *entry = f32::from_bits(none & !is_any | one & is_any & !is_both | two & is_both);
            }
        }
        let columns = &self.exp_minus_beta[word * LANES..((word + 1) * LANES).min(self.n_nodes())];
        for (entry, &other) in entries.iter_mut().zip(columns) {
            *entry = 1.0 / (1.0 + own * other * *entry);
        }
        if node / LANES == word {
            entries[node % LANES] = 0.0;
        }
        entries
    }
}
