//! This module sums a logistic kernel over all nodes in near-linear time.
//!
//! Every term of `S(x) = Σ_h w_h k(x + b_h)` has the factor `e^x`, and `S(x) e^{-x}` is analytic in the strip of
//! half-width π around the real line, because the poles of `1 / (1 + e^{-s})` nearest to it lie at `s = ±iπ`. So a
//! short Chebyshev series of `S(x) e^{-x}` gives the sum at every `x`, and since the factor is kept apart, with a small
//! relative error.

#![expect(clippy::inline_always, reason = "what `dispatch` calls takes its vector width only where it is inlined")]

use pulp::{Simd, WithSimd};
use rayon::prelude::*;

use crate::chebyshev::{Chebyshev, LANES, SeriesValues, WORTH_THREADS};
use crate::logistic_kernel::LogisticKernel;
use veilgraph_graph::vectors::dispatch;

/// Holds the distinct values among the parameters of the nodes, and which nodes share each: its group.
///
/// # Shapes
/// `values` and `counts`: `[groups]`; `group_of_node`: `[n]`.
pub struct DistinctParameters {
    values: Vec<f64>,
    counts: Vec<f64>,
    group_of_node: Vec<u32>,
}

impl DistinctParameters {
    /// Groups the nodes with equal parameters; the values ascend.
    #[must_use]
    pub fn new(parameters: &[f64]) -> Self {
        let mut order: Vec<u32> = (0..parameters.len() as u32).collect();
        order.sort_by(|&a, &b| parameters[a as usize].total_cmp(&parameters[b as usize]));
        let (mut values, mut counts, mut group_of_node) = (Vec::new(), Vec::new(), vec![0; parameters.len()]);
        for node in order {
            let value = parameters[node as usize];
            if values.last() != Some(&value) {
                values.push(value);
                counts.push(0.0);
            }
            group_of_node[node as usize] = values.len() as u32 - 1;
            counts[values.len() - 1] += 1.0;
        }
        Self { values, counts, group_of_node }
    }

    /// Makes every node a group of its own, whether or not parameters are equal; the values stay in the order of the
    /// nodes.
    #[must_use]
    pub fn one_per_node(values: Vec<f64>) -> Self {
        Self { counts: vec![1.0; values.len()], group_of_node: (0..values.len() as u32).collect(), values }
    }

    /// Returns the value of each group.
    #[must_use]
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// Returns the number of nodes of each group.
    #[must_use]
    pub fn counts(&self) -> &[f64] {
        &self.counts
    }

    /// Returns the group of each node.
    #[must_use]
    pub fn group_of_node(&self) -> &[u32] {
        &self.group_of_node
    }

    /// Returns the same groups with other `values`, one for each group.
    #[must_use]
    pub fn with_values(&self, values: Vec<f64>) -> Self {
        Self { values, counts: self.counts.clone(), group_of_node: self.group_of_node.clone() }
    }

    /// Returns `Σ_h weights_h k(b_g + b_h + shift)` for every group `g`, where `b` are the values.
    ///
    /// # Shapes
    /// `weights`: `[groups]`. Returns `[groups]`.
    ///
    /// # Complexity
    /// `O(groups · rank)`, where the rank of the series is some 30 to 60; `O(groups²)` where the series does not
    /// converge.
    #[must_use]
    pub fn sums(&self, kernel: LogisticKernel, shift: f64, weights: &[f64]) -> Vec<f64> {
        /// For so few groups all pairs of groups cost no more than a series.
        const MOST_SUMMED_DIRECTLY: usize = 192;
        if shift == f64::NEG_INFINITY {
            return vec![0.0; self.values.len()];
        }
        let exp_minus_b: Vec<f64> = self.values.iter().map(|&b| libm::exp(-b)).collect();
        let scaled_sum =
            |x: f64| dispatch(ScaledSum { kernel, exp_x: libm::exp(x), exp_minus_b: &exp_minus_b, weights });
        let (low, high) = least_and_largest(&self.values);
        let series = if self.values.len() <= MOST_SUMMED_DIRECTLY {
            None
        } else {
            Chebyshev::fit(low + shift, high + shift, self.values.len(), &scaled_sum)
        };
        let mut sums = vec![0.0; self.values.len()];
        let evaluate = |(sums, values): (&mut [f64], &[f64])| {
            // The last chunk of values may be shorter than the lanes; the lanes that are left compute at `low` for
            // nothing.
            let mut points = [low + shift; LANES];
            points.iter_mut().zip(values).for_each(|(point, &b)| *point = b + shift);
            let scaled = match &series {
                Some(series) => dispatch(SeriesValues { series, points }),
                None => points.map(scaled_sum),
            };
            let unscaled = points.iter().zip(scaled).map(|(&point, value)| libm::exp(point) * value);
            sums.iter_mut().zip(unscaled).for_each(|(sum, value)| *sum = value);
        };
        if self.values.len() < WORTH_THREADS {
            sums.chunks_mut(LANES).zip(self.values.chunks(LANES)).for_each(evaluate);
        } else {
            sums.par_chunks_mut(LANES).zip(self.values.par_chunks(LANES)).for_each(evaluate);
        }
        sums
    }

