//! This module applies the soft graph where few pairs are known: a smooth part of low rank is corrected at the known
//! pairs.

use rayon::prelude::*;

use super::corrections::{Corrections, add_scaled, row};
use super::real::Real;
use super::smooth_part::SmoothPart;
use crate::evidence::Known;
use crate::logistic_kernel::LogisticKernel;
use crate::model::Posterior;

/// Represents `P` as a smooth part of low rank plus a sparse correction at the known pairs.
///
/// An unknown pair has the probability `B_ij = σ(β_i + β_j − 2 ε_links)`. Its matrix is `B = D L G Lᵀ D` with the
/// factors of [`SmoothPart`]. `P` differs from `B` at the known pairs and on the diagonal, which is 0.
pub struct LowRank<T> {
    n_nodes: usize,
    smooth: SmoothPart<T>,
    /// Adding these numbers `−B_ii` removes the diagonal of `B`.
    minus_diagonal: Vec<T>,
    corrections: Corrections<T>,
}

impl<T: Real> LowRank<T> {
    /// Builds the operator of this posterior.
    pub(super) fn new(posterior: &Posterior) -> Self {
        let base = posterior.evidence_logit(Known::default());
        let smooth = if base == f64::NEG_INFINITY {
            SmoothPart::zero(posterior.n_nodes())
        } else {
            SmoothPart::new(posterior.beta(), base)
        };
        let as_if_unknown =
            |s: f64| if base == f64::NEG_INFINITY { 0.0 } else { LogisticKernel::Logistic.at(s + base) };
        let minus_diagonal = posterior.beta().iter().map(|&b| T::from_f64(-as_if_unknown(2.0 * b))).collect();
        let n_nodes = posterior.n_nodes();
        let corrections = Corrections::new(n_nodes, || {
            posterior.evidence().pairs().map(|(i, j, known)| {
                let s = posterior.beta()[i as usize] + posterior.beta()[j as usize];
                let probability = LogisticKernel::Logistic.at(s + posterior.evidence_logit(known));
                (i, j, T::from_f64(probability - as_if_unknown(s)))
            })
        });
        Self { n_nodes, smooth, minus_diagonal, corrections }
    }

    /// Returns how many products are summed per column of a right-hand side.
    pub(super) fn n_terms(&self) -> usize {
        2 * self.smooth.factor.len() + self.smooth.core.len() + self.corrections.n_entries()
    }

    /// Returns the number of nodes.
    pub(super) fn n_nodes(&self) -> usize {
        self.n_nodes
    }

    /// Returns `P x`: row `i` is `D L` times the moments of `x`, less the diagonal, plus the corrections.
    ///
    /// # Shapes
    /// `x`: `[n_nodes, width]`, row-major. Returns `[n_nodes, width]`, row-major.
    pub(super) fn apply(&self, x: &[T], width: usize) -> Vec<T> {
        let moments = self.moments(x, width);
        let mut product = vec![T::default(); x.len()];
        product.par_chunks_exact_mut(width.max(1)).enumerate().for_each(|(node, out)| {
            for (k, weight) in self.smooth.factor_row(node) {
                add_scaled(out, weight, row(&moments, k, width));
            }
            add_scaled(out, self.minus_diagonal[node], row(x, node, width));
            let mut sums = vec![0.0_f64; width];
            sums.iter_mut().zip(&*out).for_each(|(sum, &smooth)| *sum += smooth.to_f64());
            self.corrections.add_row(node, x, &mut sums, out);
            out.iter_mut().zip(sums).for_each(|(out, sum)| *out = T::from_f64(sum));
        });
        product
    }

    /// Returns `G Lᵀ D x`, which is all that the smooth part needs to know of `x`.
    ///
    /// # Shapes
    /// `x`: `[n_nodes, width]`, row-major. Returns `[chebyshev nodes, width]`, row-major, over all pieces.
    fn moments(&self, x: &[T], width: usize) -> Vec<T> {
        /// The rows of so many nodes are added by one thread; their sums are added in order, so that the number of threads
        /// changes no bit.
        const NODES: usize = 256;
        let n_chebyshev = self.smooth.core.len().isqrt();
        // The sums are in double precision, because thousands of rows add up here.
        let of_nodes = |(chunk, rows): (usize, &[T])| {
            let mut sums = vec![0.0_f64; n_chebyshev * width];
            for (node, values) in (chunk * NODES..).zip(rows.chunks_exact(width.max(1))) {
                for (k, weight) in self.smooth.factor_row(node) {
                    for (sum, &value) in sums[k * width..(k + 1) * width].iter_mut().zip(values) {
                        *sum += (weight * value).to_f64();
                    }
                }
            }
            sums
        };
        let parts: Vec<Vec<f64>> = x.par_chunks((NODES * width).max(1)).enumerate().map(of_nodes).collect();
        let mut gathered = vec![0.0_f64; n_chebyshev * width];
        for part in parts {
            gathered.iter_mut().zip(part).for_each(|(sum, part)| *sum += part);
        }
        let mut moments = vec![T::default(); n_chebyshev * width];
        for k in 0..n_chebyshev {
            let sums = &mut moments[k * width..(k + 1) * width];
            for l in 0..n_chebyshev {
                let weight = self.smooth.core[k * n_chebyshev + l];
                for (sum, &term) in sums.iter_mut().zip(row(&gathered, l, width)) {
                    *sum += weight * T::from_f64(term);
                }
            }
        }
        moments
    }
}
