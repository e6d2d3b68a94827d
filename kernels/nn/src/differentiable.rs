//! The operations of `ops` with their gradients, for burn's automatic differentiation.
//!
//! Every function runs the operation of the device and registers how the gradients of its inputs follow from the
//! gradient of its output. Burn then calls this in the backward pass.

use std::fmt;
use std::sync::Arc;

use burn::backend::Autodiff;
use burn::backend::autodiff::checkpoint::base::Checkpointer;
use burn::backend::autodiff::checkpoint::strategy::NoCheckpointing;
use burn::backend::autodiff::grads::Gradients;
use burn::backend::autodiff::ops::{Backward, Ops, OpsKind};
use burn::tensor::ops::FloatTensor;
use burn::tensor::{Tensor, TensorPrimitive};

use veilgraph_graph::ProductRows;

use crate::batch_norm::{normalize, normalize_gradient};
use crate::device_map::DeviceMap;
use crate::map::ReadRows;
use crate::ops::{Activation, DeviceOps, from_host, shape, to_host};

/// A tensor `[models, rows, width]` whose gradient is tracked.
pub(crate) type Tracked<B> = Tensor<Autodiff<B>, 3>;

/// `M x` in the rows that are read, with the gradient `Mᵀ g`.
///
/// # Shapes
/// `x`: `[models, columns of M, width]`. Returns `[models, rows of M, width]`.
pub(crate) fn multiply<B: DeviceOps>(map: &DeviceMap<B>, x: Tracked<B>, read: &ReadRows) -> Tracked<B> {
    differentiable([x], |[x]| {
        let product = map.multiply(x, read.as_deref().map_or(ProductRows::All, ProductRows::Read));
        let (map, read) = (map.clone(), read.clone());
        let pullback = move |gradient| {
            // What nobody read has no gradient.
            let rows = read.as_deref().map_or(ProductRows::All, ProductRows::Nonzero);
            [map.multiply_adjoint(gradient, rows)]
        };
        (product, pullback)
    })
}

/// `X W`, with the gradients `G Wᵀ` and `Xᵀ G`.
///
/// # Shapes
/// `x`: `[models, n, inputs]`; `weight`: `[models, inputs, outputs]`. Returns `[models, n, outputs]`.
pub(crate) fn product<B: DeviceOps>(x: Tracked<B>, weight: Tracked<B>) -> Tracked<B> {
    differentiable([x, weight], |[x, weight]| {
        let product = B::product(x.clone(), weight.clone());
        let pullback = move |gradient: FloatTensor<B>| {
            let by_x = B::product(gradient.clone(), B::float_transpose(weight.clone()));
            [by_x, B::transposed_product(x.clone(), gradient)]
        };
        (product, pullback)
    })
}

/// A row added to every row of each model's matrix, as biases are.
///
/// # Shapes
/// `x`: `[models, n, width]`; `row`: `[models, 1, width]`. Returns `[models, n, width]`.
pub(crate) fn add_row<B: DeviceOps>(x: Tracked<B>, row: Tracked<B>) -> Tracked<B> {
    differentiable([x, row], |[x, row]| {
        (B::float_add(x, row), |gradient: FloatTensor<B>| [gradient.clone(), B::column_sums(gradient)])
    })
}

/// The function of hidden units, with dropout.
///
/// # Shapes
/// `x` and the result: `[models, n, width]`.
pub(crate) fn activate<B: DeviceOps>(x: Tracked<B>, activation: &Activation<B>) -> Tracked<B> {
    differentiable([x], |[x]| {
        let y = B::activate(x, activation);
        let (output, activation) = (y.clone(), activation.clone());
        (y, move |gradient| [B::activate_gradient(output.clone(), gradient, &activation)])
    })
}

/// Attention of every node that is read over its links, with the gradients of features and scores.
///
/// # Shapes
/// `inputs`: features `[models, n, width]`, then the scores of sources and of targets, `[models, n, 1]` each. Returns
/// `[models, n, width]`.
///
/// # Source
/// [`AttentionGraph::attend`](crate::attention::AttentionGraph::attend).
pub(crate) fn attend<B: DeviceOps>(graph: &B::Links, inputs: [Tracked<B>; 3], read: &ReadRows) -> Tracked<B> {
    differentiable(inputs, |inputs| {
        let (output, shares) = B::attend(graph, &inputs, read.as_deref());
        let graph = graph.clone();
        // What nobody read has no gradient, and such nodes are passed over.
        (output, move |gradient| B::attend_gradient(&graph, &inputs, shares.clone(), gradient))
    })
}

/// Mean cross-entropy of every model on the labelled nodes, in nats.
///
/// # Shapes
/// `logits`: `[models, n, classes]`. Returns `[models, 1, 1]`.
pub(crate) fn cross_entropy<B: DeviceOps>(logits: Tracked<B>, labelled: &B::Labelled) -> Tracked<B> {
    differentiable([logits], |[logits]| {
        let (loss, gradient) = B::cross_entropy(logits, labelled);
        (loss, move |upstream| [B::float_mul(gradient.clone(), upstream)])
    })
}

