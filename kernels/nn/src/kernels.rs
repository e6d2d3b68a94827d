//! What a device computes for a batch of models. Tensors have shape `[models, rows, width]`; nothing
//! mixes models.

#[cfg(any(feature = "cuda", feature = "vulkan"))]
mod buffers;
#[cfg(any(feature = "cuda", feature = "vulkan"))]
mod cube;
#[cfg(any(feature = "cuda", feature = "vulkan"))]
mod device_code;
mod host;
#[cfg(all(test, feature = "vulkan"))]
mod tests;

use std::fmt::Debug;
use std::sync::Arc;

use burn::tensor::backend::Backend;
use burn::tensor::ops::FloatTensor;
use burn::tensor::{Tensor, TensorData, TensorMetadata, TensorPrimitive};

use crate::attention::AttentionGraph;
use crate::dropout::Dropout;
use crate::graph_operator::ImplicitMap;
use crate::learned::LearnedMap;
use crate::map::{LinearMap, SparseMap};

/// Features and the two scores of [`AttentionGraph::attend`].
pub(crate) type AttentionInputs<B> = [FloatTensor<B>; 3];

/// A burn backend with the operations that graph networks need beyond burn's.
pub(crate) trait Kernels: Backend {
    /// A sparse matrix and its transposed one, where the device can read them.
    type Sparse: Clone + Debug + Send + Sync + 'static;
    /// Links of an attention graph.
    type Links: Clone + Debug + Send + Sync + 'static;
    /// Labelled nodes.
    type Labelled: Clone + Debug + Send + Sync + 'static;
    /// Dropout of every model of the batch.
    type Dropouts: Clone + Debug + Send + Sync + 'static;
    /// Learning rate and weight decay of every model of the batch.
    type Rates: Clone + Debug + Send + Sync + 'static;

    /// Bytes that a batch may take on a GPU; none on the host.
    fn memory(device: &Self::Device) -> Option<u64>;
    fn sparse(map: &Arc<SparseMap>, device: &Self::Device) -> Self::Sparse;
    fn links(graph: &Arc<AttentionGraph>, device: &Self::Device) -> Self::Links;
    fn labelled(labelled: &[(u32, u16)], device: &Self::Device) -> Self::Labelled;
    fn dropouts(dropouts: &[Dropout], device: &Self::Device) -> Self::Dropouts;
    fn rates(rates: &[[f32; 2]], device: &Self::Device) -> Self::Rates;

    /// `M x`, or `Mᵀ x`.
    fn multiply(map: &Self::Sparse, adjoint: bool, x: FloatTensor<Self>) -> FloatTensor<Self>;
    /// Output and attention of every link.
    fn attend(graph: &Self::Links, inputs: &AttentionInputs<Self>) -> (FloatTensor<Self>, FloatTensor<Self>);
    /// Gradients of the inputs of `attend`.
    fn attend_gradient(
        graph: &Self::Links,
        inputs: &AttentionInputs<Self>,
        attention: FloatTensor<Self>,
        gradient: FloatTensor<Self>,
    ) -> [FloatTensor<Self>; 3];
    /// `max(x, 0)` with dropout.
    fn activate(x: FloatTensor<Self>, activation: &Activation<Self>) -> FloatTensor<Self>;
    /// Gradient of `activate`, from its output `y`.
    fn activate_gradient(
        y: FloatTensor<Self>,
        gradient: FloatTensor<Self>,
        activation: &Activation<Self>,
    ) -> FloatTensor<Self>;
    /// Mean cross-entropy of every model, `[models, 1, 1]`, and its gradient.
    fn cross_entropy(logits: FloatTensor<Self>, labelled: &Self::Labelled) -> (FloatTensor<Self>, FloatTensor<Self>);
    /// Mean cross-entropy in nats and accuracy of every model.
    fn scores(logits: FloatTensor<Self>, labelled: &Self::Labelled) -> Vec<(f64, f64)>;
    /// One step of Adam with an L2 penalty in the gradient.
    fn adam(
        parameter: FloatTensor<Self>,
        gradient: FloatTensor<Self>,
        moments: &mut Moments<Self>,
        rates: &Self::Rates,
        step: u32,
    ) -> FloatTensor<Self>;
}

/// Which dropout an activation applies, if any.
#[derive(Clone, Debug)]
pub(crate) struct Activation<B: Kernels> {
    pub dropouts: Option<B::Dropouts>,
    pub step: u32,
    pub layer: u32,
}

/// Running means of a parameter's gradient and of its square.
#[derive(Clone, Debug)]
pub(crate) struct Moments<B: Backend> {
    pub first: FloatTensor<B>,
    pub second: FloatTensor<B>,
}

