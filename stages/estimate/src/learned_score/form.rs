//! This module computes scores from the coordinates of two nodes, and sums of their derivatives over many pairs.

#![expect(clippy::inline_always, reason = "what `dispatch` calls takes its vector width only where it is inlined")]

use pulp::{Simd, WithSimd};

use super::chosen::{ChosenPair, Stripe};
use super::coordinates::{Coordinates, RANK};

/// Is the score `v_iᵀ M v_j + c`, in single precision: scores have errors of a millionth, and reports tell tenths.
pub(super) struct Form {
    metric: [[f32; RANK]; RANK],
    constant: f32,
}

impl Form {
    /// Takes the entries of `M`, row by row, and `c`.
    pub(super) fn new(parameters: &[f64]) -> Self {
        let mut metric = [[0.0_f32; RANK]; RANK];
        for (entry, &parameter) in metric.as_flattened_mut().iter_mut().zip(parameters) {
            *entry = parameter as f32;
        }
        Self { metric, constant: parameters[RANK * RANK] as f32 }
    }

    /// Returns `v_iᵀ M`.
    #[inline(always)]
    pub(super) fn mapped(&self, own: &[f32; RANK]) -> [f32; RANK] {
        let mut mapped = [0.0_f32; RANK];
        for (&own, row) in own.iter().zip(&self.metric) {
            mapped.iter_mut().zip(row).for_each(|(mapped, &entry)| *mapped += own * entry);
        }
        mapped
    }

    /// Returns the score of a pair from `v_iᵀ M` and `v_j`.
    #[inline(always)]
    pub(super) fn score(&self, mapped: &[f32; RANK], other: &[f32; RANK]) -> f32 {
        /// So many sums run side by side, in one vector of AVX2 or two of SSE2.
        const LANES: usize = 8;
        let mut sums = [0.0_f32; LANES];
        for (mapped, other) in mapped.chunks_exact(LANES).zip(other.chunks_exact(LANES)) {
            for ((sum, &mapped), &other) in sums.iter_mut().zip(mapped).zip(other) {
                *sum += mapped * other;
            }
        }
        let [a, b, c, d, e, f, g, h] = sums;
        ((a + e) + (c + g)) + ((b + f) + (d + h)) + self.constant
    }
}

/// Sums the derivatives of the scores of a stripe by all parameters, each pair with a weight: `weigh` returns it from the
/// number of the pair in the stripe, the pair, and its score.
///
/// Every width of vectors gives the same bits, because every lane sums a column of its own.
///
/// # Shapes
/// The sums are `[N_PARAMETERS]`, where the derivative by an entry of `M` is taken as if `M` had no symmetry.
pub(super) struct Sums<'a, F> {
    pub stripe: &'a Stripe,
    pub coordinates: &'a Coordinates,
    pub form: &'a Form,
    pub weigh: F,
}

impl<F: FnMut(usize, &ChosenPair, f32) -> f32> WithSimd for Sums<'_, F> {
    type Output = Vec<f64>;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> Vec<f64> {
        let Self { stripe, coordinates, form, mut weigh } = self;
        let mut of_metric = [[0.0_f64; RANK]; RANK];
        let mut of_constant = 0.0_f64;
        for (node, numbers) in &stripe.rows {
            let own = coordinates.row(*node);
            let mapped = form.mapped(own);
            let mut of_row = [0.0_f32; RANK];
            for (number, chosen) in numbers.clone().zip(&stripe.pairs[numbers.clone()]) {
                let other = coordinates.row(chosen.pair.partner as usize);
                let weight = weigh(number, chosen, form.score(&mapped, other));
                of_row.iter_mut().zip(other).for_each(|(sum, &other)| *sum += weight * other);
                of_constant += f64::from(weight);
            }
            let of_row = of_row.map(f64::from);
            for (sums, &own) in of_metric.iter_mut().zip(own) {
                let own = f64::from(own);
                sums.iter_mut().zip(&of_row).for_each(|(sum, &of_row)| *sum += own * of_row);
            }
        }
        let mut sums = of_metric.as_flattened().to_vec();
        sums.push(of_constant);
        sums
    }
}
