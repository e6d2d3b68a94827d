//! What all models of a grid have in common.

use std::sync::Arc;

use veilgraph_graph::{Features, Labels};

use crate::architecture::{Architecture, NetworkOptions, SageNorm};
use crate::attention::AttentionGraph;
use crate::graph_operator::{GraphOperator, TrainingGraph, every_entry};
use crate::learned::{ReportedLinks, Rule};
use crate::map::LinearMap;
use crate::network::{Aggregation, GraphInput};
use crate::rows::matrix;

/// Features, graph and labels of a grid, with the maps that its models share.
#[derive(Debug)]
pub struct Dataset {
    pub(crate) input: GraphInput,
    pub(crate) architecture: Architecture,
    pub(crate) options: NetworkOptions,
    pub(crate) n_classes: usize,
    pub(crate) training: Vec<(u32, u16)>,
    pub(crate) validation: Vec<(u32, u16)>,
}

/// Why a model was not trained.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Failure {
    /// A loss was no finite number.
    #[error("the loss was not a finite number in epoch {0}; lower the learning rate")]
    Diverged(usize),
    /// GAT over all pairs would not fit.
    #[error(
        "soft attention lists all {0} pairs of nodes, more than {1}; use construct.variant = \"hybrid\" or another model"
    )]
    TooManyPairs(usize, usize),
    /// Learned weights of all pairs would not fit.
    #[error("solitude learns a weight for each of {0} pairs of nodes, more than {1}; choose another mechanism")]
    TooManyWeights(usize, usize),
    /// Attention over learned links.
    #[error("solitude learns links for gcn and graphsage; its published figures with gat are numerical failures")]
    LearnedAttention,
    /// Labels and features speak of different graphs.
    #[error("{0} nodes in the graph, {1} in the features")]
    Mismatch(usize, usize),
    /// Nothing to learn a class from.
    #[error(
        "class {0} has no node among the {1} labelled training nodes; choose another split (ingest.split, seed), or remove the class from the labels"
    )]
    NoExample(usize, usize),
    /// Nothing to choose an epoch by.
    #[error("no validation node has a label; choose a split with validation nodes (ingest.split)")]
    NoValidation,
    /// A model meets a graph with other features.
    #[error("the model was trained on {trained} features, this graph has {here}; take a graph with the same features")]
    Features {
        /// Of the model.
        trained: usize,
        /// Of the graph.
        here: usize,
    },
    /// Parameters are not those of the network.
    #[error("the file holds {0} parameters, not the {1} of its network in name and shape; train the model again")]
    Parameters(usize, usize),
    /// The device failed on a single model, most likely for want of memory.
    #[error(
        "the device failed on one model alone ({0}); use construct.variant = \"hard\", fewer hidden units, or --device cpu"
    )]
    Device(String),
}

impl Dataset {
    /// Prepares the maps that every model of a grid shares.
    ///
    /// # Errors
    /// When features and graph differ in size, attention would list too many pairs, a class has no training
    /// node, or there is no validation node.
    pub fn new(
        features: &Features,
        graph: impl Into<TrainingGraph>,
        architecture: Architecture,
        options: NetworkOptions,
        labels: &Labels,
        training: &[u32],
        validation: &[u32],
    ) -> Result<Self, Failure> {
        let labelled =
            |nodes: &[u32]| nodes.iter().filter_map(|&node| Some((node, labels.class(node)?))).collect::<Vec<_>>();
        let (training, validation) = (labelled(training), labelled(validation));
        let missing = (0..labels.n_classes()).find(|&class| training.iter().all(|&(_, own)| usize::from(own) != class));
        if let Some(class) = missing {
            return Err(Failure::NoExample(class, training.len()));
        }
        if validation.is_empty() {
            return Err(Failure::NoValidation);
        }
        let input = match graph.into() {
            TrainingGraph::Fixed(graph) => input(features, graph, architecture, options)?,
            TrainingGraph::Learned(links) => learned(features, links, architecture)?,
        };
        Ok(Self { input, architecture, options, n_classes: labels.n_classes(), training, validation })
    }

    /// Whether models learn weights of links beside their parameters.
    pub(crate) fn learns_links(&self) -> bool {
        matches!(self.input.aggregation, Aggregation::Learn(..))
    }

