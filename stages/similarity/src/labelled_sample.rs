//! This module draws the nodes that a perceptron learns classes from where a graph has more labelled nodes than it takes.

use rand::seq::SliceRandom;
use veilgraph_contract::StageRng;
use veilgraph_graph::{Construction, Labels, Nodes, Split, WeightedGraph};
use veilgraph_nn::{
    Architecture, Failure, GraphOperator, GridDescription, NetworkOptions, Parameter, SavedModel, on_threads,
};

use crate::compared::HeldFeatures;

/// Of more training nodes, so many are drawn: twice as many as the largest graph has with which `best` was measured.
const MOST_TRAINING: usize = 1 << 15;
/// Of more validation nodes, so many are drawn then, for they only choose epochs and how predictions are blended.
const MOST_VALIDATION: usize = 1 << 13;
/// In graphs with more nodes, the labelled ones are learned from alone, however few they are.
const MOST_NODES: usize = 1 << 17;
/// So many nodes of every class are drawn at least, if it has them: two for each of five parts.
const LEAST_OF_CLASS: usize = 10;

/// Holds some labelled nodes of a large graph as a graph of their own, without links.
pub(crate) struct LabelledSample {
    pub features: HeldFeatures,
    pub nodes: Nodes,
    pub labels: Labels,
    /// Which nodes these are, in ascending order.
    pub members: Vec<u32>,
}

impl LabelledSample {
    /// Draws training and validation nodes, of every class the same share; nothing where there are few enough nodes.
    pub(crate) fn of(nodes: &Nodes, features: &HeldFeatures, labels: &Labels, rng: &StageRng) -> Option<Self> {
        let [training, validation] =
            [Split::Train, Split::Validation].map(|split| labels.of_nodes(&nodes.members(split)));
        if training.len() <= MOST_TRAINING && nodes.splits.len() <= MOST_NODES {
            return None;
        }
        let n_training = training.len();
        let mut drawn = draw(training, MOST_TRAINING, rng, 0);
        tracing::info!("classes are learned from {} of {n_training} training nodes, without links", drawn.len());
        drawn.extend(draw(validation, MOST_VALIDATION, rng, 1));
        drawn.sort_unstable();
        let members: Vec<u32> = drawn.iter().map(|&(node, _)| node).collect();
        let splits = members.iter().map(|&node| nodes.splits[node as usize]).collect();
        let classes = (0..).zip(&drawn).map(|(at, &(_, class))| (at, class)).collect();
        Some(Self {
            features: features.of_nodes(&members),
            nodes: Nodes { splits, ..nodes.clone() },
            labels: Labels::new(labels.n_classes(), classes)
                .unwrap_or_else(|invalid| unreachable!("classes are those of valid labels: {invalid}")),
            members,
        })
    }
}

/// Draws about `most` nodes, or all if they are fewer.
fn draw(mut labelled: Vec<(u32, u16)>, most: usize, rng: &StageRng, stream: u64) -> Vec<(u32, u16)> {
    let share = (most as f64 / labelled.len().max(1) as f64).min(1.0);
    labelled.shuffle(&mut rng.fast_stream("labelled sample", stream));
    labelled.sort_by_key(|&(_, class)| class);
    let of_class = |of_class: &[(u32, u16)]| {
        let n_drawn = ((share * of_class.len() as f64) as usize).max(LEAST_OF_CLASS).min(of_class.len());
        of_class[..n_drawn].to_vec()
    };
    labelled.chunk_by(|a, b| a.1 == b.1).flat_map(of_class).collect()
}

/// Asks a trained perceptron about all nodes, some rows at a time.
///
/// # Shapes
/// Returns `[n_nodes, n_classes]`, row-major.
///
/// # Errors
/// Fails when the perceptron was trained on other features.
pub(crate) fn ask_perceptron(
    parameters: Vec<Parameter>,
    options: NetworkOptions,
    n_classes: usize,
    features: &HeldFeatures,
) -> Result<Vec<f32>, Failure> {
    /// Few enough that their features fit into memory a second time even where they are dense.
    const ROWS: usize = 1 << 14;
    let grid = GridDescription {
        architecture: Architecture::Mlp,
        options,
        n_classes,
        class_names: Vec::new(),
        models: Vec::new(),
    };
    let perceptron = SavedModel { grid, model: 0, parameters };
    let n_nodes = features.n_nodes();
    let blocks = on_threads(n_nodes.div_ceil(ROWS), rayon::current_num_threads(), |block| {
        let rows: Vec<u32> = (block * ROWS..((block + 1) * ROWS).min(n_nodes)).map(|row| row as u32).collect();
        let graph = GraphOperator::explicit(&without_links(rows.len()));
        perceptron.probabilities(features.of_nodes(&rows).input(), &graph.into())
    });
    blocks.into_iter().collect::<Result<Vec<_>, Failure>>().map(|blocks| blocks.concat())
}

/// A graph in which no node has a link, which a perceptron reads in the place of one.
pub(crate) fn without_links(n_nodes: usize) -> WeightedGraph {
    WeightedGraph::undirected(Construction::Hard, n_nodes, Vec::new())
}

#[cfg(test)]
mod tests;
