//! Tiles of nodes that the units of a cube read together, for attention over every pair of nodes.

use cubecl::prelude::*;

/// Units of a cube.
pub(super) const UNITS: usize = 128;

/// Nodes of a tile.
pub(super) const TILE: usize = 32;

/// Weights that a unit reads at once, and values of a tile, whose rows start at multiples of so many.
pub(super) const AT_ONCE: usize = 4;

/// The most features for which a unit works.
pub(super) const MOST_WIDE: usize = 64;

/// The features of a layer for which a launch works, beside their number.
#[derive(CubeLaunch, CubeType, Clone, Copy)]
pub(super) struct Features {
    /// The first of them.
    pub first: usize,
    /// How many features the layer has.
    pub of: usize,
}

/// The weights of the next pairs of a unit's node, read before any of them is used, so that a unit waits for all of them at once.
/// Beyond the last node they are 0.
#[cube]
pub(super) fn next_weights(weights: &Array<f32>, from: usize, own: usize, n_nodes: usize) -> Array<f32> {
    let mut next = Array::<f32>::new(AT_ONCE);
    #[unroll]
    for step in 0..AT_ONCE {
        let other = from + step;
        next[step] = select(other < n_nodes, weights[other * n_nodes + own], 0.0f32);
    }
    next
}

/// Copies so many values to where all units of the cube read them. The rest of the tile has the value `beyond`.
#[cube]
pub(super) fn load(values: &Array<f32>, first: usize, n: usize, beyond: f32, to: &mut SharedMemory<f32>) {
    for at in range_stepped(UNIT_POS as usize, TILE, UNITS) {
        to[at] = select(at < n, values[first + min(at, n - 1)], beyond);
    }
}

/// Copies a part of so many rows of a matrix to where all units of the cube read them. The rest of the tile has zeros.
#[cube]
pub(super) fn load_rows(
    matrix: &Array<f32>,
    first: usize,
    n: usize,
    part: Features,
    to: &mut SharedMemory<f32>,
    #[comptime] width: usize,
) {
    for at in range_stepped(UNIT_POS as usize, comptime!(TILE * width), UNITS) {
        let (row, column) = (at / width, at % width);
        let value = matrix[(first + min(row, n - 1)) * part.of + part.first + column];
        to[row * comptime!(padded(width)) + column] = select(row < n, value, 0.0f32);
    }
}

/// Room for the rows of a tile.
#[cube]
pub(super) fn tile_of_rows(#[comptime] width: usize) -> SharedMemory<f32> {
    SharedMemory::<f32>::new_aligned(comptime!(TILE * padded(width)), comptime!(4 * AT_ONCE))
}

/// The distance of two rows of a tile.
pub(super) const fn padded(width: usize) -> usize {
    width.next_multiple_of(AT_ONCE)
}

/// A part of a row of a matrix, in registers.
#[cube]
pub(super) fn row(matrix: &Array<f32>, at: usize, part: Features, #[comptime] width: usize) -> Array<f32> {
    let mut values = Array::<f32>::new(width);
    #[unroll]
    for k in 0..width {
        values[k] = matrix[at * part.of + part.first + k];
    }
    values
}
