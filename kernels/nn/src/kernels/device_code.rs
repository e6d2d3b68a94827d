//! What a GPU runs. One unit computes one number; units of one row stand side by side, so that a pass reads
//! the graph once for all models of the batch.

use cubecl::prelude::*;

use crate::attention::NEGATIVE_SLOPE;
use crate::dropout::{LANES, MULTIPLIERS, ROUNDS, WEYL};
use crate::kernels::{ADAM_EPSILON, BETAS};

/// `out[m, i, k] = Σ_e values[e] x[m, columns[e], k]` over the entries of row `i`.
#[cube(launch)]
pub(super) fn multiply(
    offsets: &Array<u32>,
    columns: &Array<u32>,
    values: &Array<f32>,
    x: &Array<f32>,
    out: &mut Array<f32>,
    n_columns: usize,
    width: usize,
) {
    if ABSOLUTE_POS >= out.len() {
        terminate!();
    }
    let n_rows = offsets.len() - 1;
    let lanes = out.len() / n_rows;
    let row = ABSOLUTE_POS / lanes;
    let model = ABSOLUTE_POS % lanes / width;
    let lane = ABSOLUTE_POS % width;
    let mut sum = 0.0f32;
    for entry in offsets[row] as usize..offsets[row + 1] as usize {
        sum += values[entry] * x[(model * n_columns + columns[entry] as usize) * width + lane];
    }
    out[(model * n_rows + row) * width + lane] = sum;
}

/// Attention of every link of a node; one unit for each model and node.
#[cube(launch)]
pub(super) fn attention(
    offsets: &Array<u32>,
    columns: &Array<u32>,
    weights: &Array<f32>,
    sources: &Array<f32>,
    targets: &Array<f32>,
    shares: &mut Array<f32>,
) {
    if ABSOLUTE_POS >= targets.len() {
        terminate!();
    }
    let n_nodes = offsets.len() - 1;
    let model = ABSOLUTE_POS / n_nodes;
    let node = ABSOLUTE_POS % n_nodes;
    let (start, end) = (offsets[node] as usize, offsets[node + 1] as usize);
    let at = model * columns.len();
    // Every node has a loop, hence a first link.
    let mut most = leaky(sources[model * n_nodes + columns[start] as usize] + targets[ABSOLUTE_POS]);
    for link in start..end {
        let score = leaky(sources[model * n_nodes + columns[link] as usize] + targets[ABSOLUTE_POS]);
        most = max(most, score);
        shares[at + link] = score;
    }
    let mut total = 0.0f32;
    for link in start..end {
        let term = weights[link] * (shares[at + link] - most).exp();
        shares[at + link] = term;
        total += term;
    }
    for link in start..end {
        shares[at + link] = shares[at + link] / total;
    }
}

/// `out[m, i, k] = Σ_e shares[m, order[e]] factors[e] x[m, columns[e], k]` over the links of `i`.
#[cube(launch)]
pub(super) fn gather(
    offsets: &Array<u32>,
    columns: &Array<u32>,
    order: &Array<u32>,
    factors: &Array<f32>,
    shares: &Array<f32>,
    x: &Array<f32>,
    out: &mut Array<f32>,
    width: usize,
) {
    if ABSOLUTE_POS >= out.len() {
        terminate!();
    }
    let n_nodes = offsets.len() - 1;
    let lanes = out.len() / n_nodes;
    let row = ABSOLUTE_POS / lanes;
    let model = ABSOLUTE_POS % lanes / width;
    let lane = ABSOLUTE_POS % width;
    let mut sum = 0.0f32;
    for link in offsets[row] as usize..offsets[row + 1] as usize {
        let share = shares[model * columns.len() + order[link] as usize];
        sum += share * factors[link] * x[(model * n_nodes + columns[link] as usize) * width + lane];
    }
    out[(model * n_nodes + row) * width + lane] = sum;
}

/// How the loss changes with each score; one unit for each model and node.
#[cube(launch)]
pub(super) fn score_gradient(
    offsets: &Array<u32>,
    columns: &Array<u32>,
    factors: &Array<f32>,
    inputs: &Sequence<Array<f32>>,
    changes: &mut Array<f32>,
    on_targets: &mut Array<f32>,
    width: usize,
) {
    if ABSOLUTE_POS >= on_targets.len() {
        terminate!();
    }
    let (x, sources, targets, shares, gradient) = (&inputs[0], &inputs[1], &inputs[2], &inputs[3], &inputs[4]);
    let n_nodes = offsets.len() - 1;
    let model = ABSOLUTE_POS / n_nodes;
    let node = ABSOLUTE_POS % n_nodes;
    let at = model * columns.len();
    let mut mean = 0.0f32;
    for link in offsets[node] as usize..offsets[node + 1] as usize {
        let from = (model * n_nodes + columns[link] as usize) * width;
        let mut pull = 0.0f32;
        for lane in 0..width {
            pull += x[from + lane] * gradient[ABSOLUTE_POS * width + lane];
        }
        changes[at + link] = factors[link] * pull;
        mean += factors[link] * pull * shares[at + link];
    }
    let mut total = 0.0f32;
    for link in offsets[node] as usize..offsets[node + 1] as usize {
        let raw = sources[model * n_nodes + columns[link] as usize] + targets[ABSOLUTE_POS];
        let slope = select(raw > 0.0f32, 1.0f32, NEGATIVE_SLOPE);
        let change = shares[at + link] * (changes[at + link] - mean) * slope;
        changes[at + link] = change;
        total += change;
    }
    on_targets[ABSOLUTE_POS] = total;
}

