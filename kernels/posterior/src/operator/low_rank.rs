//! This module applies the soft graph where few pairs are known: a smooth part of low rank is corrected at the known
//! pairs.

#![expect(clippy::inline_always, reason = "what `dispatch` calls takes its vector width only where it is inlined")]

use pulp::{Simd, WithSimd};
use rayon::prelude::*;
use veilgraph_graph::ProductRows;
use veilgraph_graph::vectors::dispatch;

use super::columns::{BlockRow, ColumnBlocks, add_scaled, in_blocks};
use super::corrections::Corrections;
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
        let weight = |i: usize, j: u32, known: Known| {
            let s = posterior.beta()[i] + posterior.beta()[j as usize];
            let probability = LogisticKernel::Logistic.at(s + posterior.evidence_logit(known));
            T::from_f64(probability - as_if_unknown(s))
        };
        let corrections = Corrections::new(n_nodes, |i| posterior.evidence().row(i), weight);
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

    /// Returns the rows of `P x` that are read: row `i` is `D L` times the moments of `x`, less the diagonal, plus the corrections.
    ///
    /// # Shapes
    /// `x`: `[n_nodes, width]`, row-major. Returns `[n_nodes, width]`, row-major.
    pub(super) fn apply(&self, x: &[T], width: usize, rows: ProductRows) -> Vec<T> {
        let mut product = vec![T::default(); x.len()];
        in_blocks(self, x, width, rows, &mut product);
        product
    }

    /// Returns `G Lᵀ D x`, which is all that the smooth part needs to know of `x`.
    ///
    /// # Shapes
    /// `x`: `[n_nodes]` rows. Returns `[chebyshev nodes]` rows, over all pieces.
    fn moments<const LANES: usize>(&self, x: &[[T; LANES]]) -> Vec<[T; LANES]> {
        /// The rows of so many nodes are added by one thread; their sums are added in order, so that the number of threads
        /// changes no bit.
        const NODES: usize = 256;
        let n_chebyshev = self.smooth.core.len().isqrt();
        let smooth = &self.smooth;
        let of_nodes =
            |(task, x): (usize, &[[T; LANES]])| dispatch(Gather { smooth, n_chebyshev, x, first_row: task * NODES });
        let parts: Vec<Vec<[f64; LANES]>> = x.par_chunks(NODES).enumerate().map(of_nodes).collect();
        let mut gathered = vec![[0.0_f64; LANES]; n_chebyshev];
        for part in parts {
            gathered.as_flattened_mut().iter_mut().zip(part.as_flattened()).for_each(|(sum, part)| *sum += part);
        }
        let gathered: Vec<[T; LANES]> = gathered.iter().map(|row| row.map(T::from_f64)).collect();
        let core_row = |k: usize| &smooth.core[k * n_chebyshev..(k + 1) * n_chebyshev];
        let moment = |k: usize| {
            let mut sums = [T::default(); LANES];
            core_row(k).iter().zip(&gathered).for_each(|(&weight, row)| add_scaled(&mut sums, weight, row));
            sums
        };
        (0..n_chebyshev).map(moment).collect()
    }
}

impl<T: Real> ColumnBlocks<T> for LowRank<T> {
    fn prepared<'a, const LANES: usize>(&'a self, x: &'a [[T; LANES]]) -> impl BlockRow<T, LANES> + 'a {
        WithMoments { operator: self, moments: self.moments(x), x }
    }
}

/// The operator with the moments of a block.
struct WithMoments<'a, T, const LANES: usize> {
    operator: &'a LowRank<T>,
    /// `[chebyshev nodes]` rows.
    moments: Vec<[T; LANES]>,
    /// `[n_nodes]` rows.
    x: &'a [[T; LANES]],
}

impl<T: Real, const LANES: usize> BlockRow<T, LANES> for WithMoments<'_, T, LANES> {
    #[inline(always)]
    fn row(&self, node: usize, _: [T; LANES]) -> [T; LANES] {
        let LowRank { smooth, minus_diagonal, corrections, .. } = self.operator;
        let mut row = [T::default(); LANES];
        for (k, weight) in smooth.factor_row(node) {
            add_scaled(&mut row, weight, &self.moments[k]);
        }
        add_scaled(&mut row, minus_diagonal[node], &self.x[node]);
        let mut sums = row.map(T::to_f64);
        corrections.add_row(node, self.x, &mut sums);
        sums.map(T::from_f64)
    }
}

/// Sums the rows of `x`, which belong to the nodes from `first_row` on, with the weights `D L`. The sums are in double
/// precision, because thousands of rows add up.
struct Gather<'a, T, const LANES: usize> {
    smooth: &'a SmoothPart<T>,
    n_chebyshev: usize,
    x: &'a [[T; LANES]],
    first_row: usize,
}

impl<T: Real, const LANES: usize> WithSimd for Gather<'_, T, LANES> {
    /// `[chebyshev nodes]` rows.
    type Output = Vec<[f64; LANES]>;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> Vec<[f64; LANES]> {
        let mut sums = vec![[0.0; LANES]; self.n_chebyshev];
        for (node, row) in (self.first_row..).zip(self.x) {
            for (k, weight) in self.smooth.factor_row(node) {
                sums[k].iter_mut().zip(row).for_each(|(sum, &value)| *sum += (weight * value).to_f64());
            }
        }
        sums
    }
}