/// A loss of every model that is computed on the host: its value in nats, and its gradient by the logits.
///
/// # Shapes
/// `logits`: `[models, n, classes]`; `loss` takes and returns row-major `[n, classes]`. Returns `[models, 1, 1]`.
pub(crate) fn host_loss<B: DeviceOps>(logits: Tracked<B>, loss: impl Fn(&[f32]) -> (f64, Vec<f32>)) -> Tracked<B> {
    differentiable([logits], |[logits]| {
        let device = B::float_device(&logits);
        let [models, rows, width] = shape::<B>(&logits);
        let values = to_host::<B>(logits);
        let (losses, gradients): (Vec<f32>, Vec<Vec<f32>>) = values
            .chunks_exact(rows * width)
            .map(|logits| {
                let (loss, gradient) = loss(logits);
                (loss as f32, gradient)
            })
            .unzip();
        let losses = from_host::<B>(losses, [models, 1, 1], &device);
        let gradient = from_host::<B>(gradients.concat(), [models, rows, width], &device);
        (losses, move |upstream| [B::float_mul(gradient.clone(), upstream)])
    })
}

/// Every column minus its mean, divided by its standard deviation, then times a gain and plus a shift of its own.
///
/// # Shapes
/// `inputs`: `x`, `[models, n, width]`, then gain and shift, `[models, 1, width]` each. Returns `[models, n, width]`.
///
/// # Source
/// Ioffe, Szegedy (2015), algorithm 1.
pub(crate) fn batch_norm<B: DeviceOps>(inputs: [Tracked<B>; 3]) -> Tracked<B> {
    differentiable(inputs, |inputs| {
        let device = B::float_device(&inputs[0]);
        let size = shape::<B>(&inputs[0]);
        let [models, rows, width] = size;
        let values = inputs.map(to_host::<B>);
        let (output, normed) = normalize(&values[0], [&values[1], &values[2]], [rows, width]);
        let output = from_host::<B>(output, size, &device);
        let [_, gains, _] = values;
        let pullback = move |gradient| {
            let gradient = to_host::<B>(gradient);
            let [by_x, by_gain, by_shift] = normalize_gradient(&normed, &gains, &gradient, [rows, width]);
            let small = [models, 1, width];
            [(by_x, size), (by_gain, small), (by_shift, small)]
                .map(|(values, shape)| from_host::<B>(values, shape, &device))
        };
        (output, pullback)
    })
}

/// Gradients of the inputs from the gradient of the output.
type Pullback<B, const N: usize> = dyn Fn(FloatTensor<B>) -> [FloatTensor<B>; N] + Send + Sync;

/// What burn keeps of an operation until the backward pass.
struct State<B: DeviceOps, const N: usize>(Arc<Pullback<B, N>>);

impl<B: DeviceOps, const N: usize> Clone for State<B, N> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<B: DeviceOps, const N: usize> fmt::Debug for State<B, N> {
    /// Says what it is; a closure cannot be printed.
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        formatter.write_str("gradient")
    }
}

/// An operation with `N` inputs, as burn's backward pass calls it.
#[derive(Debug)]
struct Operation<const N: usize>;

impl<B: DeviceOps, const N: usize> Backward<B, N> for Operation<N> {
    type State = State<B, N>;

    fn backward(self, ops: Ops<Self::State, N>, gradients: &mut Gradients, _: &mut Checkpointer) {
        let found = (ops.state.0)(gradients.consume::<B>(&ops.node));
        // An input whose gradient nobody asked for has no parent.
        for (parent, gradient) in ops.parents.into_iter().zip(found) {
            if let Some(parent) = parent {
                gradients.register::<B>(parent.id, gradient);
            }
        }
    }
}

/// The output of an operation, tracked as a function of its inputs.
///
/// `run` computes it, and returns with it the function that gives the gradients of the inputs from the gradient of the output.
fn differentiable<B: DeviceOps, P, const N: usize>(
    inputs: [Tracked<B>; N],
    run: impl FnOnce([FloatTensor<B>; N]) -> (FloatTensor<B>, P),
) -> Tracked<B>
where
    P: Fn(FloatTensor<B>) -> [FloatTensor<B>; N] + Send + Sync + 'static,
{
    let inputs = inputs.map(|input| input.into_primitive().tensor());
    let nodes = inputs.each_ref().map(|input| input.node.clone());
    // Gradients of inputs that nobody else holds must not be cleaned up before the output is registered.
    let _held = inputs.each_ref().map(|input| input.rc.clone());
    // The operation owns its inputs, so that it may write its output in the place of one.
    let (output, pullback) = run(inputs.map(|input| input.primitive));
    let output = match Backward::<B, N>::prepare::<NoCheckpointing>(Operation::<N>, nodes).compute_bound().stateful() {
        OpsKind::Tracked(step) => step.finish(State(Arc::new(pullback)), output),
        OpsKind::UnTracked(step) => step.finish(output),
    };
    Tensor::from_primitive(TensorPrimitive::Float(output))
}
