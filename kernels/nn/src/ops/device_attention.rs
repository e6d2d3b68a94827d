//! What a GPU runs for attention over links.
//!
//! Links are given by rows as in `device_code`: `offsets` (`[n + 1]`) and `columns` (`[links]`). Their pattern is
//! symmetric, so that a gradient can be gathered along the links of a node instead of being scattered from many.

use cubecl::prelude::*;

use crate::attention::NEGATIVE_SLOPE;

/// Attention of every link of a node; one unit for each model and node.
///
/// # Shapes
/// `weights`: `[links]`. `sources`, `targets`: `[models, n]`. `shares`: `[models, links]`.
///
/// # Source
/// [`AttentionGraph::attend`](crate::attention::AttentionGraph::attend).
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
///
/// # Shapes
/// `order`, `factors`: `[links]`. `shares`: `[models, links]`. `x`, `out`: `[models, n, width]`.
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

/// Gradient of the loss by the score of every link and by that of every target; one unit for each model and node.
///
/// # Shapes
/// `factors`: `[links]`. `inputs`: features `[models, n, width]`, source scores and target scores `[models, n]`, shares
/// `[models, links]`, gradient of the output `[models, n, width]`. `changes`: `[models, links]`. `on_targets`:
/// `[models, n]`.
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
///
/// # Shapes
/// `order`: `[links]`. `changes`: `[models, links]`. `out`: `[models, n]`.
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

/// LeakyReLU.
#[cube]
fn leaky(score: f32) -> f32 {
    select(score > 0.0f32, score, NEGATIVE_SLOPE * score)
}
