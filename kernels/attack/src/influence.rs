//! How much the features of one node move what a network says about another.
//!
//! A network of k layers moves nothing beyond k links, so that moves betray links (Wu, Long, Zhang, Li 2022). Only the
//! rows that the perturbed node reaches are computed again: one node costs its neighbourhood and not a pass over the
//! graph.

mod attention;
mod inputs;
mod network;
mod passing;

use rayon::prelude::*;
use veilgraph_graph::WeightedGraph;
use veilgraph_nn::{InputFeatures, SavedModel};
use veilgraph_posterior::Posterior;

use inputs::{Inputs, features_of};
use network::{Layer, Network};
use passing::{Passing, incoming};

/// Why the influence of nodes cannot be computed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum InfluenceError {
    /// The sizes differ.
    #[error("the graph has {0} nodes and the features are of {1}")]
    Mismatch(usize, usize),
    /// The network was trained on other data.
    #[error("the model does not fit these features and this graph: {0}")]
    Model(String),
    /// The links are unknown, or too many to list.
    #[error("{0}")]
    Links(String),
    /// The features of one node are those of many.
    #[error(
        "linkteller perturbs the features of one node, and here they are propagated over the graph before the network reads them; set [estimate.features] hops = 0 and leave `rescale` out"
    )]
    Propagated,
    /// A number left the range of numbers.
    #[error("what the model says about node {0} is no finite number")]
    NotFinite(u32),
}

/// What of the network an attacker sees.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Output {
    /// The numbers before the softmax, as in the published code.
    Logits,
    /// Class probabilities.
    Probabilities,
}

/// A trained network on a graph, as it answers without any perturbation.
pub struct Influence {
    network: Network,
    passing: Passing,
    /// Of every layer.
    at_rest: Vec<AtRest>,
}

/// A layer without any perturbation.
struct AtRest {
    /// Inputs times weight, row-major `[n, outputs]`.
    sent: Vec<f64>,
    /// Inputs times the weight for a node's own features, row-major `[n, outputs]`; empty without such a weight.
    own: Vec<f64>,
    /// Before the unit's function, row-major `[n, outputs]`.
    output: Vec<f64>,
    /// How the nodes attend; absent without attention.
    attention: Option<attention::AtRest>,
}

/// Rows of a layer that a perturbation has changed.
struct Changed {
    /// Ascending.
    nodes: Vec<u32>,
    /// Row-major `[nodes, width]`: by how much.
    by: Vec<f64>,
}

impl Influence {
    /// The network `saved` on a graph; a soft graph comes with its posterior.
    ///
    /// # Errors
    /// When network, features and graph do not belong together, links are learned with the model, or there are too many
    /// to list.
    pub fn new(
        saved: &SavedModel,
        features: InputFeatures,
        graph: &WeightedGraph,
        posterior: Option<&Posterior>,
    ) -> Result<Self, InfluenceError> {
        let network = Network::of(saved)?;
        let rows = features_of(features, graph.n_nodes)?;
        let passing = Passing::of(saved, &incoming(graph, posterior)?);
        let mut at_rest: Vec<AtRest> = Vec::new();
        let mut inputs = rows;
        for layer in &network.layers {
            let next = AtRest::new(layer, &passing, &inputs)?;
            inputs = Inputs::Dense { width: layer.outputs(), values: network.activated(&next.output) };
            at_rest.push(next);
        }
        let influence = Self { network, passing, at_rest };
        let wrong = influence.logits().iter().position(|value| !value.is_finite());
        match wrong {
            Some(at) => Err(InfluenceError::NotFinite((at / influence.n_classes()) as u32)),
            None => Ok(influence),
        }
    }

    /// The outputs before the softmax, row-major `[n, n_classes]`.
    #[must_use]
    pub fn logits(&self) -> &[f64] {
        self.at_rest.last().map_or(&[], |layer| &layer.output)
    }

    fn n_classes(&self) -> usize {
        self.network.layers.last().map_or(1, Layer::outputs)
    }

    /// How much each of `targets` moves what the network says about each of them: the Euclidean norm of the change of
    /// the output, divided by `scale`, where the features of one node are multiplied by `1 + scale`.
    ///
    /// # Shapes
    /// Row-major `[targets, targets]`: row, whose features are changed; column, whose output is read.
    ///
    /// # Source
    /// Wu, Long, Zhang, Li (2022), LinkTeller, algorithm 1.
    #[must_use]
    pub fn of(&self, targets: &[u32], scale: f64, output: Output) -> DenseInfluence {
        let mut place = vec![None; self.passing.n_nodes()];
        targets.iter().enumerate().for_each(|(at, &node)| place[node as usize] = Some(at));
        let towards = self.passing.towards(&place);
        let rows: Vec<Vec<f64>> = targets
            .par_iter()
            .map_init(
                || Scratch::new(self.passing.n_nodes()),
                |scratch, &node| {
                    let changed = self.perturbed(node, scale, &towards, scratch);
                    let mut row = vec![0.0; targets.len()];
                    let n_classes = self.n_classes();
                    for (&node, by) in changed.nodes.iter().zip(changed.by.chunks_exact(n_classes)) {
                        if let Some(at) = place[node as usize] {
                            row[at] = self.moved(node, by, output) / scale;
                        }
                    }
                    row
                },
            )
            .collect();
        DenseInfluence { n_targets: targets.len(), values: rows.concat() }
    }

