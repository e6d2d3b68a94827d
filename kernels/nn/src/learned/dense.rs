//! A step of Adam on the entries of a dense square matrix.
//!
//! Every row is computed by one thread, and every entry by the same operations whatever the width of the processor's vectors, so
//! results depend neither on the number of threads nor on the processor.

#![expect(clippy::inline_always, reason = "what `dispatch` calls takes its vector width only where it is inlined")]

use pulp::{Simd, WithSimd};
use veilgraph_graph::vectors::dispatch_long;

use super::aligned::AlignedNumbers;
use crate::adam::{ADAM_EPSILON, BETAS};

/// Entries of a row that are stepped at once.
const BLOCK: usize = 128;
/// The gradients of so many vectors of entries are summed side by side, in registers.
const VECTORS: usize = 8;

/// Returns `x`, row-major `[n, width]`, as row-major `[width, n]` with zeros at the end of each row, up to whole blocks.
pub(super) fn in_blocks(x: &[f32], width: usize) -> AlignedNumbers {
    let stride = (x.len() / width).next_multiple_of(BLOCK);
    let mut blocks = AlignedNumbers::zeros(width * stride);
    for (row, values) in x.chunks_exact(width).enumerate() {
        for (column, &value) in values.iter().enumerate() {
            blocks[column * stride + row] = value;
        }
    }
    blocks
}

/// What a row of weights is after a step.
pub(super) struct SteppedRow {
    /// The sum of the weights.
    pub sum: f32,
    /// The sum of the squares of their differences from the reported ones.
    pub squared_distance: f64,
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
    /// `[n]`, as are the moments.
    pub weights: &'a mut [f32],
    pub first: &'a mut [f32],
    pub second: &'a mut [f32],
    /// The reported weights, by their columns in ascending order.
    pub reported: (&'a [u32], &'a [f32]),
    /// Gradients of the loss by what the node received, `[lanes of all layers]`.
    pub gradient: &'a [f32],
    /// What every node sent, `[lanes of all layers, n up to whole blocks]`, as [`in_blocks`] returns it.
    pub inputs: &'a [f32],
    /// What the row is multiplied by.
    pub left: f32,
    /// What every column is multiplied by, `[n up to whole blocks]`, as [`in_blocks`] returns it.
    pub right: &'a [f32],
    /// Gradient of the loss by the sum of the row.
    pub by_sum: f32,
}

struct StepRow<'a>(LinkRow<'a>, Step);

impl WithSimd for StepRow<'_> {
    type Output = SteppedRow;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> SteppedRow {
        let Self(row, step) = self;
        let n = row.weights.len();
        let mut reported = vec![0.0; n.next_multiple_of(BLOCK)];
        let (columns, values) = row.reported;
        columns.iter().zip(values).for_each(|(&column, &value)| reported[column as usize] = value);
        let terms = Term::of_row(&row, reported.len());
        for start in (0..n).step_by(BLOCK) {
            let size = BLOCK.min(n - start);
            // Products and divisions take turns, block by block, so that a processor may begin the products of a block while it
            // still divides in the block before.
            let by_map = by_map(simd, &terms, start);
            let given = Given {
                right: &row.right[start..start + BLOCK],
                reported: &reported[start..start + BLOCK],
                by_map: &by_map,
                left: row.left,
                by_sum: row.by_sum,
            };
            let entries = [&mut *row.weights, &mut *row.first, &mut *row.second];
            let entries = entries.map(|values| &mut values[start..start + size]);
            if size == BLOCK {
                step_block(simd, entries, &given, step);
            } else {
                let mut padded = [[0.0; BLOCK]; 3];
                padded.iter_mut().zip(&entries).for_each(|(padded, values)| padded[..size].copy_from_slice(values));
                step_block(simd, padded.each_mut().map(|values| &mut values[..]), &given, step);
                entries.into_iter().zip(&padded).for_each(|(values, padded)| values.copy_from_slice(&padded[..size]));
            }
        }
        // A node has no link to itself: the network reads the node's own features by a weight of their own.
        row.weights[row.node] = 0.0;
        totals_of_row(row.weights, &reported)
    }
}

/// One term of the gradients of a row: a number of the row's own, times what every node sent.
struct Term<'a> {
    gradient: f32,
    /// `[n up to whole blocks]`.
    inputs: &'a [f32],
}

impl<'a> Term<'a> {
    /// Returns a term for each lane with a gradient. The lanes of the last layer have none at nodes whose logits nobody reads.
    fn of_row(row: &LinkRow<'a>, stride: usize) -> Vec<Self> {
        let lanes = row.gradient.iter().zip(row.inputs.chunks_exact(stride));
        lanes.filter(|&(&gradient, _)| gradient != 0.0).map(|(&gradient, inputs)| Self { gradient, inputs }).collect()
    }
}

