//! What a device computes for a batch of models, beyond burn's own operations.
//!
//! Tensors have three dimensions, `[models, rows, width]`, and no operation mixes models.

#[cfg(any(feature = "cuda", feature = "vulkan"))]
mod buffers;
#[cfg(any(feature = "cuda", feature = "vulkan"))]
mod cube;
#[cfg(any(feature = "cuda", feature = "vulkan"))]
mod device_attention;
#[cfg(any(feature = "cuda", feature = "vulkan"))]
mod device_attention_to_all;
#[cfg(any(feature = "cuda", feature = "vulkan"))]
mod device_code;
#[cfg(any(feature = "cuda", feature = "vulkan"))]
mod device_complete;
#[cfg(any(feature = "cuda", feature = "vulkan"))]
mod device_dense;
#[cfg(any(feature = "cuda", feature = "vulkan"))]
mod device_dropout;
#[cfg(any(feature = "cuda", feature = "vulkan"))]
mod device_links;
#[cfg(any(feature = "cuda", feature = "vulkan"))]
mod device_listed;
#[cfg(any(feature = "cuda", feature = "vulkan"))]
mod device_products;
#[cfg(any(feature = "cuda", feature = "vulkan"))]
mod device_sparse;
#[cfg(any(feature = "cuda", feature = "vulkan"))]
mod device_sums;
#[cfg(any(feature = "cuda", feature = "vulkan"))]
mod device_tiles;
mod host;
#[cfg(all(test, any(feature = "cuda", feature = "vulkan")))]
mod tests;

#[cfg(any(feature = "cuda", feature = "vulkan"))]
pub(crate) use device_sparse::ENTRIES_PER_PART;

use std::fmt::Debug;
use std::sync::Arc;

use burn::tensor::backend::Backend;
use burn::tensor::ops::FloatTensor;
use burn::tensor::{Tensor, TensorData, TensorMetadata, TensorPrimitive};
use veilgraph_graph::ProductRows;

use crate::activation::Unit;
use crate::adam::{Corrections, Moments, Rates};
use crate::attention::AttentionGraph;
use crate::dropout::Dropout;
use crate::map::SparseMap;
use crate::score::Score;

/// Features `[models, n, width]`, scores as a source and scores as a target, `[models, n, 1]` each: the inputs of
/// [`AttentionGraph::attend`].
pub(crate) type AttentionInputs<B> = [FloatTensor<B>; 3];

/// A burn backend with the operations that graph networks need beyond burn's.
///
/// Labelled nodes are pairs of a node and its class.
pub(crate) trait DeviceOps: Backend {
    /// A sparse matrix and its transposed one, where the device can read them.
    type Sparse: Clone + Debug + Send + Sync + 'static;
    /// Links of an attention graph.
    type Links: Clone + Debug + Send + Sync + 'static;
    /// What [`Self::attend`] keeps of the attention of every link for its gradient.
    type Shares: Clone + Debug + Send + Sync + 'static;
    /// Labelled nodes.
    type Labelled: Clone + Debug + Send + Sync + 'static;
    /// Dropout of every model of the batch.
    type Dropouts: Clone + Debug + Send + Sync + 'static;
    /// Learning rate and weight decay of every model of the batch.
    type AllRates: Clone + Debug + Send + Sync + 'static;

    /// Bytes that a batch may take on a GPU; none on the host, where models train one by one.
    fn memory(device: &Self::Device) -> Option<u64>;
    /// Gives memory back that the values of a grid have left.
    #[cfg(any(feature = "cuda", feature = "vulkan"))]
    fn free_unused(_: &Self::Device) {}
    /// Copies a matrix to the device.
    fn sparse(map: &Arc<SparseMap>, device: &Self::Device) -> Self::Sparse;
    /// Copies a dense matrix, row-major `[1, rows, columns]`, to the device.
    fn dense(values: Vec<f32>, shape: [usize; 3], device: &Self::Device) -> FloatTensor<Self> {
        from_host::<Self>(values, shape, device)
    }
    /// Copies links to the device.
    fn links(graph: &Arc<AttentionGraph>, device: &Self::Device) -> Self::Links;
    /// Copies labelled nodes to the device.
    fn labelled(labelled: &[(u32, u16)], device: &Self::Device) -> Self::Labelled;
    /// Copies the keys and rates of dropout to the device.
    fn dropouts(dropouts: &[Dropout], device: &Self::Device) -> Self::Dropouts;
    /// Copies learning rates and penalties to the device.
    fn all_rates(rates: &[Rates], device: &Self::Device) -> Self::AllRates;

