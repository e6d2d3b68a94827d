//! A graph of similar nodes: what features and training labels give without one report about links.

use serde::{Deserialize, Serialize};
use veilgraph_contract::{Draws, Invalid, Progress, Server, Stage, StageRng};
use veilgraph_graph::{Construction, EstimatedFeatures, Features, Labels, Nodes, WeightedGraph};

use crate::Error;
use crate::bins::AllPairs;
use crate::classes::Classes;
use crate::compared::HeldFeatures;
use crate::neighbours::nearest_neighbours;

/// Links nodes that resemble each other. Nothing about links is read, so nothing is released.
pub struct SimilarGraph;

/// Says which nodes are linked.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SimilarGraphParams {
    /// How nodes are compared.
    #[serde(default)]
    pub similarity: Measure,
    /// How many others a node is linked to; with `"score"`, so many links there are for every two nodes.
    #[serde(default = "default_neighbours")]
    pub neighbours: usize,
}

/// Says how nodes are compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Measure {
    /// Every node is linked to the nodes with the largest cosines of features.
    #[default]
    Cosine,
    /// The pairs with the largest score of all are linked, where the score counts cosines and predicted classes.
    Score,
}

/// A node is linked to so many others where nothing else is said.
pub(crate) const NEIGHBOURS: usize = 10;

fn default_neighbours() -> usize {
    NEIGHBOURS
}

impl Default for SimilarGraphParams {
    fn default() -> Self {
        Self { similarity: Measure::default(), neighbours: NEIGHBOURS }
    }
}

impl SimilarGraphParams {
    /// Whether every field makes sense.
    ///
    /// # Errors
    /// When no node would be linked.
    pub fn check(&self) -> Result<(), Error> {
        if self.neighbours > 0 { Ok(()) } else { Err(Error::Neighbours) }
    }
}

impl Stage for SimilarGraph {
    const STAGE: &'static str = "similarity";
    const TASK: &'static str = "similar-graph";
    const DRAWS: Draws = Draws::OncePerExperiment;
    type Side = Server;
    type Params = SimilarGraphParams;
    /// Features are public, or estimated from reports where nodes keep them private. Labels are read for the score.
    type Inputs = (Nodes, Option<Features>, Option<EstimatedFeatures>, Option<Labels>);
    type Outputs = (WeightedGraph,);
    type Error = Error;

    fn check_params(params: &SimilarGraphParams) -> Result<(), Error> {
        params.check()
    }

    fn run(
        (nodes, public, estimated, labels): Self::Inputs,
        params: &SimilarGraphParams,
        rng: &StageRng,
        progress: &Progress,
    ) -> Result<Self::Outputs, Error> {
        params.check()?;
        let n_nodes = nodes.splits.len();
        let features = HeldFeatures::new(public, estimated)?;
        let directions = features.directions()?;
        if params.similarity == Measure::Cosine {
            return Ok((nearest_neighbours(&directions, n_nodes, params.neighbours)?,));
        }
        let classes = Classes::predicted(&nodes, features, labels, rng, progress)?;
        let pairs = AllPairs { directions, classes, n_nodes };
        Ok((most_alike(&pairs, n_nodes.saturating_mul(params.neighbours) / 2)?,))
    }
}

/// Links the pairs with the largest scores, at most `n_links`.
///
/// # Errors
/// Fails as [`AllPairs::most_similar`] does.
pub(crate) fn most_alike(pairs: &AllPairs, n_links: usize) -> Result<WeightedGraph, Invalid> {
    let rows = pairs.most_similar(n_links.max(1), 1, Measure::Score)?.rows;
    if rows.iter().all(Vec::is_empty) {
        tracing::warn!(
            "too many pairs have the same largest score to be told apart: no pair of similar nodes is linked"
        );
    }
    let links = (0..).zip(rows).flat_map(|(i, row)| row.into_iter().map(move |(j, _)| (i, j, 1.0)));
    Ok(WeightedGraph::undirected(Construction::Hard, pairs.n_nodes, links.collect()))
}