/// `out[m, j] = Σ_e changes[m, order[e]]` over the links of `j`.
#[cube(launch)]
pub(super) fn sum_links(offsets: &Array<u32>, order: &Array<u32>, changes: &Array<f32>, out: &mut Array<f32>) {
    if ABSOLUTE_POS >= out.len() {
        terminate!();
    }
    let n_nodes = offsets.len() - 1;
    let model = ABSOLUTE_POS / n_nodes;
    let node = ABSOLUTE_POS % n_nodes;
    let mut sum = 0.0f32;
    for link in offsets[node] as usize..offsets[node + 1] as usize {
        sum += changes[model * order.len() + order[link] as usize];
    }
    out[ABSOLUTE_POS] = sum;
}

/// `y = max(x, 0)` with the dropout of the element's model; `masks` holds key, threshold and bits of the
/// scale of each model.
#[cube(launch)]
pub(super) fn activate(x: &Array<f32>, y: &mut Array<f32>, masks: &Array<u32>, size: usize, step: u32, layer: u32) {
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
    y[ABSOLUTE_POS] = max(x[ABSOLUTE_POS], 0.0f32) * kept;
}

/// Gradient of `activate` from its output.
#[cube(launch)]
pub(super) fn activate_gradient(
    y: &Array<f32>,
    upstream: &Array<f32>,
    out: &mut Array<f32>,
    masks: &Array<u32>,
    size: usize,
) {
    if ABSOLUTE_POS >= out.len() {
        terminate!();
    }
    let scale = f32::reinterpret(masks[ABSOLUTE_POS / size * 4 + 3]);
    out[ABSOLUTE_POS] = select(y[ABSOLUTE_POS] > 0.0f32, upstream[ABSOLUTE_POS] * scale, 0.0f32);
}

/// Cross-entropy of every labelled node, and its share of the gradient of the mean; one unit for each
/// model and labelled node.
#[cube(launch)]
pub(super) fn cross_entropy(
    logits: &Array<f32>,
    nodes: &Array<u32>,
    classes: &Array<u32>,
    losses: &mut Array<f32>,
    gradient: &mut Array<f32>,
    n_nodes: usize,
    n_classes: usize,
) {
    if ABSOLUTE_POS >= losses.len() {
        terminate!();
    }
    let labelled = ABSOLUTE_POS % nodes.len();
    let row = (ABSOLUTE_POS / nodes.len() * n_nodes + nodes[labelled] as usize) * n_classes;
    let mut most = logits[row];
    for class in 1..n_classes {
        most = max(most, logits[row + class]);
    }
    let mut total = 0.0f32;
    for class in 0..n_classes {
        total += (logits[row + class] - most).exp();
    }
    let own = classes[labelled] as usize;
    let share = 1.0f32 / f32::cast_from(nodes.len());
    for class in 0..n_classes {
        let term = (logits[row + class] - most).exp() / total;
        gradient[row + class] = share * (term - select(class == own, 1.0f32, 0.0f32));
    }
    losses[ABSOLUTE_POS] = total.ln() - (logits[row + own] - most);
}

/// One step of Adam; `rates` holds learning rate and weight decay of each model, `corrections` what makes up
/// for the zero start of the moments.
#[cube(launch)]
pub(super) fn adam(
    parameter: &Array<f32>,
    gradient: &Array<f32>,
    first: &mut Array<f32>,
    second: &mut Array<f32>,
    out: &mut Array<f32>,
    rates: &Array<f32>,
    size: usize,
    to_rate: f32,
    to_second: f32,
) {
    if ABSOLUTE_POS >= out.len() {
        terminate!();
    }
    let model = ABSOLUTE_POS / size * 2;
    let p = parameter[ABSOLUTE_POS];
    let g = gradient[ABSOLUTE_POS] + rates[model + 1] * p;
    let m = BETAS[0] * first[ABSOLUTE_POS] + (1.0f32 - BETAS[0]) * g;
    let v = BETAS[1] * second[ABSOLUTE_POS] + (1.0f32 - BETAS[1]) * g * g;
    first[ABSOLUTE_POS] = m;
    second[ABSOLUTE_POS] = v;
    out[ABSOLUTE_POS] = p - rates[model] * to_rate * m / (v.sqrt() * to_second + ADAM_EPSILON);
}

#[cube]
fn leaky(score: f32) -> f32 {
    select(score > 0.0f32, score, NEGATIVE_SLOPE * score)
}

/// Word `word` of the generator of `crate::dropout`.
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
