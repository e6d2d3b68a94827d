//! Products with a sparse matrix on a GPU.
//!
//! One unit walks the entries of a row. A word that a tenth of all nodes have makes a row so long that the few units of
//! this row would work while all others wait. Where there are such rows, all rows are cut into parts: a first product
//! gives the sum of every part, and a second one adds up the parts of each row.

use burn_cubecl::CubeRuntime;
use burn_cubecl::kernel::into_contiguous;
use burn_cubecl::tensor::CubeTensor;
use veilgraph_graph::SparseMatrix;

use super::buffers::{Compressed, empty, entries, units};
use super::device_code;
use crate::map::SparseMap;

/// Models for which one unit works. Of 1, 2, 4 and 8, this was the fastest on an H200.
const MODELS_PER_UNIT: usize = 4;

/// The largest number of entries in a part of a row.
pub(crate) const ENTRIES_PER_PART: usize = 128;

/// The largest number of entries in a row that is not cut. A second product costs time too.
const ENTRIES_PER_ROW: usize = 512;

/// A sparse matrix and its transposed one: each is the product of one or two matrices, the first of which is applied first.
#[derive(Clone, Debug)]
pub(crate) struct DeviceSparse<R: CubeRuntime>([Vec<Compressed<R>>; 2]);

impl<R: CubeRuntime> DeviceSparse<R> {
    /// Copies a matrix and its transposed one to the device.
    pub(super) fn new(map: &SparseMap, device: &R::Device) -> Self {
        Self([&map.matrix, &map.transposed].map(|matrix| in_factors(matrix, device)))
    }

    /// `M x`, or `Mᵀ x` for the adjoint.
    ///
    /// # Shapes
    /// `x`: `[models, columns of M, width]`. Returns `[models, rows of M, width]`; the adjoint swaps both.
    pub(super) fn multiply(&self, adjoint: bool, x: CubeTensor<R>) -> CubeTensor<R> {
        self.0[usize::from(adjoint)].iter().fold(into_contiguous(x), |x, factor| multiply(factor, x))
    }
}

/// The matrix as it is, or the sums over parts of its rows followed by the sums over each row's parts.
fn in_factors<R: CubeRuntime>(matrix: &SparseMatrix, device: &R::Device) -> Vec<Compressed<R>> {
    let (offsets, columns, values) = entries(matrix);
    let lengths = offsets.windows(2).map(|pair| (pair[1] - pair[0]) as usize);
    if lengths.max().unwrap_or(0) <= ENTRIES_PER_ROW {
        return vec![Compressed::new([&offsets, &columns], &values, matrix.n_columns(), device)];
    }
    let Parts { starts, of_rows } = Parts::new(&offsets);
    let n_parts = starts.len() - 1;
    let all: Vec<u32> = (0..n_parts as u32).collect();
    vec![
        Compressed::new([&starts, &columns], &values, matrix.n_columns(), device),
        Compressed::new([&of_rows, &all], &vec![1.0; n_parts], n_parts, device),
    ]
}

/// Rows, cut into parts.
struct Parts {
    /// Where the entries of every part start, and where those of the last one end.
    starts: Vec<u32>,
    /// Where the parts of every row start, and where those of the last one end.
    of_rows: Vec<u32>,
}

impl Parts {
    /// Cuts rows whose entries start at these places.
    fn new(offsets: &[u32]) -> Self {
        let (mut starts, mut of_rows) = (Vec::new(), Vec::with_capacity(offsets.len()));
        for row in offsets.windows(2) {
            of_rows.push(starts.len() as u32);
            starts.extend((row[0]..row[1]).step_by(ENTRIES_PER_PART));
        }
        of_rows.push(starts.len() as u32);
        starts.extend(offsets.last());
        Self { starts, of_rows }
    }
}

/// The product of a matrix on the device with that of every model.
fn multiply<R: CubeRuntime>(matrix: &Compressed<R>, x: CubeTensor<R>) -> CubeTensor<R> {
    let [models, _, width] = x.meta.shape().dims::<3>();
    let Compressed { offsets, columns, values, n_rows, n_columns } = matrix.clone();
    let out = empty(&x, [models, n_rows, width]);
    let at_once = models.min(MODELS_PER_UNIT);
    let (client, count, dim) = units(&x, models.div_ceil(at_once) * n_rows * width);
    let [offsets, columns, values, x, to] = [offsets, columns, values, x, out.clone()].map(CubeTensor::into_array_arg);
    device_code::multiply::launch::<R>(&client, count, dim, offsets, columns, values, x, to, n_columns, width, at_once);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_cover_every_row() {
        let per_part = ENTRIES_PER_PART as u32;
        let offsets = [0, 3, 3, 3 + 2 * per_part, 4 + 5 * per_part];
        let Parts { starts, of_rows } = Parts::new(&offsets);
        assert_eq!(of_rows, [0, 1, 1, 3, 7]);
        assert_eq!(starts[..3], [0, 3, 3 + per_part]);
        for (row, parts) in offsets.windows(2).zip(of_rows.windows(2)) {
            let ends = &starts[parts[0] as usize..=parts[1] as usize];
            assert_eq!((ends[0], ends.last()), (row[0], Some(&row[1])));
            assert!(ends.windows(2).all(|part| (1..=per_part).contains(&(part[1] - part[0]))), "{ends:?}");
        }
    }
}
