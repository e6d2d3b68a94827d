//! What all models of a grid have in common.

use std::borrow::Cow;
use std::sync::Arc;

use veilgraph_graph::SparseMatrix;

use crate::architecture::{Architecture, NetworkOptions, SageNorm};
use crate::attention::AttentionGraph;
use crate::failure::Failure;
use crate::input_features::InputFeatures;
use crate::layer::Layer;
use crate::learned::{ReportedLinks, Rule};
use crate::map::{LinearMap, ReadRows};
use crate::network::{Aggregation, GraphInput};
use crate::objective::{Objective, Selection};
use crate::training_graph::TrainingGraph;
use crate::training_labels::TrainingLabels;
use veilgraph_operator::rows::matrix;
use veilgraph_operator::{GraphOperator, every_entry};

/// Features, graph and labels of a grid, with the maps that its models share.
#[derive(Debug)]
pub struct Dataset {
    pub(crate) input: GraphInput,
    pub(crate) architecture: Architecture,
    pub(crate) options: NetworkOptions,
    pub(crate) n_classes: usize,
    /// Training nodes that have a label, each with its class.
    pub(crate) training: Vec<(u32, u16)>,
    /// Validation nodes that have a label.
    pub(crate) validation: Vec<(u32, u16)>,
    pub(crate) objective: Objective,
    pub(crate) selection: Selection,
    /// Whether the probabilities of trained models are read.
    pub(crate) keeps_probabilities: bool,
}

impl Dataset {
    /// Prepares the maps that every model of a grid shares.
    ///
    /// # Errors
    /// When features and graph differ in size, attention would list too many pairs, a class has no training node
    /// although labels have no noise, there is no training or validation node, or features or labels cannot be
    /// propagated over the graph.
    pub fn new<'f, 'l>(
        features: impl Into<InputFeatures<'f>>,
        graph: impl Into<TrainingGraph>,
        architecture: Architecture,
        options: NetworkOptions,
        labels: impl Into<TrainingLabels<'l>>,
        training: &[u32],
        validation: &[u32],
    ) -> Result<Self, Failure> {
        let TrainingLabels { labels, noise } = labels.into();
        let (training, validation) = (labels.of_nodes(training), labels.of_nodes(validation));
        // Noise may leave a class without an example.
        if noise.is_none() {
            check_examples(labels.n_classes(), &training)?;
        }
        if training.is_empty() {
            return Err(Failure::NoTraining);
        }
        if validation.is_empty() {
            return Err(Failure::NoValidation);
        }
        let features = features.into();
        let (input, graph) = match graph.into() {
            TrainingGraph::Fixed(graph) => {
                let graph = Arc::new(graph);
                (input(features, &graph, architecture, options)?, Some(graph))
            }
            TrainingGraph::Learned(links) => (learned(features, links, architecture, options)?, None),
        };
        let n_classes = labels.n_classes();
        let (objective, selection) = match noise {
            Some(noise) => Objective::new(noise, n_classes, graph.as_ref(), &training, &validation)?,
            None => (Objective::CrossEntropy, Selection::LowestLoss),
        };
        let keeps_probabilities = true;
        Ok(Self {
            input,
            architecture,
            options,
            n_classes,
            training,
            validation,
            objective,
            selection,
            keeps_probabilities,
        })
    }

    /// This dataset without some of its training nodes; all else is shared.
    ///
    /// # Errors
    /// When a class has no training node left.
    ///
    /// # Panics
    /// When labels have noise: their objective was made for all training nodes.
    pub fn without(&self, is_left_out: impl Fn(u32) -> bool) -> Result<Self, Failure> {
        assert!(matches!(self.objective, Objective::CrossEntropy), "labels without noise");
        let training: Vec<(u32, u16)> = self.training.iter().copied().filter(|&(node, _)| !is_left_out(node)).collect();
        check_examples(self.n_classes, &training)?;
        Ok(Self {
            input: self.input.clone(),
            training,
            validation: self.validation.clone(),
            objective: Objective::CrossEntropy,
            ..*self
        })
    }

    /// This dataset for a search, which compares curves: the models that it trains have no probabilities.
    #[must_use]
    pub fn without_probabilities(self) -> Self {
        Self { keeps_probabilities: false, ..self }
    }

    /// Whether models learn weights of links beside their parameters.
    pub(crate) fn learns_links(&self) -> bool {
        matches!(self.input.aggregation, Aggregation::Learn(..))
    }

    /// Nodes whose logits the loss reads.
    pub(crate) fn read_in_step(&self) -> ReadRows {
        match self.objective {
            Objective::CrossEntropy => Some(nodes_of(&[&self.training])),
            // Its classes may be propagated, from all nodes.
            Objective::Noisy(_) => None,
        }
    }