/// Decay of the running means, and what keeps the divisor from zero (Kingma, Ba 2015).
pub(crate) const BETAS: [f32; 2] = [0.9, 0.999];
pub(crate) const ADAM_EPSILON: f32 = 1e-8;

/// Learning rate and divisor of the second moment at `step`, after the correction for their zero start.
pub(crate) fn corrections(step: u32) -> [f32; 2] {
    let [first, second] = BETAS.map(|beta| 1.0 - f64::from(beta).powi(step.cast_signed()));
    [(1.0 / first) as f32, (1.0 / second.sqrt()) as f32]
}

/// A linear map where the device can apply it.
#[derive(Clone, Debug)]
pub(crate) enum Map<B: Kernels> {
    Sparse(B::Sparse),
    /// `[1, rows, columns]`.
    Dense(FloatTensor<B>),
    /// Applied on the host, with two copies per call on other devices.
    Host(Arc<ImplicitMap>),
    /// Links of one model that trains on the host.
    Learned(Arc<LearnedMap>),
}

impl<B: Kernels> Map<B> {
    pub(crate) fn new(map: &Arc<LinearMap>, device: &B::Device) -> Self {
        let n = map.n_rows() as u64;
        match map.as_ref() {
            LinearMap::Sparse(sparse) => Self::Sparse(B::sparse(sparse, device)),
            // A GPU multiplies dense matrices faster than the host implicit ones.
            LinearMap::Implicit(soft) if B::memory(device).is_some_and(|bytes| 8 * n * n <= bytes) => {
                Self::Dense(from_host::<B>(soft.dense(), [1, map.n_rows(), map.n_rows()], device))
            }
            LinearMap::Implicit(soft) => Self::Host(soft.clone()),
        }
    }

    pub(crate) fn multiply(&self, x: FloatTensor<B>) -> FloatTensor<B> {
        match self {
            Self::Sparse(map) => B::multiply(map, false, x),
            Self::Dense(matrix) => matmul::<B>(matrix.clone(), x),
            Self::Host(map) => on_host::<B>(|x, width| map.apply(x, width, false), x),
            Self::Learned(map) => on_host::<B>(|x, width| map.apply(x, width, false), x),
        }
    }

    pub(crate) fn multiply_adjoint(&self, y: FloatTensor<B>) -> FloatTensor<B> {
        match self {
            Self::Sparse(map) => B::multiply(map, true, y),
            Self::Dense(matrix) => matmul::<B>(B::float_swap_dims(matrix.clone(), 1, 2), y),
            Self::Host(map) => on_host::<B>(|y, width| map.apply(y, width, true), y),
            Self::Learned(map) => on_host::<B>(|y, width| map.apply(y, width, true), y),
        }
    }
}

/// One matrix times that of every model, as one product.
fn matmul<B: Kernels>(matrix: FloatTensor<B>, x: FloatTensor<B>) -> FloatTensor<B> {
    let [matrix, x] = [matrix, x].map(|tensor| Tensor::<B, 3>::from_primitive(TensorPrimitive::Float(tensor)));
    let [models, columns, width] = x.dims();
    let rows = matrix.dims()[1];
    let product = if models == 1 {
        matrix.matmul(x)
    } else {
        let wide = matrix.matmul(x.swap_dims(0, 1).reshape([1, columns, models * width]));
        wide.reshape([rows, models, width]).swap_dims(0, 1)
    };
    product.into_primitive().tensor()
}

fn on_host<B: Kernels>(apply: impl Fn(&[f32], usize) -> Vec<f32>, x: FloatTensor<B>) -> FloatTensor<B> {
    let device = B::float_device(&x);
    let [models, rows, width] = shape::<B>(&x);
    let x = to_host::<B>(x);
    let product: Vec<f32> = x.chunks(rows * width).flat_map(|x| apply(x, width)).collect();
    from_host::<B>(product, [models, rows, width], &device)
}

pub(crate) fn shape<B: Backend>(tensor: &FloatTensor<B>) -> [usize; 3] {
    tensor.shape().dims::<3>()
}

pub(crate) fn to_host<B: Backend>(tensor: FloatTensor<B>) -> Vec<f32> {
    let tensor = Tensor::<B, 3>::from_primitive(TensorPrimitive::Float(tensor));
    tensor.into_data().into_vec().unwrap_or_else(|error| unreachable!("tensors hold f32: {error:?}"))
}

pub(crate) fn from_host<B: Backend>(values: Vec<f32>, shape: [usize; 3], device: &B::Device) -> FloatTensor<B> {
    Tensor::<B, 3>::from_data(TensorData::new(values, shape), device).into_primitive().tensor()
}
