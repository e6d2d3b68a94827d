//! Products with a dense square matrix, and a step on its entries. Rows (or columns) are independent, so results do
//! not depend on the number of threads.

#![expect(clippy::inline_always, reason = "what `dispatch` calls takes its vector width only where it is inlined")]

use pulp::{Arch, Simd, WithSimd};
use rayon::prelude::*;

use crate::kernels::{ADAM_EPSILON, BETAS};
use crate::lanes::for_lanes;

/// Rows that are multiplied at once: their sums stay in registers.
const ROWS: usize = 4;
/// Columns whose sums stay in the fastest memory.
const COLUMNS: usize = 256;
/// Entries of a row that are stepped at once.
const BLOCK: usize = 64;

/// `A x` for a row-major square `A` and `x` of shape `[n, width]`.
pub(super) fn product(matrix: &[f32], x: &[f32], width: usize) -> Vec<f32> {
    let n = x.len() / width;
    let mut out = vec![0.0; x.len()];
    out.par_chunks_mut(ROWS * width).zip(matrix.par_chunks(ROWS * n)).for_each(|(out, matrix)| {
        Arch::new().dispatch(Rows { matrix, x, width, out });
    });
    out
}

struct Rows<'a> {
    matrix: &'a [f32],
    x: &'a [f32],
    width: usize,
    out: &'a mut [f32],
}

impl WithSimd for Rows<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let Self { matrix, x, width, out } = self;
        for_lanes!(width, LANES => rows::<LANES>(matrix, x, width, out));
    }
}

#[inline(always)]
fn rows<const LANES: usize>(matrix: &[f32], x: &[f32], width: usize, out: &mut [f32]) {
    let n = x.len() / width;
    if LANES > 0 && matrix.len() == ROWS * n {
        let mut sums = [[0.0; LANES]; ROWS];
        let [a, b, c, d] = [0, 1, 2, 3].map(|row| &matrix[row * n..(row + 1) * n]);
        for ((((x, a), b), c), d) in x.chunks_exact(LANES).zip(a).zip(b).zip(c).zip(d) {
            for lane in 0..LANES {
                sums[0][lane] += a * x[lane];
                sums[1][lane] += b * x[lane];
                sums[2][lane] += c * x[lane];
                sums[3][lane] += d * x[lane];
            }
        }
        out.chunks_exact_mut(LANES).zip(sums).for_each(|(out, sums)| out.copy_from_slice(&sums));
        return;
    }
    for (row, out) in matrix.chunks_exact(n).zip(out.chunks_exact_mut(width)) {
        for (x, a) in x.chunks_exact(width).zip(row) {
            out.iter_mut().zip(x).for_each(|(out, x)| *out += a * x);
        }
    }
}

/// `Aᵀ x`.
pub(super) fn adjoint_product(matrix: &[f32], x: &[f32], width: usize) -> Vec<f32> {
    let n = x.len() / width;
    let mut out = vec![0.0; x.len()];
    out.par_chunks_mut(COLUMNS * width).enumerate().for_each(|(chunk, out)| {
        Arch::new().dispatch(Columns { matrix, x, width, n, first: chunk * COLUMNS, out });
    });
    out
}

struct Columns<'a> {
    matrix: &'a [f32],
    x: &'a [f32],
    width: usize,
    n: usize,
    first: usize,
    out: &'a mut [f32],
}

impl WithSimd for Columns<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let Self { matrix, x, width, n, first, out } = self;
        for_lanes!(width, LANES => columns::<LANES>(matrix, x, width, n, first, out));
    }
}

#[inline(always)]
fn columns<const LANES: usize>(matrix: &[f32], x: &[f32], width: usize, n: usize, first: usize, out: &mut [f32]) {
    let width = if LANES == 0 { width } else { LANES };
    let last = first + out.len() / width;
    for (row, x) in matrix.chunks_exact(n).zip(x.chunks_exact(width)) {
        for (out, a) in out.chunks_exact_mut(width).zip(&row[first..last]) {
            out.iter_mut().zip(x).for_each(|(out, x)| *out += a * x);
        }
    }
}

/// A row-major matrix of rows of `width`, transposed.
pub(super) fn transposed(x: &[f32], width: usize) -> Vec<f32> {
    let n = x.len() / width;
    (0..width).flat_map(|column| (0..n).map(move |row| x[row * width + column])).collect()
}

/// What all rows of a step have in common.
#[derive(Clone, Copy)]
pub(super) struct Step {
    pub learning_rate: f32,
    pub to_second: f32,
    /// Price of the deviation over its present size.
    pub deviation: f32,
    pub sparsity: f32,
}

/// One row of weights with what its gradient is made of.
pub(super) struct LinkRow<'a> {
    pub node: usize,
    pub weights: &'a mut [f32],
    pub first: &'a mut [f32],
    pub second: &'a mut [f32],
    pub reported: &'a [f32],
    /// Gradients of the products of this node, layer after layer.
    pub gradient: &'a [f32],
    /// What was multiplied, transposed: `[lanes of all layers, n]`.
    pub y: &'a [f32],
    pub left: f32,
    pub right: &'a [f32],
    /// Gradient by the sum of this row.
    pub by_sum: f32,
}

struct StepRow<'a>(LinkRow<'a>, Step);

impl WithSimd for StepRow<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let Self(row, step) = self;
        let n = row.weights.len();
        for start in (0..n).step_by(BLOCK) {
            let size = BLOCK.min(n - start);
            let mut by_map = [0.0; BLOCK];
            for (&g, y) in row.gradient.iter().zip(row.y.chunks_exact(n)) {
                by_map.iter_mut().zip(&y[start..start + size]).for_each(|(sum, y)| *sum += g * y);
            }
            for (at, by_map) in (start..start + size).zip(by_map) {
                let (weight, reported) = (row.weights[at], row.reported[at]);
                let sign = if weight == 0.0 { 0.0 } else { weight.signum() };
                let gradient = row.left * row.right[at] * by_map
                    + row.by_sum
                    + step.deviation * (weight - reported)
                    + step.sparsity * sign;
                let first = BETAS[0] * row.first[at] + (1.0 - BETAS[0]) * gradient;
                let second = BETAS[1] * row.second[at] + (1.0 - BETAS[1]) * gradient * gradient;
                (row.first[at], row.second[at]) = (first, second);
                row.weights[at] = weight - step.learning_rate * first / (second.sqrt() * step.to_second + ADAM_EPSILON);
            }
        }
        // A node has no link to itself: its own features have a weight of their own.
        row.weights[row.node] = 0.0;
    }
}

/// One step of Adam on a row of weights.
pub(super) fn step_row(row: LinkRow, step: Step) {
    Arch::new().dispatch(StepRow(row, step));
}
