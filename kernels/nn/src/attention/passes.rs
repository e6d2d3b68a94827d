//! The passes of attention over rows of features, a few columns at a time.
//!
//! The order of every sum is fixed, whatever the width of the processor's vectors.

#![expect(clippy::inline_always, reason = "what `dispatch` calls takes its vector width only where it is inlined")]

use std::borrow::Cow;

use pulp::{Simd, WithSimd};

use super::AttentionGraph;
use super::lanes::{LANES, add_products, half, in_blocks, out_of_blocks, sum, sum_of_half, vectors};
use super::shares::{Attention, AttentionOfNodes};

/// So many sums of a row are kept side by side, so that an addition need not wait for the one before.
const CHAINS: usize = 4;

/// The inner products of so many links of a node are completed together.
const GROUP: usize = 64;

/// A call of [`AttentionGraph::attend`].
pub(super) struct Attend<'a> {
    pub graph: &'a AttentionGraph,
    pub x: &'a [f32],
    /// Of sources, and of targets.
    pub scores: [&'a [f32]; 2],
    pub width: usize,
    /// The nodes whose output is read, in strictly ascending order, or all of them.
    pub read: Option<&'a [u32]>,
}

impl WithSimd for Attend<'_> {
    type Output = Vec<f32>;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> Vec<f32> {
        let x = in_blocks(self.x, self.width);
        match self.width.div_ceil(LANES) {
            1 => self.attend_blocks::<S, 1>(simd, &x),
            2 => self.attend_blocks::<S, 2>(simd, &x),
            _ => self.attend_blocks::<S, 0>(simd, &x),
        }
    }
}

/// A call of [`AttentionGraph::gradient`].
pub(super) struct Gradient<'a> {
    pub graph: &'a AttentionGraph,
    /// Features, scores of sources, scores of targets.
    pub inputs: [&'a [f32]; 3],
    pub g: &'a [f32],
    pub width: usize,
}

impl WithSimd for Gradient<'_> {
    type Output = [Vec<f32>; 3];

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> [Vec<f32>; 3] {
        let Self { graph, inputs: [x, sources, targets], g, width } = self;
        let rows = [in_blocks(x, width), in_blocks(g, width)];
        match width.div_ceil(LANES) {
            1 => graph.gradient_blocks::<S, 1>(simd, &rows, [sources, targets], width),
            2 => graph.gradient_blocks::<S, 2>(simd, &rows, [sources, targets], width),
            _ => graph.gradient_blocks::<S, 0>(simd, &rows, [sources, targets], width),
        }
    }
}

impl Attend<'_> {
    /// The output for rows of `BLOCKS` times [`LANES`] columns, so that a row stays in registers; for rows of any width where
    /// `BLOCKS` is 0.
    #[inline(always)]
    fn attend_blocks<S: Simd, const BLOCKS: usize>(&self, simd: S, x: &[[f32; LANES]]) -> Vec<f32> {
        let Self { graph, scores, width, read, .. } = *self;
        let n_blocks = if BLOCKS == 0 { width.div_ceil(LANES) } else { BLOCKS };
        let mut output = vec![[0.0; LANES]; x.len()];
        let mut attention = AttentionOfNodes::new(graph, scores);
        let mut coefficients = Vec::new();
        assert!(
            read.is_none_or(|read| read.is_sorted_by(|a, b| a < b)),
            "nodes are listed in strictly ascending order"
        );
        let mut read = read.map(|read| read.iter().peekable());
        for (node, out) in output.chunks_exact_mut(n_blocks).enumerate() {
            if read.as_mut().is_some_and(|read| read.next_if(|&&next| next as usize == node).is_none()) {
                continue;
            }
            let (neighbours, weights) = graph.links.row(node);
            let Attention { shares, .. } = attention.of_node(node);
            coefficients.clear();
            coefficients.extend(shares.iter().zip(weights).map(|(share, &weight)| share * graph.factor(weight)));
            let coefficients = coefficients.as_slice();
            match BLOCKS {
                1 => out.copy_from_slice(&received::<S, 1>(simd, coefficients, neighbours, x)),
                2 => out.copy_from_slice(&received::<S, 2>(simd, coefficients, neighbours, x)),
                _ => {
                    for (&coefficient, &j) in coefficients.iter().zip(neighbours) {
                        add_message(simd, out, coefficient, j, x);
                    }
                }
            }
        }
        out_of_blocks(output, width)
    }
}

/// Adds what a neighbour sends, in as many blocks as there are sums.
#[inline(always)]
fn add_message<S: Simd>(simd: S, sums: &mut [[f32; LANES]], coefficient: f32, j: u32, x: &[[f32; LANES]]) {
    let coefficient = simd.splat_f32s(coefficient);
    let (at, n_blocks) = (j as usize * sums.len(), sums.len());
    for (sums, values) in sums.iter_mut().zip(&x[at..at + n_blocks]) {
        add_products(simd, sums, coefficient, values);
    }
}

