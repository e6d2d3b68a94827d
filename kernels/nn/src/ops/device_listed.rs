//! Attention over the links of a graph on a GPU, along a list for every node.

use burn::tensor::DType;
use burn_cubecl::CubeRuntime;
use burn_cubecl::kernel::into_contiguous;
use burn_cubecl::tensor::CubeTensor;
use cubecl::features::Plane;

use super::buffers::{Compressed, Device, empty, entries, place, sequence, units};
use super::device_attention;
use super::device_links::{Inputs, Kept};
use crate::attention::AttentionGraph;

/// Models for which one unit of a sum over links works. Of 1, 2, 4 and 8, this was the fastest on an H200.
const MODELS_PER_UNIT: usize = 2;

/// Links as a list for every node; the pattern is symmetric.
#[derive(Clone, Debug)]
pub(crate) struct ListedLinks<R: CubeRuntime> {
    links: Compressed<R>,
    /// Weights as they multiply messages.
    factors: CubeTensor<R>,
    /// The number of every link: the order of links in which shares are given.
    identity: CubeTensor<R>,
    /// For every link, the number of the one in the other direction.
    reverse: CubeTensor<R>,
    n_links: usize,
}

impl<R: CubeRuntime> ListedLinks<R> {
    /// Copies links to the device.
    pub(super) fn new(graph: &AttentionGraph, device: &Device<R>) -> Self {
        let graph = graph.both_ways();
        let (offsets, columns, weights) = entries(graph.links());
        // Links that were added have no share of the attention.
        let weights: Vec<f32> = weights.into_iter().map(|weight| weight.max(0.0)).collect();
        let n_links = columns.len();
        let identity: Vec<u32> = (0..n_links as u32).collect();
        Self {
            links: Compressed::new([&offsets, &columns], &weights, graph.links().n_columns(), device),
            factors: place(&graph.factors(), DType::F32, device),
            identity: place(&identity, DType::U32, device),
            reverse: place(&graph.reverse(), DType::U32, device),
            n_links,
        }
    }
}

/// The output of attention, and the share of every link.
pub(super) fn attend<R: CubeRuntime>(graph: &ListedLinks<R>, inputs: &Inputs<R>) -> Kept<R> {
    let [models, n_nodes, _] = inputs[0].meta.shape().dims::<3>();
    let [x, sources, targets] = inputs.clone().map(into_contiguous);
    let shares = empty(&x, [models, graph.n_links, 1]);
    let Compressed { offsets, columns, values, .. } = graph.links.clone();
    let Workers { per_node, by_plane } = Workers::new(graph, &x);
    let (client, count, dim) = units(&x, models * n_nodes * per_node);
    let [offsets, columns, weights, sources, targets, to] =
        [offsets, columns, values, sources, targets, shares.clone()].map(CubeTensor::into_array_arg);
    device_attention::attention::launch::<R>(
        &client, count, dim, offsets, columns, weights, sources, targets, to, by_plane,
    );
    Kept { output: gather(graph, &graph.identity, &shares, x), for_gradient: shares }
}

/// Gradients by features, source scores and target scores, from the shares and the gradient of the output.
pub(super) fn attend_gradient<R: CubeRuntime>(
    graph: &ListedLinks<R>,
    inputs: &Inputs<R>,
    shares: CubeTensor<R>,
    gradient: CubeTensor<R>,
) -> [CubeTensor<R>; 3] {
    let [models, n_nodes, width] = inputs[0].meta.shape().dims::<3>();
    let gradient = into_contiguous(gradient);
    let on_features = gather(graph, &graph.reverse, &shares, gradient.clone());
    let changes = empty(&gradient, [models, graph.n_links, 1]);
    let [on_sources, on_targets] = [(); 2].map(|()| empty(&gradient, [models, n_nodes, 1]));
    let Compressed { offsets, columns, .. } = graph.links.clone();
    let Workers { per_node, by_plane } = Workers::new(graph, &gradient);
    let (client, count, dim) = units(&gradient, models * n_nodes * per_node);
    let [x, sources, targets] = inputs.clone().map(into_contiguous);
    let all = sequence(&[x, sources, targets, into_contiguous(shares), gradient.clone()]);
    let [from, factors, to, totals] =
        [offsets.clone(), graph.factors.clone(), changes.clone(), on_targets.clone()].map(CubeTensor::into_array_arg);
    let columns = columns.into_array_arg();
    device_attention::score_gradient::launch::<R>(
        &client, count, dim, from, columns, factors, all, to, totals, width, by_plane,
    );
    let (client, count, dim) = units(&gradient, models * n_nodes);
    let [offsets, reverse, changes, to] =
        [offsets, graph.reverse.clone(), changes, on_sources.clone()].map(CubeTensor::into_array_arg);
    device_attention::sum_links::launch::<R>(&client, count, dim, offsets, reverse, changes, to);
    [on_features, on_sources, on_targets]
}

/// Who walks the links of a node.
struct Workers {
    /// Units for each model and node.
    per_node: usize,
    /// Whether they are a plane, in place of a single unit.
    by_plane: bool,
}

impl Workers {
    /// A plane where half of its units or more have a link to work on, the size of planes is known beforehand, and planes
    /// can add up values after loops that are longer for some of their units.
    fn new<R: CubeRuntime>(graph: &ListedLinks<R>, beside: &CubeTensor<R>) -> Self {
        let properties = beside.client.properties();
        let hardware = &properties.hardware;
        let size = hardware.plane_size_max as usize;
        let is_able =
            [Plane::Ops, Plane::NonUniformControlFlow].iter().all(|&it| properties.features.plane.contains(it));
        let is_known = hardware.plane_size_min as usize == size;
        let by_plane = is_able && is_known && 2 * graph.n_links >= size * graph.links.n_rows;
        Self { per_node: if by_plane { size } else { 1 }, by_plane }
    }
}

/// `Σ_e shares[order[e]] factors[order[e]] x[columns[e]]` over the links of every node.
fn gather<R: CubeRuntime>(
    graph: &ListedLinks<R>,
    order: &CubeTensor<R>,
    shares: &CubeTensor<R>,
    x: CubeTensor<R>,
) -> CubeTensor<R> {
    let [models, n_nodes, width] = x.meta.shape().dims::<3>();
    let out = empty(&x, [models, n_nodes, width]);
    let at_once = models.min(MODELS_PER_UNIT);
    let (client, count, dim) = units(&x, models.div_ceil(at_once) * n_nodes * width);
    let Compressed { offsets, columns, .. } = graph.links.clone();
    let (order, factors, shares) = (order.clone(), graph.factors.clone(), shares.clone());
    let [offsets, columns, order, factors, shares, x] =
        [offsets, columns, order, factors, shares, x].map(CubeTensor::into_array_arg);
    let to = out.clone().into_array_arg();
    device_attention::gather::launch::<R>(
        &client, count, dim, offsets, columns, order, factors, shares, x, to, width, at_once,
    );
    out
}
