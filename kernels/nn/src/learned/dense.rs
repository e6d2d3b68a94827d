//! Products with a dense square matrix, and a step of Adam on its entries.
//!
//! Every row (or column) is computed by one thread, so results do not depend on the number of threads.

#![expect(clippy::inline_always, reason = "what `dispatch` calls takes its vector width only where it is inlined")]

use pulp::{Arch, Simd, WithSimd};
use rayon::prelude::*;

use crate::adam::{ADAM_EPSILON, BETAS};
use veilgraph_operator::lanes::for_lanes;

/// Rows that are multiplied at once. With so few, their sums stay in registers.
const ROWS: usize = 4;
/// Columns that are summed at once. With so few, their sums stay in the fastest cache.
const COLUMNS: usize = 256;
/// Entries of a row that are stepped at once.
const BLOCK: usize = 64;

/// `A x`.
///
/// # Shapes
/// `matrix`: `A`, row-major `[n, n]`. `x` and the result: row-major `[n, width]`.
pub(super) fn product(matrix: &[f32], x: &[f32], width: usize) -> Vec<f32> {
    let n = x.len() / width;
    let mut out = vec![0.0; x.len()];
    out.par_chunks_mut(ROWS * width).zip(matrix.par_chunks(ROWS * n)).for_each(|(out, matrix)| {
        Arch::new().dispatch(Rows { matrix, x, width, out });
    });
    out
}

/// Up to [`ROWS`] rows of `A x`.
struct Rows<'a> {
    /// These rows of `A`.
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

/// Writes rows of `A x` to `out`, with the width as a constant if it is `LANES`, and at any width if `LANES` is 0.
#[inline(always)]
fn rows<const LANES: usize>(matrix: &[f32], x: &[f32], width: usize, out: &mut [f32]) {
    let n = x.len() / width;
    if LANES > 0 && matrix.len() == ROWS * n {
        let mut sums = [[0.0; LANES]; ROWS];
        // Zipping tells the compiler that all rows have one length, so that it checks no index in the loop.
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

/// `Aᵀ x`; shapes as in [`product`].
pub(super) fn adjoint_product(matrix: &[f32], x: &[f32], width: usize) -> Vec<f32> {
    let n = x.len() / width;
    let mut out = vec![0.0; x.len()];
    out.par_chunks_mut(COLUMNS * width).enumerate().for_each(|(chunk, out)| {
        Arch::new().dispatch(Columns { matrix, x, width, n, first: chunk * COLUMNS, out });
    });
    out
}

/// Up to [`COLUMNS`] rows of `Aᵀ x`, which are columns of `A`.
struct Columns<'a> {
    matrix: &'a [f32],
    x: &'a [f32],
    width: usize,
    n: usize,
    /// The first of these columns.
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

/// Adds columns of `A`, times `x`, to `out`, which is zero; `LANES` as in [`rows`].
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

/// `x`, row-major `[n, width]`, as row-major `[width, n]`.
pub(super) fn transposed(x: &[f32], width: usize) -> Vec<f32> {
    let n = x.len() / width;
    (0..width).flat_map(|column| (0..n).map(move |row| x[row * width + column])).collect()
}

/// Frobenius norm of the difference of two matrices, row-major `[n, n]`.
///
/// Rows are summed on many threads, but their sums are added in order, so that the number of threads changes no bit.
pub(super) fn distance(a: &[f32], b: &[f32], n: usize) -> f64 {
    let row = |(a, b): (&[f32], &[f32])| a.iter().zip(b).map(|(a, b)| f64::from(a - b).powi(2)).sum::<f64>();
    let rows: Vec<f64> = a.par_chunks(n).zip(b.par_chunks(n)).map(row).collect();
    rows.iter().sum::<f64>().sqrt()
}

/// What all rows of a step have in common.
#[derive(Clone, Copy)]
pub(super) struct Step {
    /// Step size, corrected for the start of the moments at zero.
    pub learning_rate: f32,
    /// Multiplies the root of the second moment.
    pub to_second: f32,
    /// Price of the distance from the reported links, divided by this distance.
    pub deviation: f32,
    /// Price of the sum of absolute weights.
    pub sparsity: f32,
}

/// One row of weights with what its gradient is made of.
pub(super) struct LinkRow<'a> {
    /// Whose row it is.
    pub node: usize,
    /// `[n]`, as are the moments and the reported weights.
    pub weights: &'a mut [f32],
    pub first: &'a mut [f32],
    pub second: &'a mut [f32],
    pub reported: &'a [f32],
    /// Gradients of the loss by what the node received, `[lanes of all layers]`.
    pub gradient: &'a [f32],
    /// What every node sent, `[lanes of all layers, n]`.
    pub inputs: &'a [f32],
    /// What the row is multiplied by.
    pub left: f32,
    /// What every column is multiplied by, `[n]`.
    pub right: &'a [f32],
    /// Gradient of the loss by the sum of the row.
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
            for (&g, y) in row.gradient.iter().zip(row.inputs.chunks_exact(n)) {
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
        // A node has no link to itself: the network reads the node's own features by a weight of their own.
        row.weights[row.node] = 0.0;
    }
}

/// One step of Adam on a row of weights.
///
/// The gradient of the loss by the weight from node `j` is `left · right_j · Σ_l g_l x_lj` over the lanes `l` of all
/// layers, plus the gradient by the row's sum; then come the two penalties.
///
/// # Source
/// Kingma, Ba (2015), algorithm 1; the penalties are those of Lin, Li, Wang (2022), Solitude.
pub(super) fn step_row(row: LinkRow, step: Step) {
    Arch::new().dispatch(StepRow(row, step));
}
