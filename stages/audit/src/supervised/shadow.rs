//! The graph that the attacker holds, and the network that it trains on it.

use std::sync::Arc;

use rand::RngExt;
use veilgraph_contract::{Invalid, Progress, StageRng};
use veilgraph_graph::{AdjacencyList, Construction, Labels, Nodes, Split, WeightedGraph};
use veilgraph_nn::{Dataset, Device, GraphOperator, ModelWeights, SavedModel, Schedule, train};

use super::rows::Rows;
use crate::Error;

/// What the attacker holds. Its nodes have numbers of their own.
pub(super) struct Shadow {
    /// Links among its nodes.
    pub links: AdjacencyList,
    /// Features of its nodes.
    pub rows: Rows,
    /// A network like the attacked one, trained on it.
    pub network: SavedModel,
}

/// Everything of which a part becomes the shadow.
pub(super) struct Whole<'a> {
    pub truth: &'a AdjacencyList,
    pub rows: &'a Rows,
    pub nodes: &'a Nodes,
    pub labels: &'a Labels,
    pub weights: &'a ModelWeights,
}

/// Most links, and as many other pairs, that a classifier learns from.
const MOST_OF_A_KIND: usize = 4_000;

impl Shadow {
    /// The part of the data that is not about the targets, with a network of the attacked architecture and setting.
    ///
    /// # Errors
    /// When the part has too few labels to train on.
    pub(super) fn new(whole: &Whole, targets: &[u32], rng: &StageRng, progress: &Progress) -> Result<Self, Error> {
        let n_nodes = whole.truth.n_nodes();
        let kept: Vec<u32> = (0..n_nodes as u32).filter(|node| targets.binary_search(node).is_err()).collect();
        let place = |node: u32| kept.binary_search(&node).ok().map(|place| place as u32);
        let links = whole.truth.links().filter_map(|(i, j)| Some((place(i)?, place(j)?)));
        let links = AdjacencyList::from_pairs(kept.len(), links)?;
        let classes = whole.labels.classes().iter().filter_map(|&(node, class)| Some((place(node)?, class)));
        let labels = Labels::new(whole.labels.n_classes(), classes.collect())?;
        let members = |split: Split| whole.nodes.members(split).into_iter().filter_map(place).collect::<Vec<u32>>();
        let rows = whole.rows.of(&kept);

        let description = &whole.weights.description;
        let best = whole.weights.best()?.model;
        let setting = description.models.iter().find(|model| model.0 == best).map(|model| model.1);
        let setting = setting.ok_or_else(|| Invalid(format!("the grid does not describe its model {best}")))?;
        let operator = GraphOperator::of(&graph_of(&links), None, None)?;
        let (training, validation) = (members(Split::Train), members(Split::Validation));
        let dataset = Dataset::new(
            rows.input(),
            operator,
            description.architecture,
            description.options,
            &labels,
            &training,
            &validation,
        )
        .map_err(Error::Shadow)?;
        let trained = train(&dataset, &[setting], Schedule::default(), Device::Cpu, rng, &progress.of_part());
        let trained = trained.into_iter().next().ok_or_else(|| Invalid("no network was trained".to_owned()))?;
        let parameters = trained.map_err(Error::Shadow)?.parameters;
        let network = SavedModel { grid: description.clone(), model: best, parameters };
        Ok(Self { links, rows, network })
    }

    /// Pairs from which a classifier learns, and whether each is linked: as many links as other pairs.
    pub(super) fn pairs(&self, rng: &StageRng) -> Vec<(u32, u32, bool)> {
        let mut stream = rng.fast_stream("pairs of the shadow", 0);
        let n_nodes = self.links.n_nodes() as u32;
        let links: Vec<(u32, u32)> = self.links.links().collect();
        let share = MOST_OF_A_KIND as f64 / links.len().max(1) as f64;
        let kept = links.into_iter().filter(|_| share >= 1.0 || stream.random_bool(share));
        let mut pairs: Vec<(u32, u32, bool)> = kept.map(|(i, j)| (i, j, true)).collect();
        let (n_links, n_pairs) = (pairs.len(), self.links.n_nodes() * self.links.n_nodes().saturating_sub(1) / 2);
        // A graph without as many other pairs gives those that it has, or fewer.
        let n_others = n_links.min((n_pairs - self.links.n_links()) / 2);
        while pairs.len() < n_links + n_others {
            let (i, j) = (stream.random_range(0..n_nodes), stream.random_range(0..n_nodes));
            if i < j && !self.links.contains(i as usize, j) {
                pairs.push((i, j, false));
            }
        }
        pairs
    }
}

/// A graph with these links, each of weight 1.
pub(super) fn graph_of(links: &AdjacencyList) -> WeightedGraph {
    let listed = links.links().map(|(i, j)| (i, j, 1.0)).collect();
    WeightedGraph::undirected(Construction::Given, links.n_nodes(), listed)
}

/// What a network answers about every node of a graph.
///
/// # Shapes
/// Returns one row of `[n_classes]` probabilities for each node.
pub(super) fn answers(network: &SavedModel, rows: &Rows, graph: &WeightedGraph) -> Result<Vec<Vec<f64>>, Error> {
    let operator = Arc::new(GraphOperator::of(graph, None, None)?);
    let answers = network.probabilities(rows.input(), &operator).map_err(Error::Answer)?;
    let row = |row: &[f32]| row.iter().map(|&probability| f64::from(probability)).collect();
    Ok(answers.chunks_exact(network.grid.n_classes.max(1)).map(row).collect())
}
