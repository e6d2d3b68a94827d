//! Sums over the links of a graph on a GPU.

use burn_cubecl::CubeRuntime;
use burn_cubecl::tensor::CubeTensor;

use super::buffers::{Compressed, DeviceLinks, empty, units};
use super::device_attention;

/// `Σ_e shares[order[e]] factors[e] x[columns[e]]` over the links of every node.
pub(super) fn gather<R: CubeRuntime>(
    graph: &DeviceLinks<R>,
    order: &CubeTensor<R>,
    shares: &CubeTensor<R>,
    x: CubeTensor<R>,
) -> CubeTensor<R> {
    let [models, n_nodes, width] = x.meta.shape().dims::<3>();
    let out = empty(&x, [models, n_nodes, width]);
    let (client, count, dim) = units(&x, models * n_nodes * width);
    let Compressed { offsets, columns, .. } = graph.links.clone();
    let (order, factors, shares) = (order.clone(), graph.factors.clone(), shares.clone());
    let [offsets, columns, order, factors, shares, x] =
        [offsets, columns, order, factors, shares, x].map(CubeTensor::into_array_arg);
    let to = out.clone().into_array_arg();
    device_attention::gather::launch::<R>(&client, count, dim, offsets, columns, order, factors, shares, x, to, width);
    out
}
