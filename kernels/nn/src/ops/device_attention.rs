//! What a GPU runs for attention over links.
//!
//! A unit is one thread of the GPU. A plane is a group of units that run in step and can add up their values (a warp of an NVIDIA
//! GPU).
//!
//! Links are given by rows as in `device_code`: `offsets` (`[n + 1]`) and `columns` (`[links]`). Their pattern is
//! symmetric, so that a gradient can be gathered along the links of a node instead of being scattered from many.

use cubecl::prelude::*;

use super::device_code::{numbers_of_unit, write_sums, zeros};
use crate::attention::NEGATIVE_SLOPE;

/// Attention of every link of a node. One unit works on each pair of model and node, or one plane, whose units share the links.
/// A link of weight 0 has none, however large its score is.
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
    #[comptime] by_plane: bool,
) {
    let (task, lane, step) = share_of_work(by_plane);
    if task >= targets.len() {
        terminate!();
    }
    let n_nodes = offsets.len() - 1;
    let from = task / n_nodes * n_nodes;
    let at = task / n_nodes * columns.len();
    let target = targets[task];
    let (start, end) = (offsets[task % n_nodes] as usize, offsets[task % n_nodes + 1] as usize);
    // Every node has a loop.
    let mut most = leaky(sources[task] + target);
    for link in range_stepped(start + lane, end, step) {
        let score = leaky(sources[from + columns[link] as usize] + target);
        most = select(weights[link] > 0.0f32, max(most, score), most);
    }
    most = largest(most, by_plane);
    let mut total = 0.0f32;
    for link in range_stepped(start + lane, end, step) {
        let score = min(leaky(sources[from + columns[link] as usize] + target), most);
        total += weights[link] * (score - most).exp();
    }
    total = total_of(total, by_plane);
    // Each term is computed again, because that is faster than to write and read it.
    for link in range_stepped(start + lane, end, step) {
        let score = min(leaky(sources[from + columns[link] as usize] + target), most);
        shares[at + link] = weights[link] * (score - most).exp() / total;
    }
}

/// `out[m, i, k] = Σ_e shares[m, order[e]] factors[order[e]] x[m, columns[e], k]` over the links of `i`. A unit computes one number
/// of each of `at_once` models, so that it reads a link once for all of them.
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
    #[comptime] at_once: usize,
) {
    let n_nodes = offsets.len() - 1;
    let n_links = columns.len();
    let models = out.len() / (n_nodes * width);
    let (node, first, lane) = numbers_of_unit(models, width, at_once);
    if node >= n_nodes {
        terminate!();
    }
    let mut sums = zeros(at_once);
    for link in offsets[node] as usize..offsets[node + 1] as usize {
        let (source, from) = (columns[link] as usize, order[link] as usize);
        let factor = factors[from];
        #[unroll]
        for k in 0..at_once {
            // Where the last unit has too few models, it computes the last one again.
            let model = min(first + k, models - 1);
            sums[k] += shares[model * n_links + from] * factor * x[(model * n_nodes + source) * width + lane];
        }
    }
    write_sums(&sums, out, (node, first, lane), (models, n_nodes, width), at_once);
}

/// Gradient of the loss by the score of every link and by that of every target. One unit works on each pair of model and node,
/// or one plane, whose units share the links.
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
    #[comptime] by_plane: bool,
) {
    let (task, lane, step) = share_of_work(by_plane);
    if task >= on_targets.len() {
        terminate!();
    }
    let (x, sources, targets, shares, gradient) = (&inputs[0], &inputs[1], &inputs[2], &inputs[3], &inputs[4]);
    let n_nodes = offsets.len() - 1;
    let first = task / n_nodes * n_nodes;
    let at = task / n_nodes * columns.len();
    let (start, end) = (offsets[task % n_nodes] as usize, offsets[task % n_nodes + 1] as usize);
    let mut mean = 0.0f32;
    for link in range_stepped(start + lane, end, step) {
        let from = (first + columns[link] as usize) * width;
        let mut pull = 0.0f32;
        for column in 0..width {
            pull += x[from + column] * gradient[task * width + column];
        }
        changes[at + link] = factors[link] * pull;
        mean += factors[link] * pull * shares[at + link];
    }
    mean = total_of(mean, by_plane);
    let mut total = 0.0f32;
    for link in range_stepped(start + lane, end, step) {
        let raw = sources[first + columns[link] as usize] + targets[task];
        let change = shares[at + link] * (changes[at + link] - mean) * slope(raw);
        changes[at + link] = change;
        total += change;
    }
    total = total_of(total, by_plane);
    if lane == 0 {
        on_targets[task] = total;
    }
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

/// What a unit works on: its number of model and node, its first link among theirs, and the step from link to link.
#[cube]
fn share_of_work(#[comptime] by_plane: bool) -> (usize, usize, usize) {
    if comptime!(by_plane) {
        (ABSOLUTE_POS / PLANE_DIM as usize, UNIT_POS_PLANE as usize, PLANE_DIM as usize)
    } else {
        (ABSOLUTE_POS, 0usize, 1usize)
    }
}

/// The sum of the values of all units that work on a node.
#[cube]
fn total_of(value: f32, #[comptime] by_plane: bool) -> f32 {
    if comptime!(by_plane) { plane_sum(value) } else { value }
}

/// The largest value among all units that work on a node.
#[cube]
fn largest(value: f32, #[comptime] by_plane: bool) -> f32 {
    if comptime!(by_plane) { plane_max(value) } else { value }
}

/// LeakyReLU.
#[cube]
pub(super) fn leaky(score: f32) -> f32 {
    select(score > 0.0f32, score, NEGATIVE_SLOPE * score)
}

/// The slope of LeakyReLU.
#[cube]
pub(super) fn slope(score: f32) -> f32 {
    select(score > 0.0f32, 1.0f32, NEGATIVE_SLOPE)
}
