//! What networks compute: layers over a graph, for a batch of models at once.

use std::sync::Arc;

use burn::tensor::Tensor;

use crate::activation::Unit;
use crate::attention::AttentionGraph;
use crate::device_map::DeviceMap;
use crate::differentiable::{Tracked, activate, add_row, attend, multiply, product};
use crate::layer::{Beside, Layer};
use crate::learned::{LearnedMap, ReportedLinks, Rule};
use crate::map::{LinearMap, ReadRows};
use crate::ops::{Activation, DeviceOps};

/// How a network sees the graph.
#[derive(Clone, Debug)]
pub(crate) enum Aggregation {
    /// Every layer multiplies by one fixed matrix.
    Propagate(Arc<LinearMap>),
    /// Every layer multiplies by a matrix that the model learns.
    Learn(Arc<ReportedLinks>, Rule),
    /// Every layer weighs the links by attention.
    Attend(Arc<AttentionGraph>),
    /// The links are not read.
    Nothing,
}

/// Features and graph of a dataset.
#[derive(Clone, Debug)]
pub(crate) struct GraphInput {
    /// Features of every node, `[n, n_features]`.
    pub features: Arc<LinearMap>,
    /// Aggregated features, where applying them is cheaper than applying features and graph one after the other.
    pub gathered: Option<Arc<LinearMap>>,
    pub aggregation: Aggregation,
    /// Function of the hidden units.
    pub unit: Unit,
}

/// A network over a graph, where the device can reach it.
pub(crate) struct Network<B: DeviceOps> {
    features: DeviceMap<B>,
    gathered: Option<DeviceMap<B>>,
    aggregation: Placed<B>,
    unit: Unit,
}

/// [`Aggregation`] on a device.
enum Placed<B: DeviceOps> {
    Propagate(DeviceMap<B>),
    Attend(B::Links),
    Nothing,
}

/// What a layer transforms.
enum Input<B: DeviceOps> {
    /// The features of the dataset, which have no gradient.
    Features,
    /// Output of the layer before, `[models, n, inputs]`.
    Hidden(Tracked<B>),
}

impl<B: DeviceOps> Network<B> {
    /// Copies features and graph to the device. A learned graph starts at what was reported.
    pub(crate) fn new(input: &GraphInput, device: &B::Device) -> Self {
        let aggregation = match &input.aggregation {
            Aggregation::Propagate(map) => Placed::Propagate(DeviceMap::new(map, device)),
            Aggregation::Learn(reported, rule) => {
                Placed::Propagate(DeviceMap::Learned(Arc::new(LearnedMap::new(reported.clone(), *rule))))
            }
            Aggregation::Attend(graph) => Placed::Attend(B::links(graph, device)),
            Aggregation::Nothing => Placed::Nothing,
        };
        let gathered = input.gathered.as_ref().map(|map| DeviceMap::new(map, device));
        Self { features: DeviceMap::new(&input.features, device), gathered, aggregation, unit: input.unit }
    }

    /// The links, if they are learned by the one model that uses this network.
    pub(crate) fn learned(&self) -> Option<&LearnedMap> {
        match &self.aggregation {
            Placed::Propagate(DeviceMap::Learned(map)) => Some(map),
            _ => None,
        }
    }

    /// Output of the first layer before its activation.
    ///
    /// Dropout follows the activation, so this output is the same in training and in evaluation: it is computed once
    /// for both.
    ///
    /// # Shapes
    /// Each parameter of `layers`: `[models, rows, columns]`. Returns `[models, n, outputs]`.
    pub(crate) fn first_layer(&self, layers: &[Layer<Tracked<B>>]) -> Tracked<B> {
        self.layer(&Input::Features, &layers[0], &None)
    }

