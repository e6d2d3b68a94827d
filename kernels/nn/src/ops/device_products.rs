//! Products of the narrow matrices of each model on a GPU.

use burn_cubecl::CubeRuntime;
use burn_cubecl::kernel::into_contiguous;
use burn_cubecl::tensor::CubeTensor;
use cubecl::prelude::*;

use super::buffers::{empty, reshaped, units};
use super::device_sums::{block_sums, rows_per_block};

/// `X W` of every model. The matrices are as narrow as layers, so that one unit per number suffices.
///
/// # Shapes
/// `x`: `[models, n, inputs]`; `weight`: `[models, inputs, outputs]`. Returns `[models, n, outputs]`.
pub(super) fn product<R: CubeRuntime>(x: CubeTensor<R>, weight: CubeTensor<R>) -> CubeTensor<R> {
    let ([models, n, inputs], [_, _, outputs]) = (x.meta.shape().dims::<3>(), weight.meta.shape().dims::<3>());
    let [x, weight] = [x, weight].map(into_contiguous);
    let out = empty(&x, [models, n, outputs]);
    let (client, count, dim) = units(&x, models * n * outputs);
    let [x, weight, to] = [x, weight, out.clone()].map(CubeTensor::into_array_arg);
    multiply_rows::launch::<R>(&client, count, dim, x, weight, to, n, inputs, outputs);
    out
}

/// `Xᵀ Y` of every model: the sum, over blocks of rows, of each block's product.
///
/// # Shapes
/// `x`: `[models, n, inputs]`; `y`: `[models, n, outputs]`. Returns `[models, inputs, outputs]`.
pub(super) fn transposed_product<R: CubeRuntime>(x: CubeTensor<R>, y: CubeTensor<R>) -> CubeTensor<R> {
    let ([models, n, inputs], [_, _, outputs]) = (x.meta.shape().dims::<3>(), y.meta.shape().dims::<3>());
    let [x, y] = [x, y].map(into_contiguous);
    let per_block = rows_per_block(n);
    let n_blocks = n.div_ceil(per_block);
    let products = empty(&x, [models, n_blocks, inputs * outputs]);
    let (client, count, dim) = units(&x, models * n_blocks * inputs * outputs);
    let [x, y, to] = [x, y, products.clone()].map(CubeTensor::into_array_arg);
    multiply_blocks::launch::<R>(&client, count, dim, x, y, to, n, per_block, inputs, outputs);
    // The sums of one model are its matrix, row by row.
    reshaped(block_sums(products, n_blocks), [models, inputs, outputs])
}

/// `out[m, i, k] = Σ_j x[m, i, j] weight[m, j, k]`.
///
/// # Shapes
/// `x`: `[models, n, inputs]`. `weight`: `[models, inputs, outputs]`. `out`: `[models, n, outputs]`.
#[cube(launch)]
fn multiply_rows(x: &Array<f32>, weight: &Array<f32>, out: &mut Array<f32>, n: usize, inputs: usize, outputs: usize) {
    if ABSOLUTE_POS >= out.len() {
        terminate!();
    }
    let row = ABSOLUTE_POS / outputs;
    let weight_at = row / n * inputs * outputs + ABSOLUTE_POS % outputs;
    let mut sum = 0.0f32;
    for input in 0..inputs {
        sum += x[row * inputs + input] * weight[weight_at + input * outputs];
    }
    out[ABSOLUTE_POS] = sum;
}

/// `out[m, b, j, k] = Σ_i x[m, i, j] y[m, i, k]` over the rows of block `b`.
///
/// # Shapes
/// `x`: `[models, n, inputs]`. `y`: `[models, n, outputs]`. `out`: `[models, blocks, inputs, outputs]`.
#[cube(launch)]
fn multiply_blocks(
    x: &Array<f32>,
    y: &Array<f32>,
    out: &mut Array<f32>,
    n: usize,
    per_block: usize,
    inputs: usize,
    outputs: usize,
) {
    if ABSOLUTE_POS >= out.len() {
        terminate!();
    }
    let output = ABSOLUTE_POS % outputs;
    let input = ABSOLUTE_POS / outputs % inputs;
    let block = ABSOLUTE_POS / (outputs * inputs);
    let n_blocks = n.div_ceil(per_block);
    let model = block / n_blocks;
    let block = block % n_blocks;
    let mut sum = 0.0f32;
    for row in block * per_block..min((block + 1) * per_block, n) {
        let row = model * n + row;
        sum += x[row * inputs + input] * y[row * outputs + output];
    }
    out[ABSOLUTE_POS] = sum;
}
