//! Arrays of numbers on a GPU, and the shapes that the operations give them.

use std::sync::Arc;

use burn::tensor::{DType, Shape};
use burn_cubecl::CubeRuntime;
use burn_cubecl::kernel::into_contiguous;
use burn_cubecl::ops::numeric::{empty_device_contiguous_dtype, zeros_client};
use burn_cubecl::tensor::CubeTensor;
use cubecl::prelude::*;
use veilgraph_graph::SparseMatrix;

pub(crate) type Device<R> = <R as Runtime>::Device;

/// A sparse matrix in compressed rows.
///
/// # Shapes
/// `offsets`: `[n_rows + 1]`, where the entries of every row start. `columns`, `values`: `[entries]`.
#[derive(Clone, Debug)]
pub(crate) struct Compressed<R: CubeRuntime> {
    pub offsets: CubeTensor<R>,
    pub columns: CubeTensor<R>,
    pub values: CubeTensor<R>,
    pub n_rows: usize,
    pub n_columns: usize,
}

/// Labelled nodes.
#[derive(Clone, Debug)]
pub(crate) struct DeviceLabelled<R: CubeRuntime> {
    pub nodes: CubeTensor<R>,
    pub classes: CubeTensor<R>,
    /// Position of every labelled node among them, and its class.
    pub positions: Arc<[(u32, u16)]>,
}

impl<R: CubeRuntime> Compressed<R> {
    /// Copies a matrix to the device: `offsets` says where the entries of every row start, `columns` in which column each stands.
    pub(crate) fn new([offsets, columns]: [&[u32]; 2], values: &[f32], n_columns: usize, device: &Device<R>) -> Self {
        Self {
            offsets: place(offsets, DType::U32, device),
            columns: place(columns, DType::U32, device),
            values: place(values, DType::F32, device),
            n_rows: offsets.len() - 1,
            n_columns,
        }
    }
}

/// Offsets, columns and values of all rows, one after the other.
pub(crate) fn entries(matrix: &SparseMatrix) -> (Vec<u32>, Vec<u32>, Vec<f32>) {
    let mut offsets = vec![0];
    let (mut columns, mut values) = (Vec::new(), Vec::new());
    for row in 0..matrix.n_rows() {
        let (row_columns, row_values) = matrix.row(row);
        columns.extend_from_slice(row_columns);
        values.extend_from_slice(row_values);
        offsets.push(columns.len() as u32);
    }
    (offsets, columns, values)
}

/// Copies values to the device.
pub(crate) fn place<R: CubeRuntime, E: CubeElement>(values: &[E], dtype: DType, device: &Device<R>) -> CubeTensor<R> {
    let client = R::client(device);
    let handle = client.create_from_slice(E::as_bytes(values));
    CubeTensor::new_contiguous(client, device.clone(), Shape::new([values.len()]), handle, dtype)
}

/// Arrays that a kernel reads.
pub(crate) fn sequence<R: CubeRuntime>(tensors: &[CubeTensor<R>]) -> SequenceArg<R, Array<f32>> {
    let mut all = SequenceArg::new();
    for tensor in tensors {
        all.push(tensor.clone().into_array_arg());
    }
    all
}

/// The same values in another shape. Its rows must follow each other without gaps.
pub(crate) fn reshaped<R: CubeRuntime>(tensor: CubeTensor<R>, shape: [usize; 3]) -> CubeTensor<R> {
    CubeTensor::new_contiguous(tensor.client, tensor.device, Shape::new(shape), tensor.handle, tensor.dtype)
}

/// A tensor without values yet.
///
/// Device code counts on rows that follow each other without gaps, which is not what a device allocates by default.
pub(crate) fn empty<R: CubeRuntime>(beside: &CubeTensor<R>, shape: [usize; 3]) -> CubeTensor<R> {
    empty_device_contiguous_dtype(beside.client.clone(), beside.device.clone(), Shape::new(shape), DType::F32)
}

/// A tensor of zeros, its rows without gaps.
pub(crate) fn zeros<R: CubeRuntime>(beside: &CubeTensor<R>, shape: [usize; 3]) -> CubeTensor<R> {
    into_contiguous(zeros_client(beside.client.clone(), beside.device.clone(), Shape::new(shape), DType::F32))
}

/// How many units are started, and in what groups.
pub(crate) fn units<R: CubeRuntime>(beside: &CubeTensor<R>, units: usize) -> (ComputeClient<R>, CubeCount, CubeDim) {
    let client = beside.client.clone();
    let dim = CubeDim::new(&client, units);
    (client.clone(), cubecl::calculate_cube_count_elemwise(&client, units, dim), dim)
}
