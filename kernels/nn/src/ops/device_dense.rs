//! The product of a dense matrix with those of all models on a GPU, in 32-bit floating point.
//!
//! Tensor cores are not used, because they round the factors to ten bits of mantissa (docs/decisions.md). The matrices of the models
//! stand side by side, as one matrix that has the columns of all. The units of a cube work on a tile of the product, each on a block
//! of it, and read both factors in tiles that they load together.

use burn_cubecl::CubeRuntime;
use burn_cubecl::kernel::into_contiguous;
use burn_cubecl::tensor::CubeTensor;
use cubecl::prelude::*;

use super::buffers::empty;
use super::device_code::zeros;

/// Units of a cube.
const UNITS: usize = 256;

/// Rows and columns of a tile of the product.
const TILE: usize = 64;

/// Columns of a tile of the left factor, which are rows of a tile of the right one.
const DEPTH: usize = 16;

/// Rows of a unit's block.
const BLOCK_ROWS: usize = 4;

/// Columns of a unit's block.
const BLOCK_COLUMNS: usize = 4;

/// Units beside each other in a tile of the product.
const UNITS_PER_ROW: usize = TILE / BLOCK_COLUMNS;

/// Values that a unit loads for a tile of either factor. More of them at once would have to wait for one another, because there are
/// too few registers for all.
const LOADS: usize = TILE * DEPTH / UNITS;

/// From one row of a tile in shared memory to the next: rows start at multiples of 16 bytes, and few units meet in a bank when they
/// store a column.
const STRIDE: usize = TILE + 4;

/// `M X`, or `Mᵀ X` for the adjoint, of every model.
///
/// # Shapes
/// `matrix`: `[1, rows, columns]`; `x`: `[models, columns, width]`. Returns `[models, rows, width]`; the adjoint swaps rows and
/// columns.
pub(super) fn multiply_dense<R: CubeRuntime>(matrix: &CubeTensor<R>, adjoint: bool, x: CubeTensor<R>) -> CubeTensor<R> {
    let ([_, rows, columns], [models, inner, width]) = (matrix.meta.shape().dims::<3>(), x.meta.shape().dims::<3>());
    let rows = if adjoint { columns } else { rows };
    let [matrix, x] = [matrix.clone(), x].map(into_contiguous);
    let out = empty(&x, [models, rows, width]);
    let cubes = CubeCount::Static(rows.div_ceil(TILE) as u32, (models * width).div_ceil(TILE) as u32, 1);
    multiply_tile::launch::<R>(
        &x.client.clone(),
        cubes,
        CubeDim::new_1d(UNITS as u32),
        matrix.into_array_arg(),
        x.into_array_arg(),
        out.clone().into_array_arg(),
        SizesLaunch::new(rows, inner, models * width, width),
        adjoint,
    );
    out
}

/// Sizes of the factors.
#[derive(CubeLaunch, CubeType, Clone, Copy)]
struct Sizes {
    /// Rows of the product.
    rows: usize,
    /// Columns of the left factor.
    inner: usize,
    /// Columns of all models.
    columns: usize,
    /// Columns of one model.
    width: usize,
}

