//! Linear maps and attention as differentiable operations of burn.
//!
//! The computation runs on the host for every device: exact and fast on the CPU, correct but with two
//! copies per call on CUDA.

use std::sync::Arc;

use burn::backend::autodiff::NodeId;
use burn::backend::autodiff::checkpoint::base::Checkpointer;
use burn::backend::autodiff::checkpoint::strategy::CheckpointStrategy;
use burn::backend::autodiff::grads::Gradients;
use burn::backend::autodiff::ops::{Backward, Ops, OpsKind};
use burn::backend::{Autodiff, Flex};
use burn::tensor::backend::Backend;
use burn::tensor::ops::FloatTensor;
use burn::tensor::{Tensor, TensorData, TensorPrimitive};

use crate::attention::AttentionGraph;
use crate::operator::LinearMap;

/// A burn backend that can aggregate over graphs.
pub(crate) trait GraphBackend: Backend {
    /// `M x`.
    fn apply(map: &Arc<dyn LinearMap>, x: FloatTensor<Self>) -> FloatTensor<Self>;
    /// Attention; `x`: `[n, width]`, scores: `[n, 1]`.
    fn attend(graph: &Arc<AttentionGraph>, inputs: [FloatTensor<Self>; 3]) -> FloatTensor<Self>;
}

/// A tensor on the host.
struct Host {
    values: Vec<f32>,
    width: usize,
}

fn to_host<B: Backend>(tensor: FloatTensor<B>) -> Host {
    let tensor: Tensor<B, 2> = Tensor::from_primitive(TensorPrimitive::Float(tensor));
    let width = tensor.dims()[1];
    let values = tensor.into_data().into_vec().unwrap_or_else(|error| unreachable!("tensors hold f32: {error:?}"));
    Host { values, width }
}

fn from_host<B: Backend>(values: Vec<f32>, width: usize, device: &B::Device) -> FloatTensor<B> {
    let rows = values.len() / width.max(1);
    Tensor::<B, 2>::from_data(TensorData::new(values, [rows, width]), device).into_primitive().tensor()
}

fn apply_on_host<B: Backend>(map: &Arc<dyn LinearMap>, x: FloatTensor<B>) -> FloatTensor<B> {
    let device = B::float_device(&x);
    let x = to_host::<B>(x);
    from_host::<B>(map.apply(&x.values, x.width), x.width, &device)
}

fn attend_on_host<B: Backend>(graph: &AttentionGraph, inputs: [FloatTensor<B>; 3]) -> FloatTensor<B> {
    let device = B::float_device(&inputs[0]);
    let [x, sources, targets] = inputs.map(to_host::<B>);
    let attended = graph.attend(&x.values, &sources.values, &targets.values, x.width);
    from_host::<B>(attended.output, x.width, &device)
}

macro_rules! on_host {
    ($backend:ty) => {
        impl GraphBackend for $backend {
            fn apply(map: &Arc<dyn LinearMap>, x: FloatTensor<Self>) -> FloatTensor<Self> {
                apply_on_host::<Self>(map, x)
            }
            fn attend(graph: &Arc<AttentionGraph>, inputs: [FloatTensor<Self>; 3]) -> FloatTensor<Self> {
                attend_on_host::<Self>(graph, inputs)
            }
        }
    };
}
on_host!(Flex);
#[cfg(feature = "cuda")]
on_host!(burn::backend::Cuda);

#[derive(Debug)]
struct ApplyBackward;

impl<B: Backend> Backward<B, 1> for ApplyBackward {
    type State = Arc<dyn LinearMap>;

    fn backward(self, ops: Ops<Self::State, 1>, gradients: &mut Gradients, _: &mut Checkpointer) {
        let gradient = gradients.consume::<B>(&ops.node);
        let [parent] = ops.parents;
        if let Some(node) = parent {
            let device = B::float_device(&gradient);
            let y = to_host::<B>(gradient);
            gradients
                .register::<B>(node.id, from_host::<B>(ops.state.apply_adjoint(&y.values, y.width), y.width, &device));
        }
    }
}

/// What the gradient of attention remembers of the forward pass.
#[derive(Clone, Debug)]
struct AttentionState {
    graph: Arc<AttentionGraph>,
    inputs: Arc<[Vec<f32>; 3]>,
    attention: Arc<Vec<f32>>,
    width: usize,
}

#[derive(Debug)]
struct AttendBackward;

impl<B: Backend> Backward<B, 3> for AttendBackward {
    type State = AttentionState;

    fn backward(self, ops: Ops<Self::State, 3>, gradients: &mut Gradients, _: &mut Checkpointer) {
        let output = gradients.consume::<B>(&ops.node);
        let device = B::float_device(&output);
        let AttentionState { graph, inputs, attention, width } = ops.state;
        let [x, sources, targets] = &*inputs;
        let found = graph.gradient(x, sources, targets, &attention, &to_host::<B>(output).values, width);
        let [on_x, on_sources, on_targets] = ops.parents;
        let mut register =
            |node: NodeId, values, width| gradients.register::<B>(node, from_host::<B>(values, width, &device));
        if let Some(node) = on_x {
            register(node.id, found.features, width);
        }
        if let Some(node) = on_sources {
            register(node.id, found.source_scores, 1);
        }
        if let Some(node) = on_targets {
            register(node.id, found.target_scores, 1);
        }
    }
}

impl<B: GraphBackend, C: CheckpointStrategy> GraphBackend for Autodiff<B, C> {
    fn apply(map: &Arc<dyn LinearMap>, x: FloatTensor<Self>) -> FloatTensor<Self> {
        match ApplyBackward.prepare::<C>([x.node.clone()]).compute_bound().stateful() {
            OpsKind::Tracked(prepared) => prepared.finish(map.clone(), B::apply(map, x.primitive)),
            OpsKind::UnTracked(prepared) => prepared.finish(B::apply(map, x.primitive)),
        }
    }

    fn attend(graph: &Arc<AttentionGraph>, inputs: [FloatTensor<Self>; 3]) -> FloatTensor<Self> {
        let nodes = [inputs[0].node.clone(), inputs[1].node.clone(), inputs[2].node.clone()];
        let primitives = inputs.map(|input| input.primitive);
        match AttendBackward.prepare::<C>(nodes).compute_bound().stateful() {
            OpsKind::Tracked(prepared) => {
                let device = B::float_device(&primitives[0]);
                let hosts = primitives.map(to_host::<B>);
                let width = hosts[0].width;
                let inputs = hosts.map(|host| host.values);
                let attended = graph.attend(&inputs[0], &inputs[1], &inputs[2], width);
                let state = AttentionState {
                    graph: graph.clone(),
                    inputs: Arc::new(inputs),
                    attention: Arc::new(attended.attention),
                    width,
                };
                prepared.finish(state, from_host::<B>(attended.output, width, &device))
            }
            OpsKind::UnTracked(prepared) => prepared.finish(B::attend(graph, primitives)),
        }
    }
}
