//! Sums over the rows of matrices on a GPU.
//!
//! The rows are summed in blocks, and then the sums of the blocks: one unit sums one column of one block. The order of the
//! terms depends on the number of rows alone.

use burn_cubecl::CubeRuntime;
use burn_cubecl::kernel::into_contiguous;
use burn_cubecl::tensor::CubeTensor;
use cubecl::prelude::*;

use super::buffers::{empty, units};

/// Rows of one block: as many as there are blocks, so that both sums take equally long.
pub(super) fn rows_per_block(n_rows: usize) -> usize {
    n_rows.isqrt().max(1)
}

/// The sum of every column.
///
/// # Shapes
/// `x`: `[models, n, width]`, with `n` at least 1. Returns `[models, 1, width]`.
pub(super) fn column_sums<R: CubeRuntime>(x: CubeTensor<R>) -> CubeTensor<R> {
    let n_rows = x.meta.shape().dims::<3>()[1];
    let sums = block_sums(into_contiguous(x), rows_per_block(n_rows));
    let n_blocks = sums.meta.shape().dims::<3>()[1];
    block_sums(sums, n_blocks)
}

/// The sum of every column over each block of rows.
///
/// # Shapes
/// `x`: `[models, n, width]`, its rows without gaps. Returns `[models, blocks, width]`.
pub(super) fn block_sums<R: CubeRuntime>(x: CubeTensor<R>, per_block: usize) -> CubeTensor<R> {
    let [models, n_rows, width] = x.meta.shape().dims::<3>();
    let n_blocks = n_rows.div_ceil(per_block);
    let out = empty(&x, [models, n_blocks, width]);
    let (client, count, dim) = units(&x, models * n_blocks * width);
    let [from, to] = [x, out.clone()].map(CubeTensor::into_array_arg);
    sum_blocks::launch::<R>(&client, count, dim, from, to, n_rows, per_block, width);
    out
}

/// `out[m, b, k] = Σ_i x[m, i, k]` over the rows of block `b`.
///
/// # Shapes
/// `x`: `[models, n_rows, width]`. `out`: `[models, blocks, width]`.
#[cube(launch)]
fn sum_blocks(x: &Array<f32>, out: &mut Array<f32>, n_rows: usize, per_block: usize, width: usize) {
    if ABSOLUTE_POS >= out.len() {
        terminate!();
    }
    let n_blocks = n_rows.div_ceil(per_block);
    let lane = ABSOLUTE_POS % width;
    let block = ABSOLUTE_POS / width % n_blocks;
    let model = ABSOLUTE_POS / (width * n_blocks);
    let mut sum = 0.0f32;
    for row in block * per_block..min((block + 1) * per_block, n_rows) {
        sum += x[(model * n_rows + row) * width + lane];
    }
    out[ABSOLUTE_POS] = sum;
}