/// A tile of the product.
///
/// # Shapes
/// `matrix`: `[rows, inner]`, or `[inner, rows]` where it is transposed. `x`: `[models, inner, width]`. `out`: `[models, rows, width]`.
#[cube(launch)]
fn multiply_tile(
    matrix: &Array<f32>,
    x: &Array<f32>,
    out: &mut Array<f32>,
    sizes: Sizes,
    #[comptime] is_transposed: bool,
) {
    let first_row = CUBE_POS_X as usize * TILE;
    let first_column = CUBE_POS_Y as usize * TILE;
    let unit = UNIT_POS as usize;
    let mut left = SharedMemory::<f32>::new_aligned(comptime!(DEPTH * STRIDE), 16usize);
    let mut right = SharedMemory::<f32>::new_aligned(comptime!(DEPTH * STRIDE), 16usize);
    let (block_row, block_column) = (unit / UNITS_PER_ROW * BLOCK_ROWS, unit % UNITS_PER_ROW * BLOCK_COLUMNS);
    let mut sums = zeros(comptime!(BLOCK_ROWS * BLOCK_COLUMNS));
    // Rows and columns beyond the last ones are read as the last ones, and not written.
    let column = min(first_column + unit % TILE, sizes.columns - 1);
    let right_from = column / sizes.width * sizes.inner * sizes.width + column % sizes.width;
    let mut left_from = Array::<usize>::new(LOADS);
    #[unroll]
    for load in 0..LOADS {
        let (depth, row) = place_in_left(load, is_transposed);
        let row = min(first_row + row, sizes.rows - 1);
        left_from[load] = place_in_matrix(row, depth, sizes, is_transposed);
    }
    for start in range_stepped(0usize, sizes.inner, DEPTH) {
        let mut lefts = Array::<f32>::new(LOADS);
        let mut rights = Array::<f32>::new(LOADS);
        let left_start = place_in_matrix(0usize, start, sizes, is_transposed);
        #[unroll]
        for load in 0..LOADS {
            let inner = start + depth_in_right(load);
            lefts[load] = matrix[left_from[load] + left_start];
            // Beyond the last row there are zeros, so that it does not matter what the left factor has there.
            rights[load] = select(inner < sizes.inner, x[right_from + inner * sizes.width], 0.0f32);
        }
        #[unroll]
        for load in 0..LOADS {
            let (depth, row) = place_in_left(load, is_transposed);
            left[depth * STRIDE + row] = lefts[load];
            right[depth_in_right(load) * STRIDE + unit % TILE] = rights[load];
        }
        sync_cube();
        #[unroll]
        for depth in 0..DEPTH {
            let mut factors = Array::<f32>::new(BLOCK_COLUMNS);
            #[unroll]
            for j in 0..BLOCK_COLUMNS {
                factors[j] = right[depth * STRIDE + block_column + j];
            }
            #[unroll]
            for i in 0..BLOCK_ROWS {
                let value = left[depth * STRIDE + block_row + i];
                #[unroll]
                for j in 0..BLOCK_COLUMNS {
                    sums[i * BLOCK_COLUMNS + j] += value * factors[j];
                }
            }
        }
        sync_cube();
    }
    #[unroll]
    for j in 0..BLOCK_COLUMNS {
        let column = first_column + block_column + j;
        let at = column / sizes.width * sizes.rows * sizes.width + column % sizes.width;
        #[unroll]
        for i in 0..BLOCK_ROWS {
            let row = first_row + block_row + i;
            if row < sizes.rows && column < sizes.columns {
                out[at + row * sizes.width] = sums[i * BLOCK_COLUMNS + j];
            }
        }
    }
}

/// Where a unit's value number `load` stands in a tile of the left factor: its depth and its row. Units beside each other read values
/// that lie beside each other in the matrix.
#[cube]
fn place_in_left(#[comptime] load: usize, #[comptime] is_transposed: bool) -> (usize, usize) {
    let at = UNIT_POS as usize + comptime!(load * UNITS);
    if comptime!(is_transposed) { (at / TILE, at % TILE) } else { (at % DEPTH, at / DEPTH) }
}

/// The depth of a unit's value number `load` in a tile of the right factor. All its values are of one column.
#[cube]
fn depth_in_right(#[comptime] load: usize) -> usize {
    UNIT_POS as usize / TILE + comptime!(load * UNITS / TILE)
}

/// Where an entry of the left factor stands.
#[cube]
fn place_in_matrix(row: usize, inner: usize, sizes: Sizes, #[comptime] is_transposed: bool) -> usize {
    if comptime!(is_transposed) { inner * sizes.rows + row } else { row * sizes.inner + inner }
}