    /// Length of the move of what is seen of a node's output, when its logits move `by`.
    fn moved(&self, node: u32, by: &[f64], output: Output) -> f64 {
        let squares = |values: &mut dyn Iterator<Item = f64>| libm::sqrt(values.map(|value| value * value).sum());
        match output {
            Output::Logits => squares(&mut by.iter().copied()),
            Output::Probabilities => {
                let n_classes = by.len();
                let before = &self.logits()[node as usize * n_classes..][..n_classes];
                let after: Vec<f64> = before.iter().zip(by).map(|(before, by)| before + by).collect();
                let (before, after) = (softmax(before), softmax(&after));
                squares(&mut after.iter().zip(&before).map(|(after, before)| after - before))
            }
        }
    }

    /// The outputs that change where the features of `node` are multiplied by `1 + scale`; those of targets alone.
    fn perturbed(&self, node: u32, scale: f64, towards: &passing::Receivers, scratch: &mut Scratch) -> Changed {
        let row = |values: &[f64], width: usize| -> Vec<f64> {
            let row = values.get(node as usize * width..(node as usize + 1) * width).unwrap_or_default();
            row.iter().map(|value| scale * value).collect()
        };
        // The first layer is linear in the features, so what a node sends changes by the same factor.
        let width = self.network.layers[0].outputs();
        let [mut sent, mut own] = [&self.at_rest[0].sent, &self.at_rest[0].own]
            .map(|values| Changed { nodes: vec![node], by: row(values, width) });
        let last = self.network.layers.len() - 1;
        for (number, (layer, at_rest)) in self.network.layers.iter().zip(&self.at_rest).enumerate() {
            let receivers = if number == last { towards } else { self.passing.receivers() };
            let changed = match &at_rest.attention {
                Some(attention) => attention.changed(&self.passing, receivers, layer, at_rest, &sent, scratch),
                None => receivers.changed(layer.outputs(), &sent, &own, scratch),
            };
            if number == last {
                return changed;
            }
            let next = &self.network.layers[number + 1];
            let moved = self.network.moved(&at_rest.output, &changed);
            sent = Changed { by: next.weight.times(&moved.by), nodes: moved.nodes.clone() };
            own = Changed {
                by: next.own.as_ref().map(|own| own.times(&moved.by)).unwrap_or_default(),
                nodes: moved.nodes,
            };
        }
        unreachable!("a network has a last layer")
    }
}

/// Influence of targets on each other.
#[derive(Clone, Debug, PartialEq)]
pub struct DenseInfluence {
    n_targets: usize,
    values: Vec<f64>,
}

impl DenseInfluence {
    /// How much the target number `from` moves the output of the target number `on`.
    #[must_use]
    pub fn between(&self, from: usize, on: usize) -> f64 {
        self.values[from * self.n_targets + on]
    }
}

impl AtRest {
    fn new(layer: &Layer, passing: &Passing, inputs: &Inputs) -> Result<Self, InfluenceError> {
        let sent = inputs.times(&layer.weight)?;
        let own = layer.own.as_ref().map(|own| inputs.times(own)).transpose()?.unwrap_or_default();
        let width = layer.outputs();
        let attention = attention::AtRest::new(layer, passing, &sent);
        let mut output = match &attention {
            Some(attention) => attention.output.clone(),
            None => passing.received(&sent, width),
        };
        for (at, row) in output.chunks_exact_mut(width).enumerate() {
            let own = own.get(at * width..(at + 1) * width).unwrap_or_default();
            row.iter_mut().zip(&layer.bias).for_each(|(value, bias)| *value += bias);
            row.iter_mut().zip(own).for_each(|(value, own)| *value += own);
        }
        Ok(Self { sent, own, output, attention })
    }
}

/// Class probabilities of one node.
fn softmax(logits: &[f64]) -> Vec<f64> {
    let most = logits.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let terms: Vec<f64> = logits.iter().map(|logit| libm::exp(logit - most)).collect();
    let total: f64 = terms.iter().sum();
    terms.into_iter().map(|term| term / total).collect()
}

/// Numbers by node that one perturbation uses and leaves as it found them.
struct Scratch {
    /// Place of a node among those that changed, plus one; 0 for the others.
    place: Vec<u32>,
}

impl Scratch {
    fn new(n_nodes: usize) -> Self {
        Self { place: vec![0; n_nodes] }
    }
}

#[cfg(test)]
mod tests;