/// Returns the gradients of the loss by the block of the scaled matrix that begins in this column.
#[inline(always)]
fn by_map<S: Simd>(simd: S, terms: &[Term], first_column: usize) -> [f32; BLOCK] {
    const { assert!(BLOCK.is_multiple_of(VECTORS * S::F32_LANES), "a block has whole groups of vectors") };
    let mut by_map = [0.0; BLOCK];
    for (group, sums) in S::as_mut_simd_f32s(&mut by_map).0.chunks_exact_mut(VECTORS).enumerate() {
        let column = first_column + group * VECTORS * S::F32_LANES;
        let mut own = [simd.splat_f32s(0.0); VECTORS];
        for &Term { gradient, inputs } in terms {
            let (inputs, _) = S::as_simd_f32s(&inputs[column..column + VECTORS * S::F32_LANES]);
            let gradient = simd.splat_f32s(gradient);
            for (sum, &input) in own.iter_mut().zip(inputs) {
                *sum = simd.mul_add_f32s(gradient, input, *sum);
            }
        }
        sums.copy_from_slice(&own);
    }
    by_map
}

/// So many sums of a row are formed side by side; which weight goes into which does not depend on the processor.
const LANES: usize = 16;
/// So many squares are added in each lane in single precision, before they are added in double precision.
const SQUARES: usize = 4;

/// Returns the sums over a row of weights.
#[inline(always)]
fn totals_of_row(weights: &[f32], reported: &[f32]) -> SteppedRow {
    let mut sums = [0.0; LANES];
    let mut squares = [0.0; LANES];
    for (weights, reported) in weights.chunks(SQUARES * LANES).zip(reported.chunks_exact(SQUARES * LANES)) {
        let mut padded = [0.0; SQUARES * LANES];
        padded[..weights.len()].copy_from_slice(weights);
        let mut of_block = [0.0_f32; LANES];
        for (weights, reported) in padded.chunks_exact(LANES).zip(reported.chunks_exact(LANES)) {
            for lane in 0..LANES {
                sums[lane] += weights[lane];
                let difference = weights[lane] - reported[lane];
                of_block[lane] += difference * difference;
            }
        }
        for lane in 0..LANES {
            squares[lane] += f64::from(of_block[lane]);
        }
    }
    SteppedRow { sum: sums.iter().sum(), squared_distance: squares.iter().sum() }
}

/// What the gradients of a block are made of; lists are `[BLOCK]`.
struct Given<'a> {
    right: &'a [f32],
    reported: &'a [f32],
    by_map: &'a [f32],
    left: f32,
    by_sum: f32,
}

/// Steps a block of weights, with their first and second moments.
///
/// # Shapes
/// `entries`: weights, first and second moments, `[BLOCK]` each.
#[inline(always)]
fn step_block<S: Simd>(simd: S, entries: [&mut [f32]; 3], given: &Given, step: Step) {
    let [(weights, _), (first, _), (second, _)] = entries.map(S::as_mut_simd_f32s);
    let [right, reported, by_map] = [given.right, given.reported, given.by_map].map(|values| S::as_simd_f32s(values).0);
    let splat = |value: f32| simd.splat_f32s(value);
    let (zero, left, by_sum) = (splat(0.0), splat(given.left), splat(given.by_sum));
    let (deviation, sparsity) = (splat(step.deviation), splat(step.sparsity));
    let (of_first, of_second) = (splat(BETAS[0]), splat(BETAS[1]));
    let (of_gradient, of_square) = (splat(1.0 - BETAS[0]), splat(1.0 - BETAS[1]));
    let (learning_rate, to_second, least) = (splat(step.learning_rate), splat(step.to_second), splat(ADAM_EPSILON));
    let moments = first.iter_mut().zip(second);
    let given = right.iter().zip(reported).zip(by_map);
    for ((weight, (first, second)), ((&right, &reported), &by_map)) in weights.iter_mut().zip(moments).zip(given) {
        let below = simd.select_f32s(simd.less_than_f32s(*weight, zero), simd.neg_f32s(sparsity), zero);
        let by_size = simd.select_f32s(simd.less_than_f32s(zero, *weight), sparsity, below);
        let difference = simd.sub_f32s(*weight, reported);
        let penalties = simd.mul_add_f32s(deviation, difference, simd.add_f32s(by_sum, by_size));
        let gradient = simd.mul_add_f32s(simd.mul_f32s(left, right), by_map, penalties);
        *first = simd.mul_add_f32s(of_first, *first, simd.mul_f32s(of_gradient, gradient));
        *second = simd.mul_add_f32s(of_second, *second, simd.mul_f32s(of_square, simd.mul_f32s(gradient, gradient)));
        let divisor = simd.mul_add_f32s(simd.sqrt_f32s(*second), to_second, least);
        *weight = simd.sub_f32s(*weight, simd.div_f32s(simd.mul_f32s(learning_rate, *first), divisor));
    }
}

/// One step of Adam on a row of weights.
///
/// The gradient of the loss by the weight from node `j` is `left · right_j · Σ_l g_l x_lj` over the lanes `l` of all
/// layers, plus the gradient by the row's sum; then come the two penalties.
///
/// # Source
/// Kingma, Ba (2015), algorithm 1; the penalties are those of Lin, Li, Wang (2022), Solitude.
pub(super) fn step_row(row: LinkRow, step: Step) -> SteppedRow {
    dispatch_long(StepRow(row, step))
}

#[cfg(test)]
mod tests;
