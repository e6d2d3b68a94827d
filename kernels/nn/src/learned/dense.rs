//! A step of Adam on the entries of a dense square matrix.
//!
//! Every row is computed by one thread, so results do not depend on the number of threads.

#![expect(clippy::inline_always, reason = "what `dispatch` calls takes its vector width only where it is inlined")]

use pulp::{Arch, Simd, WithSimd};

use crate::adam::{ADAM_EPSILON, BETAS};

/// Entries of a row that are stepped at once.
const BLOCK: usize = 64;

/// `x`, row-major `[n, width]`, as row-major `[width, n]`.
pub(super) fn transposed(x: &[f32], width: usize) -> Vec<f32> {
    let n = x.len() / width;
    (0..width).flat_map(|column| (0..n).map(move |row| x[row * width + column])).collect()
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
    /// `[n]`, as are the moments and the reported weights.
    pub weights: &'a mut [f32],
    pub first: &'a mut [f32],
    pub second: &'a mut [f32],
    /// The reported weights, by their columns in ascending order.
    pub reported: (&'a [u32], &'a [f32]),
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
    type Output = SteppedRow;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> SteppedRow {
        let Self(row, step) = self;
        let n = row.weights.len();
        let mut totals = RowTotals { sums: [0.0; LANES], squares: [0.0; LANES] };
        let (columns, values) = row.reported;
        let mut n_passed = 0;
        for start in (0..n).step_by(BLOCK) {
            let size = BLOCK.min(n - start);
            let mut reported = [0.0; BLOCK];
            while n_passed < columns.len() && (columns[n_passed] as usize) < start + size {
                reported[columns[n_passed] as usize - start] = values[n_passed];
                n_passed += 1;
            }
            let mut by_map = [0.0; BLOCK];
            // Lanes without a gradient are left out: in the last layer all those of nodes whose logits nobody reads.
            let lanes = row.gradient.iter().zip(row.inputs.chunks_exact(n)).filter(|&(&g, _)| g != 0.0);
            for (&g, y) in lanes {
                // Where the number of sums is known to the compiler, they stay in registers.
                match y[start..].first_chunk::<BLOCK>() {
                    Some(y) => by_map.iter_mut().zip(y).for_each(|(sum, y)| *sum += g * y),
                    None => by_map.iter_mut().zip(&y[start..]).for_each(|(sum, y)| *sum += g * y),
                }
            }
            let at = start..start + size;
            let mut block = Block {
                weights: &mut row.weights[at.clone()],
                first: &mut row.first[at.clone()],
                second: &mut row.second[at.clone()],
                right: &row.right[at.clone()],
                reported: &reported[..size],
                by_map: &by_map[..size],
                left: row.left,
                by_sum: row.by_sum,
            };
            block.step(step);
            // A node has no link to itself: the network reads the node's own features by a weight of their own.
            if at.contains(&row.node) {
                row.weights[row.node] = 0.0;
            }
            totals.add(&row.weights[at], &reported[..size]);
        }
        SteppedRow { sum: totals.sums.iter().sum(), squared_distance: totals.squares.iter().sum() }
    }
}

/// So many sums of a row are formed side by side; which weight goes into which does not depend on the processor.
const LANES: usize = 16;

/// Sums over the weights of a row.
struct RowTotals {
    sums: [f32; LANES],
    squares: [f64; LANES],
}

impl RowTotals {
    #[inline(always)]
    fn add(&mut self, weights: &[f32], reported: &[f32]) {
        for (weights, reported) in weights.chunks(LANES).zip(reported.chunks(LANES)) {
            let sums = self.sums.iter_mut().zip(&mut self.squares);
            for ((sum, square), (weight, reported)) in sums.zip(weights.iter().zip(reported)) {
                *sum += weight;
                let difference = f64::from(weight - reported);
                *square += difference * difference;
            }
        }
    }
}

/// Some weights of a row, with what their gradients are made of; all are as many.
struct Block<'a> {
    weights: &'a mut [f32],
    first: &'a mut [f32],
    second: &'a mut [f32],
    right: &'a [f32],
    reported: &'a [f32],
    by_map: &'a [f32],
    left: f32,
    by_sum: f32,
}

impl Block<'_> {
    #[inline(always)]
    fn step(&mut self, step: Step) {
        let moments = self.first.iter_mut().zip(&mut *self.second);
        let given = self.right.iter().zip(self.reported).zip(self.by_map);
        for ((weight, (first, second)), ((right, reported), by_map)) in self.weights.iter_mut().zip(moments).zip(given)
        {
            let sign = if *weight == 0.0 { 0.0 } else { weight.signum() };
            let gradient =
                self.left * right * by_map + self.by_sum + step.deviation * (*weight - reported) + step.sparsity * sign;
            *first = BETAS[0] * *first + (1.0 - BETAS[0]) * gradient;
            *second = BETAS[1] * *second + (1.0 - BETAS[1]) * gradient * gradient;
            *weight -= step.learning_rate * *first / (second.sqrt() * step.to_second + ADAM_EPSILON);
        }
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
    Arch::new().dispatch(StepRow(row, step))
}
