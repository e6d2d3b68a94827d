//! The passes of attention over rows of features, a few columns at a time.
//!
//! The order of every sum is fixed, whatever the width of the processor's vectors.

#![expect(clippy::inline_always, reason = "what `dispatch` calls takes its vector width only where it is inlined")]

use std::borrow::Cow;

use pulp::{Simd, WithSimd};

use super::{Attended, AttentionGraph, NEGATIVE_SLOPE};
use crate::exponential::exp;

/// So many columns of a row are multiplied side by side, and so many terms of a sum are added at a time.
const LANES: usize = 8;

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
    type Output = Attended;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> Attended {
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
    pub attention: &'a [f32],
    pub g: &'a [f32],
    pub width: usize,
}

impl WithSimd for Gradient<'_> {
    type Output = [Vec<f32>; 3];

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> [Vec<f32>; 3] {
        let Self { graph, inputs: [x, sources, targets], attention, g, width } = self;
        let rows = [in_blocks(x, width), in_blocks(g, width)];
        match width.div_ceil(LANES) {
            1 => graph.gradient_blocks::<S, 1>(simd, &rows, [sources, targets], attention, width),
            2 => graph.gradient_blocks::<S, 2>(simd, &rows, [sources, targets], attention, width),
            _ => graph.gradient_blocks::<S, 0>(simd, &rows, [sources, targets], attention, width),
        }
    }
}

impl Attend<'_> {
    /// The output for rows of `BLOCKS` times [`LANES`] columns, so that a row stays in registers; for rows of any width where
    /// `BLOCKS` is 0.
    #[inline(always)]
    fn attend_blocks<S: Simd, const BLOCKS: usize>(&self, simd: S, x: &[[f32; LANES]]) -> Attended {
        let Self { graph, scores: [source_scores, target_scores], width, read, .. } = *self;
        let n_blocks = if BLOCKS == 0 { width.div_ceil(LANES) } else { BLOCKS };
        let mut output = vec![[0.0; LANES]; x.len()];
        let mut attention = vec![0.0; graph.links.n_entries()];
        let mut rest = attention.as_mut_slice();
        assert!(
            read.is_none_or(|read| read.is_sorted_by(|a, b| a < b)),
            "nodes are listed in strictly ascending order"
        );
        let mut read = read.map(|read| read.iter().peekable());
        for (node, out) in output.chunks_exact_mut(n_blocks).enumerate() {
            let (neighbours, weights) = graph.links.row(node);
            let (shares, after) = rest.split_at_mut(neighbours.len());
            rest = after;
            if read.as_mut().is_some_and(|read| read.next_if(|&&next| next as usize == node).is_none()) {
                continue;
            }
            for (share, &j) in shares.iter_mut().zip(neighbours) {
                *share = leaky(source_scores[j as usize] + target_scores[node]);
            }
            // The largest score is subtracted, so that no exponential overflows.
            let most = largest(shares);
            for (share, &weight) in shares.iter_mut().zip(weights) {
                *share = weight * exp(*share - most);
            }
            let total = sum(shares);
            for share in shares.iter_mut() {
                *share /= total;
            }
            if BLOCKS == 0 {
                graph.add_messages(simd, out, node, shares, x);
            } else {
                // The compiler knows that this array does not overlap the features, so it keeps it in registers.
                let mut sums = [[0.0; LANES]; BLOCKS];
                graph.add_messages(simd, &mut sums, node, shares, x);
                out.copy_from_slice(&sums);
            }
        }
        Attended { output: out_of_blocks(output, width), attention }
    }
}

impl AttentionGraph {
    /// Adds what a node receives, in as many blocks as there are sums.
    #[inline(always)]
    fn add_messages<S: Simd>(
        &self,
        simd: S,
        sums: &mut [[f32; LANES]],
        node: usize,
        shares: &[f32],
        x: &[[f32; LANES]],
    ) {
        let n_blocks = sums.len();
        let (neighbours, weights) = self.links.row(node);
        for ((&share, &j), &weight) in shares.iter().zip(neighbours).zip(weights) {
            let coefficient = simd.splat_f32s(share * self.factor(weight));
            for (sums, values) in sums.iter_mut().zip(&x[j as usize * n_blocks..][..n_blocks]) {
                add_products(simd, sums, coefficient, values);
            }
        }
    }

