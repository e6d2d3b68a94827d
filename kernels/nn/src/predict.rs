//! A trained network on any graph.

use burn::backend::{Autodiff, Flex};
use burn::tensor::{Tensor, TensorData};
use veilgraph_graph::Features;

use crate::architecture::{Architecture, NetworkOptions, Parameter};
use crate::dataset::{Failure, input};
use crate::graph_operator::GraphOperator;
use crate::network::Network;
use crate::score::softmax;

/// Class probabilities of every node, row-major `[n_nodes, n_classes]`, on the CPU.
///
/// # Errors
/// When the parameters were trained on another number of features, or are not those of such a network.
pub fn predict(
    parameters: &[Parameter],
    architecture: Architecture,
    options: NetworkOptions,
    n_classes: usize,
    features: &Features,
    graph: GraphOperator,
) -> Result<Vec<f32>, Failure> {
    let shapes = architecture.parameters(options, features.0.n_columns(), n_classes);
    let found: Vec<_> = parameters.iter().map(|parameter| (parameter.name.clone(), parameter.shape)).collect();
    if let (Some(trained), Some(here)) = (found.first(), shapes.first())
        && trained.1[0] != here.1[0]
    {
        return Err(Failure::Features { trained: trained.1[0], here: here.1[0] });
    }
    if found != shapes {
        return Err(Failure::Parameters(found.len(), shapes.len()));
    }
    let input = input(features, graph, architecture, options)?;
    let device = Default::default();
    let network = Network::<Flex>::new(architecture, &input, &device);
    let tensors = parameters.iter().map(|Parameter { shape: [rows, columns], values, .. }| {
        Tensor::<Autodiff<Flex>, 3>::from_data(TensorData::new(values.clone(), [1, *rows, *columns]), &device)
    });
    let tensors: Vec<_> = tensors.collect();
    let layers: Vec<Vec<_>> = tensors.chunks(tensors.len() / options.layers).map(<[_]>::to_vec).collect();
    let logits = network.logits(network.first_layer(&layers), &layers, None, 0);
    let logits = logits.into_data().into_vec().unwrap_or_else(|error| unreachable!("tensors hold f32: {error:?}"));
    Ok(softmax(&logits, n_classes))
}
