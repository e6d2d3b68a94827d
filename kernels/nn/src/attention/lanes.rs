//! Rows of features in blocks of a few columns, and sums whose order does not depend on the width of the processor's vectors.

#![expect(clippy::inline_always, reason = "what `dispatch` calls takes its vector width only where it is inlined")]

use std::borrow::Cow;

use pulp::Simd;

/// So many columns of a row are multiplied side by side, and so many terms of a sum are added at a time.
pub(super) const LANES: usize = 8;

/// Returns rows of `width` columns, each filled up with zeros to whole blocks of [`LANES`].
pub(super) fn in_blocks(x: &[f32], width: usize) -> Cow<'_, [[f32; LANES]]> {
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
pub(super) fn out_of_blocks(blocks: Vec<[f32; LANES]>, width: usize) -> Vec<f32> {
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
pub(super) fn vectors<S: Simd>(block: &[f32; LANES]) -> &[S::f32s] {
    const { assert!(LANES.is_multiple_of(S::F32_LANES), "a block has whole vectors") };
    S::as_simd_f32s(block).0
}

/// Adds the products of a coefficient and a block.
#[inline(always)]
pub(super) fn add_products<S: Simd>(simd: S, sums: &mut [f32; LANES], coefficient: S::f32s, block: &[f32; LANES]) {
    let (sums, _) = S::as_mut_simd_f32s(sums);
    for (sum, &value) in sums.iter_mut().zip(vectors::<S>(block)) {
        *sum = simd.mul_add_f32s(coefficient, value, *sum);
    }
}

/// The sum of all lanes. Each half is added to the other one until one number is left.
#[inline(always)]
fn sum_of_lanes(lanes: [f32; LANES]) -> f32 {
    sum_of_half(half(lanes))
}

/// Lanes with their second half added to the first one.
#[inline(always)]
pub(super) fn half(lanes: [f32; LANES]) -> [f32; LANES / 2] {
    let [a, b, c, d, e, f, g, h] = lanes;
    [a + e, b + f, c + g, d + h]
}

/// The sum of what [`half`] returns.
#[inline(always)]
pub(super) fn sum_of_half([a, b, c, d]: [f32; LANES / 2]) -> f32 {
    (a + c) + (b + d)
}

/// The sum of all values.
#[inline(always)]
pub(super) fn sum(values: &[f32]) -> f32 {
    let (blocks, rest) = values.as_chunks::<LANES>();
    let mut sums = [0.0; LANES];
    for block in blocks {
        for lane in 0..LANES {
            sums[lane] += block[lane];
        }
    }
    // These are added one after the other: a lane whose number the compiler does not know would be added in memory.
    let mut last = 0.0;
    for value in rest {
        last += value;
    }
    sum_of_lanes(sums) + last
}

/// The largest value; NaN is passed over.
#[inline(always)]
pub(super) fn largest(values: &[f32]) -> f32 {
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
