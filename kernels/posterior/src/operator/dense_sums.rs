//! This module sums over all partners of every node where many pairs are claimed.

use pulp::{Simd, WithSimd};
use rayon::prelude::*;

use super::claim_entries::ClaimEntries;
use super::real::{Real, WORD};
use crate::claims::ClaimPlanes;
use crate::evidence::LinkEvidence;
use crate::logistic_kernel::LogisticKernel;
use crate::model::evidence_logits;
use veilgraph_graph::vectors::dispatch;

/// Returns `Σ_{j≠i} k(β_i + β_j + l_ij) v_j` for every node `i`, where `l_ij` are the log odds that the claims alone
/// add. It returns `None` where claims are listed, because sums over the listed pairs are then cheaper.
///
/// # Shapes
/// `beta` and `v`: `[n_nodes]`. Returns `[n_nodes]`.
///
/// # Complexity
/// `O(n²)`, with about a nanosecond per pair.
///
/// # Precision
/// Probabilities are formed in double precision. Slopes are formed in single precision and summed in double precision,
/// because a Newton step needs no more.
///
/// # Panics
/// Panics for [`LogisticKernel::Softplus`].
#[must_use]
pub fn dense_sums(
    evidence: &LinkEvidence,
    epsilon_links: f64,
    kernel: LogisticKernel,
    beta: &[f64],
    v: &[f64],
) -> Option<Vec<f64>> {
    let planes = evidence.planes()?;
    Some(match kernel {
        LogisticKernel::Logistic => all_rows::<f64>(planes, epsilon_links, false, beta, v),
        LogisticKernel::LogisticSlope => all_rows::<f32>(planes, epsilon_links, true, beta, v),
        LogisticKernel::Softplus => unreachable!("no sum over nodes needs it"),
    })
}

/// Sums the probabilities, or their slopes, with the weights `v` over every row.
///
/// # Shapes
/// They are those of [`dense_sums`].
fn all_rows<T: Real>(planes: &ClaimPlanes, epsilon_links: f64, is_slope: bool, beta: &[f64], v: &[f64]) -> Vec<f64> {
    let [logits] = evidence_logits(epsilon_links, &[])[..] else { unreachable!("bin 0 is the only one") };
    let claims = ClaimEntries::<T>::new(beta, logits, planes.clone());
    let mut v: Vec<T> = v.iter().copied().map(T::from_f64).collect();
    v.resize(v.len().next_multiple_of(WORD), T::default());
    let sum = |node: usize| dispatch(RowSum { claims: &claims, node, v: &v, is_slope });
    (0..beta.len()).into_par_iter().map(sum).collect()
}

/// Computes `Σ_j P_ij v_j`, or `Σ_j P_ij (1 − P_ij) v_j` for slopes, for one row `i`.
///
/// # Shapes
/// `v`: `[n_nodes]`, then zeros up to a whole word.
struct RowSum<'a, T: Real> {
    claims: &'a ClaimEntries<T>,
    node: usize,
    v: &'a [T],
    is_slope: bool,
}

impl<T: Real> WithSimd for RowSum<'_, T> {
    type Output = f64;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> f64 {
        /// This many sums run side by side, which is enough to hide the latency of an addition.
        const SUMS: usize = 16;
        let Self { claims, node, v, is_slope } = self;
        let mut sums = [0.0_f64; SUMS];
        let mut entries = [T::default(); WORD];
        for (word, v) in v.as_chunks::<WORD>().0.iter().enumerate() {
            claims.write(node, word, &mut entries);
            if is_slope {
                entries.iter_mut().for_each(|entry| *entry = *entry * (T::ONE - *entry));
            }
            let mut partial = [T::default(); SUMS];
            for (entries, v) in entries.as_chunks::<SUMS>().0.iter().zip(v.as_chunks::<SUMS>().0) {
                for ((sum, &entry), &v) in partial.iter_mut().zip(entries).zip(v) {
                    *sum += entry * v;
                }
            }
            sums.iter_mut().zip(partial).for_each(|(sum, partial)| *sum += partial.to_f64());
        }
        sums.iter().sum()
    }
}