    /// `M x`, or `Mᵀ x` for the adjoint; `rows` says which rows matter.
    ///
    /// # Shapes
    /// `x`: `[models, columns of M, width]`. Returns `[models, rows of M, width]`; the adjoint swaps both.
    fn multiply(map: &Self::Sparse, adjoint: bool, x: FloatTensor<Self>, rows: ProductRows) -> FloatTensor<Self>;
    /// `M X`, or `Mᵀ X` for the adjoint, of every model, where the device holds every entry of `M`.
    ///
    /// # Shapes
    /// `matrix`: `[1, rows, columns]`; `x`: `[models, columns, width]`. Returns `[models, rows, width]`; the adjoint swaps rows and
    /// columns.
    fn multiply_dense(matrix: &FloatTensor<Self>, adjoint: bool, x: FloatTensor<Self>) -> FloatTensor<Self> {
        let matrix = matrix.clone();
        Self::float_matmul(if adjoint { Self::float_transpose(matrix) } else { matrix }, x)
    }
    /// `X W` of every model.
    ///
    /// # Shapes
    /// `x`: `[models, n, inputs]`; `weight`: `[models, inputs, outputs]`. Returns `[models, n, outputs]`.
    fn product(x: FloatTensor<Self>, weight: FloatTensor<Self>) -> FloatTensor<Self> {
        Self::float_matmul(x, weight)
    }
    /// `Xᵀ Y` of every model.
    ///
    /// # Shapes
    /// `x`: `[models, n, inputs]`; `y`: `[models, n, outputs]`. Returns `[models, inputs, outputs]`.
    fn transposed_product(x: FloatTensor<Self>, y: FloatTensor<Self>) -> FloatTensor<Self> {
        Self::float_matmul(Self::float_transpose(x), y)
    }
    /// The sum of every column.
    ///
    /// # Shapes
    /// `x`: `[models, n, width]`. Returns `[models, 1, width]`.
    fn column_sums(x: FloatTensor<Self>) -> FloatTensor<Self> {
        Self::float_sum_dim(x, 1)
    }
    /// [`AttentionGraph::attend`] of every model: the output, and what its gradient needs beside the inputs. Rows of nodes
    /// that nobody reads have no meaning.
    ///
    /// # Shapes
    /// Returns `[models, n, width]`.
    fn attend(
        graph: &Self::Links,
        inputs: &AttentionInputs<Self>,
        read: Option<&[u32]>,
    ) -> (FloatTensor<Self>, Self::Shares);
    /// Gradients of the inputs of [`Self::attend`], given what it kept and the gradient of its output.
    ///
    /// # Shapes
    /// `gradient`: `[models, n, width]`. Returns the shapes of the inputs.
    fn attend_gradient(
        graph: &Self::Links,
        inputs: &AttentionInputs<Self>,
        shares: Self::Shares,
        gradient: FloatTensor<Self>,
    ) -> [FloatTensor<Self>; 3];
    /// The function of hidden units, with dropout.
    ///
    /// # Shapes
    /// `x` and the result: `[models, n, width]`.
    fn activate(x: FloatTensor<Self>, activation: &Activation<Self>) -> FloatTensor<Self>;
    /// Gradient of [`Self::activate`], from its output `y` and the gradient of `y`.
    ///
    /// The mask need not be kept: a unit of the output is positive exactly where its input was positive and was not
    /// dropped (`Relu`), or zero exactly where it was dropped (`Selu`).
    ///
    /// # Shapes
    /// All `[models, n, width]`.
    fn activate_gradient(
        y: FloatTensor<Self>,
        gradient: FloatTensor<Self>,
        activation: &Activation<Self>,
    ) -> FloatTensor<Self>;
    /// Mean cross-entropy of every model on the labelled nodes, in nats, and its gradient by the logits.
    ///
    /// # Shapes
    /// `logits`: `[models, n, classes]`. Returns `[models, 1, 1]` and `[models, n, classes]`.
    fn cross_entropy(logits: FloatTensor<Self>, labelled: &Self::Labelled) -> (FloatTensor<Self>, FloatTensor<Self>);
    /// Mean cross-entropy and accuracy of every model, with sums in double precision.
    ///
    /// # Shapes
    /// `logits`: `[models, n, classes]`. Returns one score per model.
    fn scores(logits: FloatTensor<Self>, labelled: &Self::Labelled) -> Vec<Score>;
    /// The parameter after the step of Adam that has these corrections, with an L2 penalty in the gradient.
    ///
    /// # Shapes
    /// Parameter, gradient and moments: `[models, rows, columns]`.
    ///
    /// # Source
    /// Kingma, Ba (2015), algorithm 1.
    fn adam(
        parameter: FloatTensor<Self>,
        gradient: FloatTensor<Self>,
        moments: &mut Moments<Self>,
        rates: &Self::AllRates,
        corrections: Corrections,
    ) -> FloatTensor<Self>;
}

/// A function of hidden units, and which dropout it applies, if any: masks differ by step and by layer.
#[derive(Clone, Debug)]
pub(crate) struct Activation<B: DeviceOps> {
    pub unit: Unit,
    pub dropouts: Option<B::Dropouts>,
    pub step: u32,
    pub layer: u32,
}

/// The three dimensions of a tensor.
pub(crate) fn shape<B: Backend>(tensor: &FloatTensor<B>) -> [usize; 3] {
    tensor.shape().dims::<3>()
}

/// The values of a tensor with three dimensions, row-major.
pub(crate) fn to_host<B: Backend>(tensor: FloatTensor<B>) -> Vec<f32> {
    let tensor = Tensor::<B, 3>::from_primitive(TensorPrimitive::Float(tensor));
    tensor.into_data().into_vec().unwrap_or_else(|error| unreachable!("tensors hold f32: {error:?}"))
}

/// A tensor of row-major values on a device.
pub(crate) fn from_host<B: Backend>(values: Vec<f32>, shape: [usize; 3], device: &B::Device) -> FloatTensor<B> {
    Tensor::<B, 3>::from_data(TensorData::new(values, shape), device).into_primitive().tensor()
}