    /// Names and shapes of the parameters of a model.
    pub(crate) fn shapes(&self) -> Vec<(String, [usize; 2])> {
        self.architecture.parameters(self.options, self.input.features.n_columns(), self.n_classes)
    }

    /// What a model takes on a device while it trains, about: values and gradients of every layer, and
    /// parameters with their gradients, moments and best values.
    #[cfg(any(feature = "cuda", feature = "vulkan"))]
    pub(crate) fn bytes_per_model(&self) -> u64 {
        let parameters: usize = self.shapes().iter().map(|(_, [rows, columns])| rows * columns).sum();
        let n = self.input.features.n_rows();
        let layers = n * (8 * self.options.hidden * (self.options.layers - 1) + 8 * self.n_classes);
        let links = match &self.input.aggregation {
            Aggregation::Attend(graph) => 3 * self.options.layers * graph.links().n_entries(),
            _ => 0,
        };
        4 * (layers + links + 7 * parameters) as u64
    }
}

/// Features and links to learn, as a network reads them.
fn learned(features: &Features, links: ReportedLinks, architecture: Architecture) -> Result<GraphInput, Failure> {
    let n = links.n_nodes();
    if features.0.n_rows() != n {
        return Err(Failure::Mismatch(n, features.0.n_rows()));
    }
    let aggregation = match architecture {
        Architecture::Mlp => Aggregation::Nothing,
        Architecture::Gat => return Err(Failure::LearnedAttention),
        _ if n * n > MOST_PAIRS => return Err(Failure::TooManyWeights(n * n, MOST_PAIRS)),
        Architecture::Gcn => Aggregation::Learn(Arc::new(links), Rule::Symmetric),
        Architecture::GraphSage => Aggregation::Learn(Arc::new(links), Rule::Mean),
    };
    Ok(GraphInput { features: Arc::new(LinearMap::of(features.0.clone())), gathered: None, aggregation })
}

/// Features and graph as a network reads them.
pub(crate) fn input(
    features: &Features,
    graph: GraphOperator,
    architecture: Architecture,
    options: NetworkOptions,
) -> Result<GraphInput, Failure> {
    let n_nodes = graph.n_nodes();
    if features.0.n_rows() != n_nodes {
        return Err(Failure::Mismatch(n_nodes, features.0.n_rows()));
    }
    let features = LinearMap::of(features.0.clone());
    let propagation = |map: LinearMap| (map.times(&features).map(Arc::new), Aggregation::Propagate(Arc::new(map)));
    let (gathered, aggregation) = match architecture {
        Architecture::Gcn => propagation(LinearMap::symmetric(&Arc::new(graph))),
        Architecture::GraphSage => {
            let least = if options.sage_norm == SageNorm::Clamp1 { 1.0 } else { 0.0 };
            propagation(LinearMap::mean(&Arc::new(graph), least))
        }
        Architecture::Gat => {
            let weights = all_pairs(graph)?;
            (None, Aggregation::Attend(Arc::new(AttentionGraph::new(&weights, options.gat_double_weight))))
        }
        Architecture::Mlp => (None, Aggregation::Nothing),
    };
    Ok(GraphInput { features: Arc::new(features), gathered, aggregation })
}

/// Most pairs that are ever listed: with what training keeps of each, a gibibyte.
const MOST_PAIRS: usize = 64_000_000;

/// Weights as explicit links, where that is affordable.
fn all_pairs(graph: GraphOperator) -> Result<veilgraph_graph::SparseMatrix, Failure> {
    let operator = match graph {
        GraphOperator::Sparse(matrix) => return Ok(matrix),
        GraphOperator::Bits(graph) => {
            let rows = (0..graph.n_nodes()).map(|node| graph.senders(node).map(|sender| (sender, 1.0)).collect());
            return Ok(matrix(graph.n_nodes(), rows));
        }
        GraphOperator::Soft(operator) => operator,
    };
    let n = operator.n_nodes();
    if n * n > MOST_PAIRS {
        return Err(Failure::TooManyPairs(n * n, MOST_PAIRS));
    }
    let values = every_entry(n, |x, width| operator.apply(x, width));
    let rows = values.chunks_exact(n).enumerate().map(|(row, values)| {
        let others = values.iter().enumerate().filter(|&(column, _)| column != row);
        // Rounding can leave a tiny negative number where the probability is nearly zero.
        others.map(|(column, &value)| (column as u32, value.max(0.0))).collect()
    });
    Ok(matrix(n, rows))
}
