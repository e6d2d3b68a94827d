//! What networks compute: layers over a graph, for a batch of models at once.

use std::sync::Arc;

use crate::architecture::Architecture;
use crate::attention::AttentionGraph;
use crate::differentiable::{Tracked, activate, attend, multiply};
use crate::kernels::{Activation, Kernels, Map};
use crate::learned::{LearnedMap, ReportedLinks, Rule};
use crate::map::LinearMap;

/// How a network sees the graph.
#[derive(Debug)]
pub(crate) enum Aggregation {
    Propagate(Arc<LinearMap>),
    Learn(Arc<ReportedLinks>, Rule),
    Attend(Arc<AttentionGraph>),
    Nothing,
}

/// Features and graph of a dataset.
#[derive(Debug)]
pub(crate) struct GraphInput {
    pub features: Arc<LinearMap>,
    /// Aggregated features, where applying them is cheaper than features and graph apart.
    pub gathered: Option<Arc<LinearMap>>,
    pub aggregation: Aggregation,
}

/// A network over a graph, where the device can reach it.
pub(crate) struct Network<B: Kernels> {
    architecture: Architecture,
    features: Map<B>,
    gathered: Option<Map<B>>,
    aggregation: Placed<B>,
}

enum Placed<B: Kernels> {
    Propagate(Map<B>),
    Attend(B::Links),
    Nothing,
}

/// What a layer transforms.
enum Input<B: Kernels> {
    Features,
    Hidden(Tracked<B>),
}

impl<B: Kernels> Network<B> {
    pub(crate) fn new(architecture: Architecture, input: &GraphInput, device: &B::Device) -> Self {
        let aggregation = match &input.aggregation {
            Aggregation::Propagate(map) => Placed::Propagate(Map::new(map, device)),
            Aggregation::Learn(reported, rule) => {
                Placed::Propagate(Map::Learned(Arc::new(LearnedMap::new(reported.clone(), *rule))))
            }
            Aggregation::Attend(graph) => Placed::Attend(B::links(graph, device)),
            Aggregation::Nothing => Placed::Nothing,
        };
        let gathered = input.gathered.as_ref().map(|map| Map::new(map, device));
        Self { architecture, features: Map::new(&input.features, device), gathered, aggregation }
    }

    /// The links, if they are learned by the one model that uses this network.
    pub(crate) fn learned(&self) -> Option<&LearnedMap> {
        match &self.aggregation {
            Placed::Propagate(Map::Learned(map)) => Some(map),
            _ => None,
        }
    }

    /// Output of the first layer before its activation. It holds for training and evaluation alike, so
    /// that both share its cost.
    pub(crate) fn first_layer(&self, parameters: &[Vec<Tracked<B>>]) -> Tracked<B> {
        self.layer(&Input::Features, &parameters[0])
    }

    /// Logits `[models, n, classes]` from the output of the first layer.
    pub(crate) fn logits(
        &self,
        first: Tracked<B>,
        parameters: &[Vec<Tracked<B>>],
        dropouts: Option<&B::Dropouts>,
        step: u32,
    ) -> Tracked<B> {
        let mut output = first;
        for (layer, parameters) in (0..).zip(&parameters[1..]) {
            let activation = Activation { dropouts: dropouts.cloned(), step, layer };
            output = self.layer(&Input::Hidden(activate(output, &activation)), parameters);
        }
        output
    }

    fn layer(&self, input: &Input<B>, parameters: &[Tracked<B>]) -> Tracked<B> {
        let (weight, bias) = (&parameters[0], parameters[1].clone());
        match &self.aggregation {
            Placed::Nothing => self.times(input, weight) + bias,
            Placed::Propagate(map) => {
                let aggregated = match (&self.gathered, input) {
                    (Some(gathered), Input::Features) => multiply(gathered, weight.clone()),
                    _ => multiply(map, self.times(input, weight)),
                };
                match self.architecture {
                    Architecture::GraphSage => aggregated + self.times(input, &parameters[2]) + bias,
                    _ => aggregated + bias,
                }
            }
            Placed::Attend(graph) => {
                let transformed = self.times(input, weight);
                let [sources, targets] =
                    [&parameters[2], &parameters[3]].map(|vector| transformed.clone().matmul(vector.clone()));
                attend(graph, [transformed, sources, targets]) + bias
            }
        }
    }

    fn times(&self, input: &Input<B>, weight: &Tracked<B>) -> Tracked<B> {
        match input {
            Input::Features => multiply(&self.features, weight.clone()),
            Input::Hidden(hidden) => hidden.clone().matmul(weight.clone()),
        }
    }
}

#[cfg(test)]
mod tests;
