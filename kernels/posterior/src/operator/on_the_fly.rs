//! Many claims: entries of `P` are formed from two bits and two numbers, used, and forgotten.

#![expect(clippy::inline_always, reason = "what `dispatch` calls takes its vector width only where it is inlined")]

use std::sync::Arc;

use pulp::{Arch, Simd, WithSimd};
use rayon::prelude::*;
use veilgraph_graph::BitMatrix;

use super::corrections::Corrections;
use super::real::{LANES, Real};
use crate::evidence::{Known, LinkEvidence};
use crate::kernel_sum::Kernel;
use crate::model::{Posterior, evidence_logits};

/// `P` on the fly, corrected at similar pairs.
pub struct OnTheFly<T> {
    claims: FromClaims<T>,
    /// What similarity changes beyond the claims.
    similar: Corrections<T>,
}

/// `P_ij = 1 / (1 + e^{-β_i} e^{-β_j} e^{-l})`, with `l` told by the planes of claims.
struct FromClaims<T> {
    exp_minus_beta: Vec<T>,
    /// `e^{-l}` for 0, 1 and 2 claims.
    exp_minus_evidence: [T; 3],
    any: Arc<BitMatrix>,
    both: Arc<BitMatrix>,
}

struct AddRow<'a, T: Real> {
    operator: &'a FromClaims<T>,
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
        let similar = posterior.evidence().similar();
        let at = |i, j, known| Kernel::Logistic.at(posterior.logit(i, j, known));
        let change = |i: u32, j: u32, bin: u8| {
            let claims = u8::from(any.contains(i as usize, j)) + u8::from(both.contains(i as usize, j));
            (i, j, T::of(at(i, j, Known { claims, bin }) - at(i, j, Known { claims, bin: 0 })))
        };
        let pairs = |i: u32| similar.row(i as usize).map(move |(j, bin)| change(i, j, bin));
        let n_nodes = posterior.n_nodes();
        let logit = |claims| posterior.evidence_logit(Known { claims, bin: 0 });
        Self {
            similar: Corrections::new(n_nodes, || (0..n_nodes as u32).flat_map(pairs)),
            claims: FromClaims::new(posterior.beta(), [0, 1, 2].map(logit), (any, both)),
        }
    }

    pub(super) fn n_nodes(&self) -> usize {
        self.claims.exp_minus_beta.len()
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
            arch.dispatch(AddRow { operator: &self.claims, node, x, out });
            if self.similar.n_entries() > 0 {
                let mut sums: Vec<f64> = out.iter().map(|&sum| sum.wide()).collect();
                self.similar.add_row(node, x, &mut sums, out);
                out.iter_mut().zip(sums).for_each(|(out, sum)| *out = T::of(sum));
            }
        });
        product
    }
}

impl<T: Real> FromClaims<T> {
    fn new(beta: &[f64], logits: [f64; 3], (any, both): (Arc<BitMatrix>, Arc<BitMatrix>)) -> Self {
        let exp_minus = |logit: f64| T::of(libm::exp(-logit));
        let exp_minus_beta = beta.iter().copied().map(exp_minus).collect();
        Self { exp_minus_beta, exp_minus_evidence: logits.map(exp_minus), any, both }
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
        let columns = &self.exp_minus_beta[word * LANES..((word + 1) * LANES).min(self.exp_minus_beta.len())];
        for (entry, &other) in entries.iter_mut().zip(columns) {
            *entry = T::ONE / (T::ONE + own * other * *entry);
        }
        if node / LANES == word {
            entries[node % LANES] = T::default();
        }
        entries
    }
}

/// `Σ_{j≠i} k(β_i + β_j + l_ij) v_j` for every node, where `l_ij` is the log likelihood ratio of the claims alone;
/// `None` where claims are listed, for then sums over the listed pairs are cheaper.
///
/// # Complexity
/// `O(n²)`, of some nanosecond per pair.
///
/// # Precision
/// Double for probabilities; slopes are formed in single precision and summed in double: a Newton step needs no more.
///
/// # Panics
/// For [`Kernel::Softplus`].
#[must_use]
pub fn dense_sums(
    evidence: &LinkEvidence,
    epsilon_links: f64,
    kernel: Kernel,
    beta: &[f64],
    v: &[f64],
) -> Option<Vec<f64>> {
    let planes = evidence.planes()?;
    Some(match kernel {
        Kernel::Logistic => all_rows::<f64>(planes, epsilon_links, false, beta, v),
        Kernel::LogisticSlope => all_rows::<f32>(planes, epsilon_links, true, beta, v),
        Kernel::Softplus => unreachable!("no sum over nodes needs it"),
    })
}

fn all_rows<T: Real>(
    (any, both): (&Arc<BitMatrix>, &Arc<BitMatrix>),
    epsilon_links: f64,
    is_slope: bool,
    beta: &[f64],
    v: &[f64],
) -> Vec<f64> {
    let [logits] = evidence_logits(epsilon_links, &[])[..] else { unreachable!("no bins") };
    let claims = FromClaims::<T>::new(beta, logits, (any.clone(), both.clone()));
    let v: Vec<T> = v.iter().copied().map(T::of).collect();
    let arch = Arch::new();
    let sum = |node: usize| arch.dispatch(RowSum { claims: &claims, node, v: &v, is_slope });
    (0..beta.len()).into_par_iter().map(sum).collect()
}

struct RowSum<'a, T: Real> {
    claims: &'a FromClaims<T>,
    node: usize,
    v: &'a [T],
    is_slope: bool,
}

impl<T: Real> WithSimd for RowSum<'_, T> {
    type Output = f64;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> f64 {
        /// Side by side: enough to hide the latency of an addition.
        const SUMS: usize = 16;
        let Self { claims, node, v, is_slope } = self;
        let mut sums = [0.0_f64; SUMS];
        for (word, v) in v.chunks(LANES).enumerate() {
            let entries = claims.entries(node, word);
            let mut partial = [T::default(); SUMS];
            for (entries, v) in entries.as_chunks::<SUMS>().0.iter().zip(v.chunks(SUMS)) {
                for ((sum, &entry), &v) in partial.iter_mut().zip(entries).zip(v) {
                    let slope = if is_slope { entry * (T::ONE - entry) } else { entry };
                    *sum += slope * v;
                }
            }
            sums.iter_mut().zip(partial).for_each(|(sum, partial)| *sum += partial.wide());
        }
        sums.iter().sum()
    }
}
