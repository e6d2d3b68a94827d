//! What a GPU runs for attention over every pair of nodes, as on a soft graph.
//!
//! Nothing of the size of the graph is written: the share of a pair is computed wherever it is needed. The units of a cube work on
//! one model, each on a node of its own, and read the other nodes in tiles that they load together. A unit keeps a sum for each
//! feature of its node, so that wide layers take several launches, each for some of their features.
//!
//! # Source
//! Dao et al. (2022), `FlashAttention`: tiles, and the gradient by the scores from the product of the output and its gradient.

use cubecl::prelude::*;

use super::device_attention::{leaky, slope};
use super::device_code::zeros;
use super::device_tiles::{AT_ONCE, Features, TILE, UNITS, load, load_rows, next_weights, padded, row, tile_of_rows};

/// Attention of every node to all, and the sum of the terms by which shares are divided. A unit works on a node that attends.
///
/// # Shapes
/// `weights`: `[n, n]`, the weight by which node `i` attends to node `j` at `[j, i]`. `inputs`: features `[models, n, width]`,
/// source scores and target scores `[models, n]`. `out`: `[models, n, width]`. `totals`: `[models, n]`.
///
/// # Source
/// [`AttentionGraph::attend`](crate::attention::AttentionGraph::attend).
#[cube(launch)]
pub(super) fn attend_to_all(
    weights: &Array<f32>,
    inputs: &Sequence<Array<f32>>,
    out: &mut Array<f32>,
    totals: &mut Array<f32>,
    n_nodes: usize,
    part: Features,
    #[comptime] width: usize,
    #[comptime] double_weight: bool,
) {
    let (x, sources, targets) = (&inputs[0], &inputs[1], &inputs[2]);
    let (node, own, first) = nodes_of_unit(n_nodes);
    let target = targets[first + own];
    let most_source = largest_value(sources, first, n_nodes);
    let most = leaky(most_source + target);
    let mut features = tile_of_rows(width);
    let mut scores = SharedMemory::<f32>::new(TILE);
    let mut sums = zeros(width);
    let mut total = 0.0f32;
    for start in range_stepped(0usize, n_nodes, TILE) {
        let count = min(TILE, n_nodes - start);
        load_rows(x, first + start, count, part, &mut features, width);
        load(sources, first + start, count, most_source, &mut scores);
        sync_cube();
        for from in range_stepped(0usize, TILE, AT_ONCE) {
            let next = next_weights(weights, start + from, own, n_nodes);
            #[unroll]
            for step in 0..AT_ONCE {
                let at = from + step;
                let term = next[step] * (leaky(scores[at] + target) - most).exp();
                total += term;
                let share = term * factor(next[step], double_weight);
                #[unroll]
                for k in 0..width {
                    sums[k] += share * features[at * comptime!(padded(width)) + k];
                }
            }
        }
        sync_cube();
    }
    if node < n_nodes {
        totals[first + node] = total;
        #[unroll]
        for k in 0..width {
            out[(first + node) * part.of + part.first + k] = sums[k] / total;
        }
    }
}

/// Gradient of the loss by the score of every target, and what a unit of the pass over sources reads of a target. A unit works on a
/// node that attends.
///
/// # Shapes
/// `weights`: as in [`attend_to_all`]. `inputs`: the inputs of attention, its output and its totals, and the gradient of the output.
/// `means`, `on_targets`: `[models, n]`. A mean is that of the gradients by the shares of a node, weighed by the shares, over the
/// features of this launch.
#[cube(launch)]
pub(super) fn gradient_by_targets(
    weights: &Array<f32>,
    inputs: &Sequence<Array<f32>>,
    means: &mut Array<f32>,
    on_targets: &mut Array<f32>,
    n_nodes: usize,
    part: Features,
    #[comptime] width: usize,
    #[comptime] double_weight: bool,
) {
    let (x, sources, targets) = (&inputs[0], &inputs[1], &inputs[2]);
    let (out, totals, gradient) = (&inputs[3], &inputs[4], &inputs[5]);
    let (node, own, first) = nodes_of_unit(n_nodes);
    let target = targets[first + own];
    let most_source = largest_value(sources, first, n_nodes);
    let most = leaky(most_source + target);
    let mut features = tile_of_rows(width);
    let mut scores = SharedMemory::<f32>::new(TILE);
    let pulled = row(gradient, first + own, part, width);
    let output = row(out, first + own, part, width);
    let mut mean = 0.0f32;
    #[unroll]
    for k in 0..width {
        mean += output[k] * pulled[k];
    }
    let mut sum = 0.0f32;
    for start in range_stepped(0usize, n_nodes, TILE) {
        let count = min(TILE, n_nodes - start);
        load_rows(x, first + start, count, part, &mut features, width);
        load(sources, first + start, count, most_source, &mut scores);
        sync_cube();
        for from in range_stepped(0usize, TILE, AT_ONCE) {
            let next = next_weights(weights, start + from, own, n_nodes);
            #[unroll]
            for step in 0..AT_ONCE {
                let at = from + step;
                let raw = scores[at] + target;
                let mut pull = 0.0f32;
                #[unroll]
                for k in 0..width {
                    pull += features[at * comptime!(padded(width)) + k] * pulled[k];
                }
                let term = next[step] * (leaky(raw) - most).exp();
                sum += term * (pull * factor(next[step], double_weight) - mean) * slope(raw);
            }
        }
        sync_cube();
    }
    if node < n_nodes {
        means[first + node] = mean;
        on_targets[first + node] = with_earlier(sum / totals[first + node], on_targets[first + node], part);
    }
}

