//! The operations on a GPU, for every runtime of `CubeCL`.

use std::sync::Arc;

use burn::tensor::ops::{ActivationOps, FloatTensor, FloatTensorOps};
use burn::tensor::{DType, Tensor, TensorPrimitive};
use burn_cubecl::kernel::into_contiguous;
use burn_cubecl::tensor::CubeTensor;
use burn_cubecl::{BoolElement, CubeBackend, CubeRuntime};
use cubecl::server::ComputeServer;
use rayon::prelude::*;
use veilgraph_graph::ProductRows;

use super::buffers::{DeviceLabelled, empty, place, reshaped, units, zeros};
use super::device_links::{DeviceLinks, Kept};
use super::device_sparse::DeviceSparse;
use super::device_sums::column_sums;
use super::{
    Activation, AttentionInputs, DeviceOps, device_code, device_dense, device_dropout, device_products, shape, to_host,
};
use crate::activation::Unit;
use crate::adam::{Corrections, Moments, Rates};
use crate::attention::AttentionGraph;
use crate::dropout::Dropout;
use crate::map::SparseMap;
use crate::score::{Score, score};

impl<R, BT> DeviceOps for CubeBackend<R, f32, i32, BT>
where
    R: CubeRuntime,
    R::Server: ComputeServer,
    R::Device: burn::tensor::backend::DeviceOps,
    BT: BoolElement,
{
    type Sparse = DeviceSparse<R>;
    type Links = DeviceLinks<R>;
    type Shares = Kept<R>;
    type Labelled = DeviceLabelled<R>;
    type Dropouts = CubeTensor<R>;
    type AllRates = CubeTensor<R>;

    /// Twice the largest page of `CubeCL`. On CUDA this page is a quarter of the device's memory; elsewhere it is what
    /// one buffer may hold.
    fn memory(device: &Self::Device) -> Option<u64> {
        Some(2 * R::client(device).properties().memory.max_page_size)
    }

    fn free_unused(device: &Self::Device) {
        R::client(device).memory_cleanup();
    }

    fn sparse(map: &Arc<SparseMap>, device: &Self::Device) -> Self::Sparse {
        DeviceSparse::new(map, device)
    }

    /// Its rows follow each other without gaps, so that no product has to copy it.
    fn dense(values: Vec<f32>, shape: [usize; 3], device: &Self::Device) -> FloatTensor<Self> {
        reshaped(place(&values, DType::F32, device), shape)
    }

    fn links(graph: &Arc<AttentionGraph>, device: &Self::Device) -> Self::Links {
        DeviceLinks::new(graph, device)
    }

    fn labelled(labelled: &[(u32, u16)], device: &Self::Device) -> Self::Labelled {
        let nodes: Vec<u32> = labelled.iter().map(|&(node, _)| node).collect();
        let classes: Vec<u32> = labelled.iter().map(|&(_, class)| class.into()).collect();
        let [nodes, classes] = [nodes, classes].map(|values| place(&values, DType::U32, device));
        let positions = (0..).zip(labelled.iter().map(|&(_, class)| class)).collect();
        DeviceLabelled { nodes, classes, positions }
    }

    fn dropouts(dropouts: &[Dropout], device: &Self::Device) -> Self::Dropouts {
        let words: Vec<u32> = dropouts.iter().flat_map(|dropout| dropout.words()).collect();
        place(&words, DType::U32, device)
    }

    fn all_rates(rates: &[Rates], device: &Self::Device) -> Self::AllRates {
        let values: Vec<f32> = rates.iter().flat_map(|rates| [rates.learning_rate, rates.weight_decay]).collect();
        place(&values, DType::F32, device)
    }

    fn multiply(map: &Self::Sparse, adjoint: bool, x: FloatTensor<Self>, _: ProductRows) -> FloatTensor<Self> {
        map.multiply(adjoint, x)
    }

    fn multiply_dense(matrix: &FloatTensor<Self>, adjoint: bool, x: FloatTensor<Self>) -> FloatTensor<Self> {
        device_dense::multiply_dense(matrix, adjoint, x)
    }

    fn product(x: FloatTensor<Self>, weight: FloatTensor<Self>) -> FloatTensor<Self> {
        device_products::product(x, weight)
    }

    fn transposed_product(x: FloatTensor<Self>, y: FloatTensor<Self>) -> FloatTensor<Self> {
        device_products::transposed_product(x, y)
    }

    fn column_sums(x: FloatTensor<Self>) -> FloatTensor<Self> {
        column_sums(x)
    }

    fn attend(
        graph: &Self::Links,
        inputs: &AttentionInputs<Self>,
        _: Option<&[u32]>,
    ) -> (FloatTensor<Self>, Self::Shares) {
        let kept = graph.attend(inputs);
        (kept.output.clone(), kept)
    }

    fn attend_gradient(
        graph: &Self::Links,
        inputs: &AttentionInputs<Self>,
        shares: Self::Shares,
        gradient: FloatTensor<Self>,
    ) -> [FloatTensor<Self>; 3] {
        graph.attend_gradient(inputs, shares, gradient)
    }

    fn activate(x: FloatTensor<Self>, activation: &Activation<Self>) -> FloatTensor<Self> {
        let [models, rows, width] = shape::<Self>(&x);
        let is_selu = activation.unit == Unit::Selu;
        let Some(masks) = masks(activation, models, &x) else { return Self::relu(x) };
        let x = into_contiguous(x);
        let y = empty(&x, [models, rows, width]);
        let (client, count, dim) = units(&x, models * rows * width);
        device_dropout::activate::launch::<R>(
            &client,
            count,
            dim,
            x.into_array_arg(),
            y.clone().into_array_arg(),
            masks.into_array_arg(),
            rows * width,
            activation.step,
            activation.layer,
            is_selu,
        );
        y
    }

    fn activate_gradient(
        y: FloatTensor<Self>,
        gradient: FloatTensor<Self>,
        activation: &Activation<Self>,
    ) -> FloatTensor<Self> {
        let [models, rows, width] = shape::<Self>(&y);
        let is_selu = activation.unit == Unit::Selu;
        let Some(masks) = masks(activation, models, &y) else { return Self::relu_backward(y, gradient) };
        let out = empty(&y, [models, rows, width]);
        let (client, count, dim) = units(&y, models * rows * width);
        let [y, gradient] = [y, gradient].map(|tensor| into_contiguous(tensor).into_array_arg());
        device_dropout::activate_gradient::launch::<R>(
            &client,
            count,
            dim,
            y,
            gradient,
            out.clone().into_array_arg(),
            masks.into_array_arg(),
            rows * width,
            is_selu,
        );
        out
    }

    fn cross_entropy(logits: FloatTensor<Self>, labelled: &Self::Labelled) -> (FloatTensor<Self>, FloatTensor<Self>) {
        let [models, n_nodes, n_classes] = shape::<Self>(&logits);
        let logits = into_contiguous(logits);
        let gradient = zeros(&logits, [models, n_nodes, n_classes]);
        let n_labelled = labelled.positions.len();
        let losses = empty(&logits, [models, n_labelled, 1]);
        let (client, count, dim) = units(&logits, models * n_labelled);
        device_code::cross_entropy::launch::<R>(
            &client,
            count,
            dim,
            logits.into_array_arg(),
            labelled.nodes.clone().into_array_arg(),
            labelled.classes.clone().into_array_arg(),
            losses.clone().into_array_arg(),
            gradient.clone().into_array_arg(),
            n_nodes,
            n_classes,
        );
        let total = Tensor::<Self, 3>::from_primitive(TensorPrimitive::Float(column_sums(losses)));
        ((total / n_labelled as f32).into_primitive().tensor(), gradient)
    }

    /// Copies the logits of the labelled nodes to the host: there the sums are in double precision.
    fn scores(logits: FloatTensor<Self>, labelled: &Self::Labelled) -> Vec<Score> {
        let [_, _, n_classes] = shape::<Self>(&logits);
        let n_labelled = labelled.positions.len();
        // Numbers of nodes are below 2^31, so that the same bits are the same numbers with a sign.
        let mut nodes = labelled.nodes.clone();
        nodes.dtype = DType::I32;
        let selected = to_host::<Self>(Self::float_select(logits, 1, nodes));
        selected
            .par_chunks(n_labelled * n_classes)
            .map(|logits| score(logits, n_classes, &labelled.positions))
            .collect()
    }

    fn adam(
        parameter: FloatTensor<Self>,
        gradient: FloatTensor<Self>,
        moments: &mut Moments<Self>,
        rates: &Self::AllRates,
        Corrections { to_rate, to_second }: Corrections,
    ) -> FloatTensor<Self> {
        let [models, rows, width] = shape::<Self>(&parameter);
        let [parameter, gradient] = [parameter, gradient].map(into_contiguous);
        // The moments are written in place, so what is written to must be what is kept.
        for moment in [&mut moments.first, &mut moments.second] {
            *moment = into_contiguous(moment.clone());
        }
        // The parameter is not written in place: the best epoch may still hold it.
        let out = empty(&parameter, [models, rows, width]);
        let (client, count, dim) = units(&parameter, models * rows * width);
        device_code::adam::launch::<R>(
            &client,
            count,
            dim,
            parameter.into_array_arg(),
            gradient.into_array_arg(),
            moments.first.clone().into_array_arg(),
            moments.second.clone().into_array_arg(),
            out.clone().into_array_arg(),
            rates.clone().into_array_arg(),
            rows * width,
            to_rate,
            to_second,
        );
        out
    }
}

/// The words of every model's dropout. SELU has no operation of burn's own, so that without dropout its masks drop
/// nothing.
fn masks<B, R: CubeRuntime>(activation: &Activation<B>, models: usize, like: &CubeTensor<R>) -> Option<CubeTensor<R>>
where
    B: DeviceOps<Dropouts = CubeTensor<R>>,
{
    let nothing = || {
        let words: Vec<u32> = (0..models).flat_map(|_| Dropout::new(0.0, 0).words()).collect();
        place(&words, DType::U32, &like.device)
    };
    activation.dropouts.clone().or_else(|| (activation.unit == Unit::Selu).then(nothing))
}
