//! Operations of the kernels with their gradients, for burn's automatic differentiation.

use std::fmt;
use std::sync::Arc;

use burn::backend::Autodiff;
use burn::backend::autodiff::checkpoint::base::Checkpointer;
use burn::backend::autodiff::checkpoint::strategy::NoCheckpointing;
use burn::backend::autodiff::grads::Gradients;
use burn::backend::autodiff::ops::{Backward, Ops, OpsKind};
use burn::tensor::ops::FloatTensor;
use burn::tensor::{Tensor, TensorPrimitive};

use crate::kernels::{Activation, AttentionInputs};
use crate::kernels::{Kernels, Map};

/// A tensor `[models, rows, width]` whose gradient is tracked.
pub(crate) type Tracked<B> = Tensor<Autodiff<B>, 3>;

/// `M x`.
pub(crate) fn multiply<B: Kernels>(map: &Map<B>, x: Tracked<B>) -> Tracked<B> {
    let [x] = primitives([x]);
    let product = map.multiply(x.primitive.clone());
    let map = map.clone();
    differentiable([&x], product, move |gradient| [map.multiply_adjoint(gradient)])
}

/// `max(x, 0)` with dropout.
pub(crate) fn activate<B: Kernels>(x: Tracked<B>, activation: &Activation<B>) -> Tracked<B> {
    let [x] = primitives([x]);
    let y = B::activate(x.primitive.clone(), activation);
    let (output, activation) = (y.clone(), activation.clone());
    differentiable([&x], y, move |gradient| [B::activate_gradient(output.clone(), gradient, &activation)])
}

/// Attention of every node over its links; features `[models, n, width]`, scores `[models, n, 1]`.
pub(crate) fn attend<B: Kernels>(graph: &B::Links, inputs: [Tracked<B>; 3]) -> Tracked<B> {
    let inputs = primitives(inputs);
    let plain: AttentionInputs<B> = inputs.each_ref().map(|input| input.primitive.clone());
    let (output, attention) = B::attend(graph, &plain);
    let graph = graph.clone();
    let [x, sources, targets] = &inputs;
    differentiable([x, sources, targets], output, move |gradient| {
        B::attend_gradient(&graph, &plain, attention.clone(), gradient)
    })
}

/// Mean cross-entropy of every model in nats, `[models, 1, 1]`, on the labelled nodes.
pub(crate) fn cross_entropy<B: Kernels>(logits: Tracked<B>, labelled: &B::Labelled) -> Tracked<B> {
    let [logits] = primitives([logits]);
    let (loss, gradient) = B::cross_entropy(logits.primitive.clone(), labelled);
    differentiable([&logits], loss, move |upstream| [B::float_mul(gradient.clone(), upstream)])
}

type AutodiffTensor<B> = FloatTensor<Autodiff<B>>;

fn primitives<B: Kernels, const N: usize>(tensors: [Tracked<B>; N]) -> [AutodiffTensor<B>; N] {
    tensors.map(|tensor| tensor.into_primitive().tensor())
}

/// Gradients of the inputs from the gradient of the output.
type Pullback<B, const N: usize> = dyn Fn(FloatTensor<B>) -> [FloatTensor<B>; N] + Send + Sync;

struct State<B: Kernels, const N: usize>(Arc<Pullback<B, N>>);

impl<B: Kernels, const N: usize> Clone for State<B, N> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<B: Kernels, const N: usize> fmt::Debug for State<B, N> {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        formatter.write_str("gradient")
    }
}

#[derive(Debug)]
struct Step<const N: usize>;

impl<B: Kernels, const N: usize> Backward<B, N> for Step<N> {
    type State = State<B, N>;

    fn backward(self, ops: Ops<Self::State, N>, gradients: &mut Gradients, _: &mut Checkpointer) {
        let found = (ops.state.0)(gradients.consume::<B>(&ops.node));
        for (parent, gradient) in ops.parents.into_iter().zip(found) {
            if let Some(parent) = parent {
                gradients.register::<B>(parent.id, gradient);
            }
        }
    }
}

fn differentiable<B: Kernels, const N: usize>(
    inputs: [&AutodiffTensor<B>; N],
    output: FloatTensor<B>,
    pullback: impl Fn(FloatTensor<B>) -> [FloatTensor<B>; N] + Send + Sync + 'static,
) -> Tracked<B> {
    let nodes = inputs.map(|input| input.node.clone());
    let output = match Backward::<B, N>::prepare::<NoCheckpointing>(Step::<N>, nodes).compute_bound().stateful() {
        OpsKind::Tracked(step) => step.finish(State(Arc::new(pullback)), output),
        OpsKind::UnTracked(step) => step.finish(output),
    };
    Tensor::from_primitive(TensorPrimitive::Float(output))
}
