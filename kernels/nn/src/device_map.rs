//! A linear map where a device can apply it to the matrices of a batch of models.

use std::sync::Arc;

use burn::tensor::ops::FloatTensor;

use veilgraph_graph::ProductRows;

use crate::learned::LearnedMap;
use crate::map::LinearMap;
use crate::ops::{DeviceOps, from_host, shape, to_host};

/// A linear map `M` where the device can apply it.
#[derive(Clone, Debug)]
pub(crate) enum DeviceMap<B: DeviceOps> {
    /// Explicit entries, on the device.
    Sparse(B::Sparse),
    /// Every entry, on the device: `[1, rows, columns]`.
    Dense(FloatTensor<B>),
    /// Applied on the host: other devices copy two matrices per call.
    Host(Arc<LinearMap>),
    /// Links of one model that trains on the host.
    Learned(Arc<LearnedMap>),
}

impl<B: DeviceOps> DeviceMap<B> {
    /// Copies a map to the device, in the form in which it is applied fastest there.
    pub(crate) fn new(map: &Arc<LinearMap>, device: &B::Device) -> Self {
        if let LinearMap::Sparse(sparse) = map.as_ref() {
            return Self::Sparse(B::sparse(sparse, device));
        }
        // A GPU multiplies by a dense matrix faster than the host applies an implicit one.
        match B::memory(device).and_then(|memory| map.dense(most_entries(memory))) {
            Some(values) => Self::Dense(B::dense(values, [1, map.n_rows(), map.n_columns()], device)),
            None => Self::Host(map.clone()),
        }
    }

    /// `M x`; `rows` says which rows matter.
    ///
    /// # Shapes
    /// `x`: `[models, columns, width]`. Returns `[models, rows, width]`.
    pub(crate) fn multiply(&self, x: FloatTensor<B>, rows: ProductRows) -> FloatTensor<B> {
        match self {
            Self::Sparse(map) => B::multiply(map, false, x, rows),
            Self::Dense(matrix) => B::multiply_dense(matrix, false, x),
            Self::Host(map) => on_host::<B>(|x, width| map.apply(x, width, false, rows), x),
            Self::Learned(map) => on_host::<B>(|x, width| map.apply(x, width, false, rows), x),
        }
    }

    /// `Mᵀ y`; `rows` says which rows matter.
    ///
    /// # Shapes
    /// `y`: `[models, rows, width]`. Returns `[models, columns, width]`.
    pub(crate) fn multiply_adjoint(&self, y: FloatTensor<B>, rows: ProductRows) -> FloatTensor<B> {
        match self {
            Self::Sparse(map) => B::multiply(map, true, y, rows),
            Self::Dense(matrix) => B::multiply_dense(matrix, true, y),
            Self::Host(map) => on_host::<B>(|y, width| map.apply(y, width, true, rows), y),
            Self::Learned(map) => on_host::<B>(|y, width| map.apply(y, width, true, rows), y),
        }
    }
}

/// The most entries of a dense matrix on a device with so much memory for batches. Half of it is left for the models, and kernels count
/// in 32 bits.
pub(crate) fn most_entries(memory: u64) -> u64 {
    (memory / 8).min(u32::MAX.into())
}

/// A function of one model's matrix, applied to that of every model on the host.
///
/// # Shapes
/// `x`: `[models, n, width]`; `apply` takes row-major `[n, width]` and returns as many columns, as does the result.
fn on_host<B: DeviceOps>(apply: impl Fn(&[f32], usize) -> Vec<f32>, x: FloatTensor<B>) -> FloatTensor<B> {
    let device = B::float_device(&x);
    let [models, rows, width] = shape::<B>(&x);
    let x = to_host::<B>(x);
    // The first product is kept as it is, so that one model costs no copy.
    let mut products = x.chunks(rows * width).map(|x| apply(x, width));
    let mut product = products.next().unwrap_or_default();
    products.for_each(|next| product.extend(next));
    let rows = product.len() / (models * width);
    from_host::<B>(product, [models, rows, width], &device)
}
