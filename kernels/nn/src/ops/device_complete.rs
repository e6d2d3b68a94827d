//! Attention over every pair of nodes on a GPU, as on a soft graph.

use burn::tensor::DType;
use burn_cubecl::CubeRuntime;
use burn_cubecl::kernel::into_contiguous;
use burn_cubecl::tensor::CubeTensor;
use cubecl::prelude::*;
use veilgraph_graph::SparseMatrix;

use super::buffers::{Device, empty, place, sequence};
use super::device_attention_to_all::{attend_to_all, gradient_by_sources, gradient_by_targets};
use super::device_links::{Inputs, Kept};
use super::device_tiles::{FeaturesLaunch, MOST_WIDE, UNITS};
use crate::attention::AttentionGraph;

/// The weight of every pair of nodes.
#[derive(Clone, Debug)]
pub(crate) struct CompleteLinks<R: CubeRuntime> {
    /// The weight by which node `i` attends to node `j` at `[i, j]`, for units that each work on a `j`.
    by_target: CubeTensor<R>,
    /// The same at `[j, i]`, for units that each work on an `i`.
    by_source: CubeTensor<R>,
    n_nodes: usize,
    /// Whether weights also multiply messages.
    double_weight: bool,
}

impl<R: CubeRuntime> CompleteLinks<R> {
    /// Copies the weights of a complete graph to the device; of a symmetric one, once.
    pub(super) fn new(graph: &AttentionGraph, device: &Device<R>) -> Self {
        let weights = |links: &SparseMatrix| -> Vec<f32> {
            (0..links.n_rows()).flat_map(|node| links.row(node).1).copied().collect()
        };
        let by_target = weights(graph.links());
        let by_source = Some(weights(&graph.links().transposed())).filter(|by_source| *by_source != by_target);
        let by_target: CubeTensor<R> = place(&by_target, DType::F32, device);
        let by_source = by_source.map_or_else(|| by_target.clone(), |values| place(&values, DType::F32, device));
        Self { by_target, by_source, n_nodes: graph.links().n_rows(), double_weight: graph.double_weight() }
    }

    /// The output of attention, and what else its gradient needs.
    pub(super) fn attend(&self, inputs: &Inputs<R>) -> Kept<R> {
        let [models, n_nodes, width] = inputs[0].meta.shape().dims::<3>();
        let inputs = inputs.clone().map(into_contiguous);
        let output = empty(&inputs[0], [models, n_nodes, width]);
        let totals = empty(&inputs[0], [models, n_nodes, 1]);
        for (first, part_width) in parts(width) {
            attend_to_all::launch::<R>(
                &output.client,
                self.cubes(models),
                CubeDim::new_1d(UNITS as u32),
                self.by_source.clone().into_array_arg(),
                sequence(&inputs),
                output.clone().into_array_arg(),
                totals.clone().into_array_arg(),
                n_nodes,
                FeaturesLaunch::new(first, width),
                part_width,
                self.double_weight,
            );
        }
        Kept { output, for_gradient: totals }
    }

    /// Gradients by features, source scores and target scores.
    pub(super) fn attend_gradient(
        &self,
        inputs: &Inputs<R>,
        kept: Kept<R>,
        gradient: CubeTensor<R>,
    ) -> [CubeTensor<R>; 3] {
        let [models, n_nodes, width] = inputs[0].meta.shape().dims::<3>();
        let [x, sources, targets] = inputs.clone().map(into_contiguous);
        let gradient = into_contiguous(gradient);
        let Kept { output, for_gradient: totals } = kept;
        let on_features = empty(&gradient, [models, n_nodes, width]);
        let [on_sources, on_targets, means] = [(); 3].map(|()| empty(&gradient, [models, n_nodes, 1]));
        let client = gradient.client.clone();
        let read_by_targets = [&x, &sources, &targets, &output, &totals, &gradient].map(Clone::clone);
        let read_by_sources = [&x, &sources, &targets, &totals, &means, &gradient].map(Clone::clone);
        for (first, part_width) in parts(width) {
            gradient_by_targets::launch::<R>(
                &client,
                self.cubes(models),
                CubeDim::new_1d(UNITS as u32),
                self.by_source.clone().into_array_arg(),
                sequence(&read_by_targets),
                means.clone().into_array_arg(),
                on_targets.clone().into_array_arg(),
                n_nodes,
                FeaturesLaunch::new(first, width),
                part_width,
                self.double_weight,
            );
            gradient_by_sources::launch::<R>(
                &client,
                self.cubes(models),
                CubeDim::new_1d(UNITS as u32),
                self.by_target.clone().into_array_arg(),
                sequence(&read_by_sources),
                on_features.clone().into_array_arg(),
                on_sources.clone().into_array_arg(),
                n_nodes,
                FeaturesLaunch::new(first, width),
                part_width,
                self.double_weight,
            );
        }
        [on_features, on_sources, on_targets]
    }

    /// A cube for every tile of nodes and every model.
    fn cubes(&self, models: usize) -> CubeCount {
        CubeCount::Static(self.n_nodes.div_ceil(UNITS) as u32, models as u32, 1)
    }
}

/// The features of a layer, in as many parts as launches must take: the first of each part, and how many these are.
fn parts(width: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..width).step_by(MOST_WIDE).map(move |first| (first, MOST_WIDE.min(width - first)))
}