    /// Logits from the output of the first layer; `step` chooses the masks of dropout. Those of nodes that are not read
    /// have no meaning.
    ///
    /// # Shapes
    /// `first`: `[models, n, outputs of the first layer]`. Returns `[models, n, classes]`.
    pub(crate) fn logits(
        &self,
        first: Tracked<B>,
        layers: &[Layer<Tracked<B>>],
        dropouts: Option<&B::Dropouts>,
        step: u32,
        read: &ReadRows,
    ) -> Tracked<B> {
        let mut output = first;
        for (number, layer) in (0..).zip(&layers[1..]) {
            let activation = Activation { unit: self.unit, dropouts: dropouts.cloned(), step, layer: number };
            let read = if number as usize + 2 == layers.len() { read } else { &None };
            output = self.layer(&Input::Hidden(activate(output, &activation)), layer, read);
        }
        output
    }

    /// One layer: `M X W + b`, for GraphSAGE with `X W_self` added, with `M` the matrix of aggregation, in the rows that are read.
    ///
    /// # Shapes
    /// `X`: `[models, n, inputs]`. Returns `[models, n, outputs]`.
    ///
    /// # Source
    /// GCN: Kipf, Welling (2017), equation 2. GraphSAGE: Hamilton, Ying, Leskovec (2017), algorithm 1 with the mean;
    /// Blink, equation 22. GAT: Veličković et al. (2018), equations 1 to 4; Blink, equations 23 and 24.
    fn layer(&self, input: &Input<B>, layer: &Layer<Tracked<B>>, read: &ReadRows) -> Tracked<B> {
        let Layer { weight, bias, beside } = layer;
        let received = match (&self.aggregation, beside) {
            (Placed::Nothing, _) => self.times(input, weight),
            (Placed::Propagate(map), _) => match (&self.gathered, input) {
                (Some(gathered), Input::Features) => multiply(gathered, weight.clone(), read),
                _ => multiply(map, self.times(input, weight), read),
            },
            (Placed::Attend(graph), Beside::Attention { source, target }) => {
                let transformed = self.times(input, weight);
                match source.dims()[2] {
                    1 => head(graph, transformed, [source.clone(), target.clone()], read),
                    heads => Tensor::cat(
                        (0..heads).map(|at| head_of(graph, &transformed, [source, target], at, read)).collect(),
                        2,
                    ),
                }
            }
            (Placed::Attend(_), _) => unreachable!("a graph is attended to by GAT alone, whose layers hold attention"),
        };
        match beside {
            Beside::OwnWeight(own) => add_row(received + self.times(input, own), bias.clone()),
            Beside::Nothing | Beside::Attention { .. } => add_row(received, bias.clone()),
        }
    }

    /// `X W`.
    ///
    /// # Shapes
    /// `weight`: `[models, inputs, outputs]`. Returns `[models, n, outputs]`.
    fn times(&self, input: &Input<B>, weight: &Tracked<B>) -> Tracked<B> {
        match input {
            Input::Features => multiply(&self.features, weight.clone(), &None),
            Input::Hidden(hidden) => product(hidden.clone(), weight.clone()),
        }
    }
}

/// One head of attention over transformed features, with the two halves of its vector, in the rows that are read.
///
/// # Shapes
/// `transformed`: `[models, n, outputs]`; the halves: `[models, outputs, 1]`. Returns `[models, n, outputs]`.
fn head<B: DeviceOps>(
    graph: &B::Links,
    transformed: Tracked<B>,
    halves: [Tracked<B>; 2],
    read: &ReadRows,
) -> Tracked<B> {
    let [sources, targets] = halves.map(|vector| product(transformed.clone(), vector));
    attend(graph, [transformed, sources, targets], read)
}

/// Head number `at` of several, each of which has its own columns of the transformed features.
///
/// # Shapes
/// `transformed`: `[models, n, outputs of all heads]`; the halves: `[models, outputs of a head, heads]`. Returns
/// `[models, n, outputs of a head]`.
fn head_of<B: DeviceOps>(
    graph: &B::Links,
    transformed: &Tracked<B>,
    halves: [&Tracked<B>; 2],
    at: usize,
    read: &ReadRows,
) -> Tracked<B> {
    let width = halves[0].dims()[1];
    let own = transformed.clone().narrow(2, at * width, width);
    head(graph, own, halves.map(|half| half.clone().narrow(2, at, 1)), read)
}

#[cfg(test)]
mod tests;