    /// Returns `Σ_{i<j} k(b_i + b_j + shift)` over all pairs of nodes.
    #[must_use]
    pub fn pair_sum(&self, kernel: LogisticKernel, shift: f64) -> f64 {
        if shift == f64::NEG_INFINITY {
            return 0.0;
        }
        let sums = self.sums(kernel, shift, &self.counts);
        let ordered_pairs: f64 = sums.iter().zip(&self.counts).map(|(&sum, &count)| count * sum).sum();
        let nodes_with_themselves: f64 =
            self.values.iter().zip(&self.counts).map(|(&b, &count)| count * kernel.at(2.0 * b + shift)).sum();
        (ordered_pairs - nodes_with_themselves) / 2.0
    }
}

/// Returns the least and the largest of `values`, or `(∞, −∞)` if there are none.
pub(crate) fn least_and_largest(values: &[f64]) -> (f64, f64) {
    values.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), &value| (low.min(value), high.max(value)))
}

/// Computes `Σ_h weights_h k(x + b_h) e^{-x}`.
///
/// # Shapes
/// `exp_minus_b` and `weights`: `[groups]`.
struct ScaledSum<'a> {
    kernel: LogisticKernel,
    exp_x: f64,
    exp_minus_b: &'a [f64],
    weights: &'a [f64],
}

impl ScaledSum<'_> {
    /// Returns `Σ_h weights_h scaled(e^{-b_h})`.
    ///
    /// The terms are summed in parts, and these sums again: the rounding errors of a million terms in one running sum would be
    /// taken for coefficients of a series that does not converge.
    #[inline(always)]
    fn sum_of_terms(&self, scaled: impl Fn(f64) -> f64) -> f64 {
        /// As many terms as one running sum was measured to bear in a graph of no more nodes: four thousand in each lane.
        const MOST_IN_ONE_SUM: usize = 1 << 15;
        /// Terms of a part, where there are several. The rounding errors of parts as long as one sum can add up to more than the
        /// last coefficients of a series may have. Then all pairs are summed: of a million nodes, that took two minutes for one sum.
        const PART: usize = 1 << 11;
        let part = if self.weights.len() <= MOST_IN_ONE_SUM { MOST_IN_ONE_SUM } else { PART };
        let parts = self.exp_minus_b.chunks(part).zip(self.weights.chunks(part));
        parts.map(|(exp_minus_b, weights)| Self::sum_of_part(exp_minus_b, weights, &scaled)).sum()
    }

    /// Sums some terms: one running sum in each lane, then the sums of the lanes in order, then the terms that fill no more
    /// lanes.
    #[inline(always)]
    fn sum_of_part(exp_minus_b: &[f64], weights: &[f64], scaled: &impl Fn(f64) -> f64) -> f64 {
        let ((exp_minus_b, last_exp_minus_b), (weights, last_weights)) =
            (exp_minus_b.as_chunks::<LANES>(), weights.as_chunks::<LANES>());
        let mut lanes = [0.0; LANES];
        for (exp_minus_b, weights) in exp_minus_b.iter().zip(weights) {
            for ((lane, &exp_minus_b), &weight) in lanes.iter_mut().zip(exp_minus_b).zip(weights) {
                *lane += weight * scaled(exp_minus_b);
            }
        }
        let last_terms = last_exp_minus_b.iter().zip(last_weights).map(|(&b, &weight)| weight * scaled(b));
        let rest: f64 = last_terms.sum();
        lanes.iter().sum::<f64>() + rest
    }
}

impl WithSimd for ScaledSum<'_> {
    type Output = f64;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> f64 {
        use LogisticKernel::{Logistic, LogisticSlope, Softplus};
        // Every kernel has a loop of its own, so that no loop branches inside.
        let exp_x = self.exp_x;
        match self.kernel {
            Logistic => self.sum_of_terms(|exp_minus_b| Logistic.scaled(exp_x, exp_minus_b)),
            LogisticSlope => self.sum_of_terms(|exp_minus_b| LogisticSlope.scaled(exp_x, exp_minus_b)),
            Softplus => self.sum_of_terms(|exp_minus_b| Softplus.scaled(exp_x, exp_minus_b)),
        }
    }
}

#[cfg(test)]
mod tests;
