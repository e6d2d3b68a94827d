//! What a GPU runs for activations with dropout.

use cubecl::prelude::*;

use crate::activation::{INSTEAD_OF_ZERO, SELU_DEPTH, SELU_SCALE};
use crate::dropout::{LANES, MULTIPLIERS, ROUNDS, WEYL};

/// The function of hidden units, with the dropout of the element's model.
///
/// # Shapes
/// `x`, `y`: `[models, size]`. `masks`: key (two words), threshold and bits of the scale of each model, `[models, 4]`.
#[cube(launch)]
pub(super) fn activate(
    x: &Array<f32>,
    y: &mut Array<f32>,
    masks: &Array<u32>,
    size: usize,
    step: u32,
    layer: u32,
    #[comptime] is_selu: bool,
) {
    if ABSOLUTE_POS >= y.len() {
        terminate!();
    }
    let mask = ABSOLUTE_POS / size * 4;
    let element = ABSOLUTE_POS % size;
    let lanes = comptime!(LANES as u32);
    let element = element as u32;
    let counter = element / (4 * lanes) * lanes + element % lanes;
    let word = philox(counter, step, layer, masks[mask], masks[mask + 1], element / lanes % 4);
    let scale = f32::reinterpret(masks[mask + 3]);
    let kept = select(word < masks[mask + 2], 0.0f32, scale);
    let input = x[ABSOLUTE_POS];
    if comptime!(is_selu) {
        let below = (input.exp() - 1.0f32) * SELU_DEPTH;
        let output = select(input > 0.0f32, input * SELU_SCALE, below);
        // Only a unit that is dropped is zero: the gradient tells by this which ones were.
        let instead = 0.0f32 + INSTEAD_OF_ZERO;
        y[ABSOLUTE_POS] = select(output == 0.0f32, instead, output) * kept;
    } else {
        y[ABSOLUTE_POS] = max(input, 0.0f32) * kept;
    }
}

/// Gradient of `activate`, from its output `y` and the gradient of `y`.
///
/// # Shapes
/// `y`, `upstream`, `out`: `[models, size]`. `masks`: `[models, 4]`.
#[cube(launch)]
pub(super) fn activate_gradient(
    y: &Array<f32>,
    upstream: &Array<f32>,
    out: &mut Array<f32>,
    masks: &Array<u32>,
    size: usize,
    #[comptime] is_selu: bool,
) {
    if ABSOLUTE_POS >= out.len() {
        terminate!();
    }
    let scale = f32::reinterpret(masks[ABSOLUTE_POS / size * 4 + 3]);
    let output = y[ABSOLUTE_POS];
    if comptime!(is_selu) {
        let below = select(output < 0.0f32, output + scale * SELU_DEPTH, 0.0f32);
        out[ABSOLUTE_POS] = upstream[ABSOLUTE_POS] * select(output > 0.0f32, scale * SELU_SCALE, below);
    } else {
        out[ABSOLUTE_POS] = select(output > 0.0f32, upstream[ABSOLUTE_POS] * scale, 0.0f32);
    }
}

/// Word `word` of the generator of `crate::dropout`.
///
/// # Source
/// Salmon et al. (2011), section 4.3.
#[cube]
fn philox(counter: u32, step: u32, layer: u32, key_low: u32, key_high: u32, word: u32) -> u32 {
    let mut state = (counter, step, layer, 0u32);
    let mut key = (key_low, key_high);
    #[unroll]
    for _ in 0..ROUNDS {
        let (low0, high0) = (MULTIPLIERS[0] * state.0, state.0.mul_hi(MULTIPLIERS[0]));
        let (low1, high1) = (MULTIPLIERS[1] * state.2, state.2.mul_hi(MULTIPLIERS[1]));
        state = (high1 ^ state.1 ^ key.0, low1, high0 ^ state.3 ^ key.1, low0);
        key = (key.0 + WEYL[0], key.1 + WEYL[1]);
    }
    let low = select(word == 0, state.0, state.1);
    let high = select(word == 2, state.2, state.3);
    select(word < 2, low, high)
}
