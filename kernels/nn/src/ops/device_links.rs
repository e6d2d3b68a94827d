//! Links of an attention graph on a GPU, in the form in which they are attended along fastest.

use burn_cubecl::CubeRuntime;
use burn_cubecl::tensor::CubeTensor;

use super::buffers::Device;
use super::device_complete::CompleteLinks;
use super::device_listed::{self, ListedLinks};
use crate::attention::AttentionGraph;

/// Features, source scores and target scores, as in [`AttentionInputs`](super::AttentionInputs).
pub(super) type Inputs<R> = [CubeTensor<R>; 3];

/// Links of an attention graph.
#[derive(Clone, Debug)]
pub(crate) enum DeviceLinks<R: CubeRuntime> {
    /// Some pairs of nodes.
    Listed(Box<ListedLinks<R>>),
    /// Every pair.
    Complete(Box<CompleteLinks<R>>),
}

/// What attention keeps for its gradient.
#[derive(Clone, Debug)]
pub(crate) struct Kept<R: CubeRuntime> {
    /// `[models, n, width]`.
    pub output: CubeTensor<R>,
    /// The share of every link, `[models, links, 1]`. On a complete graph instead by what the shares of each node are divided,
    /// `[models, n, 1]`.
    pub for_gradient: CubeTensor<R>,
}

impl<R: CubeRuntime> DeviceLinks<R> {
    /// Copies links to the device.
    pub(super) fn new(graph: &AttentionGraph, device: &Device<R>) -> Self {
        if graph.is_complete() {
            Self::Complete(Box::new(CompleteLinks::new(graph, device)))
        } else {
            Self::Listed(Box::new(ListedLinks::new(graph, device)))
        }
    }

    /// The output of attention, and what else its gradient needs.
    pub(super) fn attend(&self, inputs: &Inputs<R>) -> Kept<R> {
        match self {
            Self::Listed(links) => device_listed::attend(links, inputs),
            Self::Complete(links) => links.attend(inputs),
        }
    }

    /// Gradients by features, source scores and target scores, from what was kept and the gradient of the output.
    pub(super) fn attend_gradient(
        &self,
        inputs: &Inputs<R>,
        kept: Kept<R>,
        gradient: CubeTensor<R>,
    ) -> [CubeTensor<R>; 3] {
        match self {
            Self::Listed(links) => device_listed::attend_gradient(links, inputs, kept.for_gradient, gradient),
            Self::Complete(links) => links.attend_gradient(inputs, kept, gradient),
        }
    }
}