    /// Nodes whose logits are read in the evaluation of an epoch.
    pub(crate) fn read_in_evaluation(&self) -> Arc<[u32]> {
        match self.selection {
            Selection::LowestLoss => nodes_of(&[&self.validation]),
            Selection::Plausible { .. } => nodes_of(&[&self.training, &self.validation]),
        }
    }

    /// Shapes `[rows, columns]` of the parameters of a model, layer by layer.
    pub(crate) fn layers(&self) -> Vec<Layer<[usize; 2]>> {
        self.architecture.layers(self.options, self.input.features.n_columns(), self.n_classes)
    }
}

/// The nodes of these lists, ascending.
fn nodes_of(lists: &[&[(u32, u16)]]) -> Arc<[u32]> {
    let mut nodes: Vec<u32> = lists.iter().flat_map(|labelled| labelled.iter().map(|&(node, _)| node)).collect();
    nodes.sort_unstable();
    nodes.dedup();
    nodes.into()
}

/// Whether every class has a training node.
///
/// # Errors
/// When a class has none.
fn check_examples(n_classes: usize, training: &[(u32, u16)]) -> Result<(), Failure> {
    let mut is_missing = vec![true; n_classes];
    training.iter().for_each(|&(_, class)| is_missing[usize::from(class)] = false);
    match is_missing.iter().position(|&is_missing| is_missing) {
        Some(class) => Err(Failure::NoExample(class, training.len())),
        None => Ok(()),
    }
}

/// Features and links to learn, as a network reads them.
///
/// # Errors
/// When features and links differ in size, the network attends, there are too many pairs to learn, or the features
/// ask to be propagated.
fn learned(
    features: InputFeatures,
    links: ReportedLinks,
    architecture: Architecture,
    options: NetworkOptions,
) -> Result<GraphInput, Failure> {
    let n = links.n_nodes();
    if features.n_nodes() != n {
        return Err(Failure::Mismatch(n, features.n_nodes()));
    }
    let aggregation = match architecture {
        Architecture::Mlp => Aggregation::Nothing,
        Architecture::Gat => return Err(Failure::LearnedAttention),
        _ if n * n > MOST_PAIRS => return Err(Failure::TooManyWeights(n * n, MOST_PAIRS)),
        Architecture::Gcn => Aggregation::Learn(Arc::new(links), Rule::Symmetric),
        Architecture::GraphSage => Aggregation::Learn(Arc::new(links), Rule::Mean),
    };
    Ok(GraphInput {
        features: Arc::new(LinearMap::unpropagated(features, n)?),
        gathered: None,
        aggregation,
        unit: options.activation,
    })
}

/// Features and graph as a network reads them.
///
/// # Errors
/// When features and graph differ in size, attention would list too many pairs, or a feature overflows.
pub(crate) fn input(
    features: InputFeatures,
    graph: &Arc<GraphOperator>,
    architecture: Architecture,
    options: NetworkOptions,
) -> Result<GraphInput, Failure> {
    let n_nodes = graph.n_nodes();
    if features.n_nodes() != n_nodes {
        return Err(Failure::Mismatch(n_nodes, features.n_nodes()));
    }
    let features = LinearMap::features(features, graph)?;
    let propagation = |map: LinearMap| (map.times(&features).map(Arc::new), Aggregation::Propagate(Arc::new(map)));
    let (gathered, aggregation) = match architecture {
        Architecture::Gcn => propagation(LinearMap::symmetric(graph)),
        Architecture::GraphSage => {
            let least = if options.sage_norm == SageNorm::Clamp1 { 1.0 } else { 0.0 };
            propagation(LinearMap::mean(graph, least))
        }
        Architecture::Gat => {
            let weights = all_pairs(graph)?;
            (None, Aggregation::Attend(Arc::new(AttentionGraph::new(&weights, options.gat_double_weight))))
        }
        Architecture::Mlp => (None, Aggregation::Nothing),
    };
    Ok(GraphInput { features: Arc::new(features), gathered, aggregation, unit: options.activation })
}

/// Most pairs of nodes that are ever listed. With what training keeps of each, these take a gibibyte.
const MOST_PAIRS: usize = 64_000_000;

/// Weights as explicit links, which attention needs.
///
/// # Errors
/// When a soft graph has too many pairs.
fn all_pairs(graph: &GraphOperator) -> Result<Cow<'_, SparseMatrix>, Failure> {
    let operator = match graph {
        GraphOperator::Sparse(matrix) => return Ok(Cow::Borrowed(matrix)),
        GraphOperator::Bits(graph) => {
            let rows = (0..graph.n_nodes()).map(|node| graph.senders(node).map(|sender| (sender, 1.0)).collect());
            return Ok(Cow::Owned(matrix(graph.n_nodes(), rows)));
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
        // No probability is 0, but the operator's rounding can leave 0 or a tiny negative number where one is nearly so.
        others.map(|(column, &value)| (column as u32, value.max(f32::MIN_POSITIVE))).collect()
    });
    Ok(Cow::Owned(matrix(n, rows)))
}