/// Gradients of the loss by the features and by the score of every source. A unit works on a node to which others attend.
///
/// # Shapes
/// `weights`: `[n, n]`, the weight by which node `i` attends to node `j` at `[i, j]`. `inputs`: the inputs of attention, its
/// totals, the means of [`gradient_by_targets`], and the gradient of the output. `on_features`: `[models, n, width]`. `on_sources`:
/// `[models, n]`.
#[cube(launch)]
pub(super) fn gradient_by_sources(
    weights: &Array<f32>,
    inputs: &Sequence<Array<f32>>,
    on_features: &mut Array<f32>,
    on_sources: &mut Array<f32>,
    n_nodes: usize,
    part: Features,
    #[comptime] width: usize,
    #[comptime] double_weight: bool,
) {
    let (x, sources, targets) = (&inputs[0], &inputs[1], &inputs[2]);
    let (totals, means, gradient) = (&inputs[3], &inputs[4], &inputs[5]);
    let (node, own, first) = nodes_of_unit(n_nodes);
    let source = sources[first + own];
    let most = largest_value(sources, first, n_nodes);
    let mut pulled = tile_of_rows(width);
    let mut scores = SharedMemory::<f32>::new(TILE);
    let mut tops = SharedMemory::<f32>::new(TILE);
    let mut inverses = SharedMemory::<f32>::new(TILE);
    let mut centers = SharedMemory::<f32>::new(TILE);
    let features = row(x, first + own, part, width);
    let mut sums = zeros(width);
    let mut sum = 0.0f32;
    for start in range_stepped(0usize, n_nodes, TILE) {
        let count = min(TILE, n_nodes - start);
        load_rows(gradient, first + start, count, part, &mut pulled, width);
        for at in range_stepped(UNIT_POS as usize, TILE, UNITS) {
            let target = first + min(start + at, n_nodes - 1);
            scores[at] = targets[target];
            tops[at] = leaky(most + targets[target]);
            inverses[at] = 1.0f32 / totals[target];
            centers[at] = means[target];
        }
        sync_cube();
        for from in range_stepped(0usize, TILE, AT_ONCE) {
            let next = next_weights(weights, start + from, own, n_nodes);
            #[unroll]
            for step in 0..AT_ONCE {
                let at = from + step;
                let raw = source + scores[at];
                let share = next[step] * (leaky(raw) - tops[at]).exp() * inverses[at];
                let multiplied = share * factor(next[step], double_weight);
                let mut pull = 0.0f32;
                #[unroll]
                for k in 0..width {
                    let value = pulled[at * comptime!(padded(width)) + k];
                    pull += features[k] * value;
                    sums[k] += multiplied * value;
                }
                sum += share * (pull * factor(next[step], double_weight) - centers[at]) * slope(raw);
            }
        }
        sync_cube();
    }
    if node < n_nodes {
        on_sources[first + node] = with_earlier(sum, on_sources[first + node], part);
        #[unroll]
        for k in 0..width {
            on_features[(first + node) * part.of + part.first + k] = sums[k];
        }
    }
}

/// The node of a unit; the same, or the last one where there is no such node, because all units of a cube load tiles; and where the
/// nodes of the model start. Cubes are counted by tiles of [`UNITS`] nodes and by models.
#[cube]
fn nodes_of_unit(n_nodes: usize) -> (usize, usize, usize) {
    let node = CUBE_POS_X as usize * UNITS + UNIT_POS as usize;
    (node, min(node, n_nodes - 1), CUBE_POS_Y as usize * n_nodes)
}

/// The largest of so many values. Every unit of the cube looks for it among a part of them.
#[cube]
fn largest_value(values: &Array<f32>, first: usize, n: usize) -> f32 {
    let mut found = SharedMemory::<f32>::new(UNITS);
    let mut most = values[first];
    for at in range_stepped(UNIT_POS as usize, n, UNITS) {
        most = max(most, values[first + at]);
    }
    found[UNIT_POS as usize] = most;
    sync_cube();
    for at in 0..UNITS {
        most = max(most, found[at]);
    }
    most
}

/// `value`, and what earlier launches gave for other features of the layer.
#[cube]
fn with_earlier(value: f32, earlier: f32, part: Features) -> f32 {
    value + select(part.first > 0, earlier, 0.0f32)
}

/// What a pair multiplies its message by, beside the attention.
#[cube]
fn factor(weight: f32, #[comptime] double_weight: bool) -> f32 {
    if comptime!(double_weight) { weight } else { f32::new(1.0f32) }
}