/// The sum of the rows of neighbours, each times its coefficient.
#[inline(always)]
fn received<S: Simd, const BLOCKS: usize>(
    simd: S,
    coefficients: &[f32],
    neighbours: &[u32],
    x: &[[f32; LANES]],
) -> [[f32; LANES]; BLOCKS] {
    // Arrays of their own stay in registers. Links that are left over by fours have a sum of their own.
    let [mut a, mut b, mut c, mut d, mut last] = [[[0.0; LANES]; BLOCKS]; CHAINS + 1];
    let (fours, rest) = coefficients.as_chunks::<CHAINS>();
    let (neighbours, last_neighbours) = neighbours.as_chunks::<CHAINS>();
    for (coefficients, neighbours) in fours.iter().zip(neighbours) {
        add_message(simd, &mut a, coefficients[0], neighbours[0], x);
        add_message(simd, &mut b, coefficients[1], neighbours[1], x);
        add_message(simd, &mut c, coefficients[2], neighbours[2], x);
        add_message(simd, &mut d, coefficients[3], neighbours[3], x);
    }
    for (&coefficient, &j) in rest.iter().zip(last_neighbours) {
        add_message(simd, &mut last, coefficient, j, x);
    }
    for block in 0..BLOCKS {
        for lane in 0..LANES {
            last[block][lane] += (a[block][lane] + b[block][lane]) + (c[block][lane] + d[block][lane]);
        }
    }
    last
}

impl AttentionGraph {
    /// [`Self::gradient`] of rows of `BLOCKS` times [`LANES`] columns, of features and of the gradient by the output; of rows of
    /// any width where `BLOCKS` is 0.
    #[inline(always)]
    fn gradient_blocks<S: Simd, const BLOCKS: usize>(
        &self,
        simd: S,
        [x, g]: &[Cow<[[f32; LANES]]>; 2],
        scores: [&[f32]; 2],
        width: usize,
    ) -> [Vec<f32>; 3] {
        let n_blocks = if BLOCKS == 0 { width.div_ceil(LANES) } else { BLOCKS };
        let n_nodes = self.links.n_rows();
        let mut on_features = vec![[0.0; LANES]; x.len()];
        let [mut on_sources, mut on_targets] = [vec![0.0; n_nodes], vec![0.0; n_nodes]];
        // `p_ij` of [`Self::gradient`] for every link of a node, and the gradient by `s_j + t_i`.
        let [mut pulls, mut changes] = [(); 2].map(|()| vec![0.0; self.longest_row]);
        let mut coefficients = Vec::new();
        // The last sums of several links are worked out side by side, so they wait here.
        let mut halves = [[0.0; LANES / 2]; GROUP];
        let mut attention = AttentionOfNodes::new(self, scores);
        for node in 0..n_nodes {
            let (neighbours, weights) = self.links.row(node);
            let gradient = &g[node * n_blocks..][..n_blocks];
            // In the last layer these are the nodes whose logits nobody reads.
            if gradient.as_flattened().iter().all(|&g| g == 0.0) {
                continue;
            }
            let Attention { shares, slopes } = attention.of_node(node);
            // The compiler knows that this array does not overlap the sums, so it keeps it in registers.
            let mut own = [[0.0; LANES]; BLOCKS];
            let gradient = if BLOCKS == 0 {
                gradient
            } else {
                own.copy_from_slice(gradient);
                &own
            };
            coefficients.clear();
            coefficients.extend(shares.iter().zip(weights).map(|(share, &weight)| share * self.factor(weight)));
            let pulls = &mut pulls[..neighbours.len()];
            let links = neighbours.chunks(GROUP).zip(coefficients.chunks(GROUP));
            for ((neighbours, coefficients), pulls) in links.zip(pulls.chunks_mut(GROUP)) {
                for ((halves, &j), &coefficient) in halves.iter_mut().zip(neighbours).zip(coefficients) {
                    *halves = half(send_back(simd, j, coefficient, gradient, x, &mut on_features));
                }
                for (pull, &halves) in pulls.iter_mut().zip(&halves) {
                    *pull = sum_of_half(halves);
                }
            }
            for (pull, &weight) in pulls.iter_mut().zip(weights) {
                *pull *= self.factor(weight);
            }
            let changes = &mut changes[..neighbours.len()];
            // The terms of the mean stand where the changes will.
            for ((term, share), pull) in changes.iter_mut().zip(shares).zip(&*pulls) {
                *term = share * pull;
            }
            let mean = sum(changes);
            for (((change, &share), &slope), &pull) in changes.iter_mut().zip(shares).zip(slopes).zip(&*pulls) {
                *change = share * (pull - mean) * slope;
            }
            on_targets[node] = sum(changes);
            for (&j, &change) in neighbours.iter().zip(&*changes) {
                on_sources[j as usize] += change;
            }
        }
        [out_of_blocks(on_features, width), on_sources, on_targets]
    }
}

/// Adds a gradient by the output, times a coefficient, to the gradient by the features of a neighbour. Returns the products of
/// these features with the gradient by the output, whose sum is the gradient by the coefficient.
#[inline(always)]
fn send_back<S: Simd>(
    simd: S,
    j: u32,
    coefficient: f32,
    gradient: &[[f32; LANES]],
    x: &[[f32; LANES]],
    on_features: &mut [[f32; LANES]],
) -> [f32; LANES] {
    let n_blocks = gradient.len();
    let at = j as usize * n_blocks;
    let coefficient = simd.splat_f32s(coefficient);
    let mut products = [0.0; LANES];
    let rows = on_features[at..at + n_blocks].iter_mut().zip(&x[at..at + n_blocks]);
    for ((sums, values), gradient) in rows.zip(gradient) {
        add_products(simd, sums, coefficient, gradient);
        let (products, _) = S::as_mut_simd_f32s(&mut products);
        let factors = vectors::<S>(values).iter().zip(vectors::<S>(gradient));
        for (product, (&value, &gradient)) in products.iter_mut().zip(factors) {
            *product = simd.mul_add_f32s(value, gradient, *product);
        }
    }
    products
}

#[cfg(test)]
mod tests;