    /// [`Self::gradient`] of rows of `BLOCKS` times [`LANES`] columns, of features and of the gradient by the output; of rows of
    /// any width where `BLOCKS` is 0.
    #[inline(always)]
    fn gradient_blocks<S: Simd, const BLOCKS: usize>(
        &self,
        simd: S,
        [x, g]: &[Cow<[[f32; LANES]]>; 2],
        [source_scores, target_scores]: [&[f32]; 2],
        attention: &[f32],
        width: usize,
    ) -> [Vec<f32>; 3] {
        let n_blocks = if BLOCKS == 0 { width.div_ceil(LANES) } else { BLOCKS };
        let n_nodes = self.links.n_rows();
        let mut on_features = vec![[0.0; LANES]; x.len()];
        let [mut on_sources, mut on_targets] = [vec![0.0; n_nodes], vec![0.0; n_nodes]];
        // `p_ij` of [`Self::gradient`] for every link of a node.
        let mut pulls = Vec::new();
        let mut start = 0;
        for node in 0..n_nodes {
            let (neighbours, weights) = self.links.row(node);
            let shares = &attention[start..start + neighbours.len()];
            start += neighbours.len();
            let gradient = &g[node * n_blocks..][..n_blocks];
            // In the last layer these are the nodes whose logits nobody reads.
            if gradient.as_flattened().iter().all(|&g| g == 0.0) {
                continue;
            }
            pulls.resize(neighbours.len(), 0.0);
            for (((&j, &weight), &share), pull) in neighbours.iter().zip(weights).zip(shares).zip(&mut pulls) {
                let at = j as usize * n_blocks;
                let factor = self.factor(weight);
                let coefficient = simd.splat_f32s(share * factor);
                let mut products = [0.0; LANES];
                let rows = on_features[at..][..n_blocks].iter_mut().zip(&x[at..][..n_blocks]);
                for ((sums, values), gradient) in rows.zip(gradient) {
                    add_products(simd, sums, coefficient, gradient);
                    let (products, _) = S::as_mut_simd_f32s(&mut products);
                    let factors = vectors::<S>(values).iter().zip(vectors::<S>(gradient));
                    for (product, (&value, &gradient)) in products.iter_mut().zip(factors) {
                        *product = simd.mul_add_f32s(value, gradient, *product);
                    }
                }
                *pull = factor * sum_of_lanes(products);
            }
            let mut weighted_pulls = [0.0; LANES];
            for (pulls, shares) in pulls.chunks(LANES).zip(shares.chunks(LANES)) {
                for ((weighted, pull), share) in weighted_pulls.iter_mut().zip(pulls).zip(shares) {
                    *weighted += pull * share;
                }
            }
            let mean = sum_of_lanes(weighted_pulls);
            let mut on_target = 0.0;
            for ((&j, &share), &pull) in neighbours.iter().zip(shares).zip(&pulls) {
                let raw = source_scores[j as usize] + target_scores[node];
                let slope = if raw > 0.0 { 1.0 } else { NEGATIVE_SLOPE };
                let change = share * (pull - mean) * slope;
                on_sources[j as usize] += change;
                on_target += change;
            }
            on_targets[node] = on_target;
        }
        [out_of_blocks(on_features, width), on_sources, on_targets]
    }
}

/// Returns rows of `width` columns, each filled up with zeros to whole blocks of [`LANES`].
fn in_blocks(x: &[f32], width: usize) -> Cow<'_, [[f32; LANES]]> {
    if width.is_multiple_of(LANES) {
        return x.as_chunks().0.into();
    }
    let n_blocks = width.div_ceil(LANES);
    let mut blocks = vec![[0.0; LANES]; x.len() / width * n_blocks];
    for (blocks, row) in blocks.chunks_exact_mut(n_blocks).zip(x.chunks_exact(width)) {
        blocks.as_flattened_mut()[..width].copy_from_slice(row);
    }
    blocks.into()
}

/// Returns rows without what [`in_blocks`] filled them up with.
fn out_of_blocks(blocks: Vec<[f32; LANES]>, width: usize) -> Vec<f32> {
    if width.is_multiple_of(LANES) {
        return blocks.into_flattened();
    }
    let n_blocks = width.div_ceil(LANES);
    let mut rows = Vec::with_capacity(blocks.len() / n_blocks * width);
    for row in blocks.chunks_exact(n_blocks) {
        rows.extend_from_slice(&row.as_flattened()[..width]);
    }
    rows
}

#[inline(always)]
fn vectors<S: Simd>(block: &[f32; LANES]) -> &[S::f32s] {
    const { assert!(LANES.is_multiple_of(S::F32_LANES), "a block has whole vectors") };
    S::as_simd_f32s(block).0
}

/// Adds the products of a coefficient and a block.
#[inline(always)]
fn add_products<S: Simd>(simd: S, sums: &mut [f32; LANES], coefficient: S::f32s, block: &[f32; LANES]) {
    let (sums, _) = S::as_mut_simd_f32s(sums);
    for (sum, &value) in sums.iter_mut().zip(vectors::<S>(block)) {
        *sum = simd.mul_add_f32s(coefficient, value, *sum);
    }
}

#[inline(always)]
fn sum_of_lanes(lanes: [f32; LANES]) -> f32 {
    let [a, b, c, d, e, f, g, h] = lanes;
    ((a + b) + (c + d)) + ((e + f) + (g + h))
}

#[inline(always)]
fn sum(values: &[f32]) -> f32 {
    let (blocks, rest) = values.as_chunks::<LANES>();
    let mut sums = [0.0; LANES];
    for block in blocks {
        for lane in 0..LANES {
            sums[lane] += block[lane];
        }
    }
    for (sum, value) in sums.iter_mut().zip(rest) {
        *sum += value;
    }
    sum_of_lanes(sums)
}

/// The largest value; NaN is passed over.
#[inline(always)]
fn largest(values: &[f32]) -> f32 {
    let (blocks, rest) = values.as_chunks::<LANES>();
    let mut most = [f32::NEG_INFINITY; LANES];
    for block in blocks {
        for lane in 0..LANES {
            most[lane] = most[lane].max(block[lane]);
        }
    }
    let mut largest = f32::NEG_INFINITY;
    for &value in most.iter().chain(rest) {
        largest = largest.max(value);
    }
    largest
}

/// LeakyReLU.
#[inline(always)]
fn leaky(score: f32) -> f32 {
    if score > 0.0 { score } else { NEGATIVE_SLOPE * score }
}

#[cfg(test)]
mod tests;
