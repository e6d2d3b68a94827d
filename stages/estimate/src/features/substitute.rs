//! What takes the place of features that nobody gives: the rows without which no result on private features is complete.

use std::collections::BTreeMap;

use rand::RngExt;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use veilgraph_contract::{Draws, Progress, Server, Stage, StageRng};
use veilgraph_graph::{
    Aggregator, Construction, DenseMatrix, EstimatedFeatures, FeatureMatrix, Nodes, Propagation, Rescale, SparseMatrix,
    WeightedGraph,
};

use super::{Error, check_hops};

/// Puts something in the place of features that says nothing about any node.
///
/// # Privacy
/// Nothing private is read, so nothing is spent.
pub struct SubstituteFeatures;

/// Puts the degree of each node of the server's graph in the place of its features.
///
/// # Privacy
/// The graph is what the server already holds, so nothing further is spent.
pub struct DegreeFeatures;

/// What takes the place of features.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Substitute {
    /// One column for each node that is 1 at this node alone. Propagated, the row of a node is its propagation profile:
    /// how much of every other node reaches it.
    ///
    /// # Source
    /// Revisiting locally private graph learning (IEEE S&P 2027), feature-free baseline.
    #[default]
    PropagationProfile,
    /// Independent standard normal numbers, drawn anew in every trial.
    Random,
    /// One column of ones.
    Constant,
    /// One column for each degree of the server's graph, set at the nodes that have it.
    OneHotDegree,
}

/// What `[estimate.features]` says where no features are given.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SubstituteParams {
    /// What takes the place of features.
    pub substitute: Substitute,
    /// Number of random columns. Other substitutes do not read it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dimension: Option<usize>,
    /// See [`Propagation::hops`].
    pub hops: u32,
    /// See [`Propagation::aggregator`].
    pub aggregator: Aggregator,
    /// See [`Propagation::rescale`].
    pub rescale: Rescale,
}

impl Default for SubstituteParams {
    fn default() -> Self {
        let Propagation { aggregator, rescale, .. } = Propagation::default();
        Self { substitute: Substitute::default(), dimension: None, hops: 8, aggregator, rescale }
    }
}

/// Columns of random features where none are asked for.
const RANDOM_COLUMNS: usize = 1024;
/// Most columns of random features.
pub(super) const MOST_COLUMNS: usize = 1 << 24;

impl SubstituteParams {
    /// The same parameters with only what the substitute reads.
    #[must_use]
    pub fn with_what_is_read(mut self) -> Self {
        let is_random = self.substitute == Substitute::Random;
        self.dimension = is_random.then(|| self.dimension.unwrap_or(RANDOM_COLUMNS));
        if self.hops == 0 {
            self.aggregator = Aggregator::default();
        }
        self
    }

    /// What is done to the substitute over a graph.
    #[must_use]
    pub fn propagation(&self) -> Propagation {
        Propagation { hops: self.hops, aggregator: self.aggregator, rescale: self.rescale }
    }
}

impl Stage for SubstituteFeatures {
    const STAGE: &'static str = "estimate";
    const TASK: &'static str = "substitute-features";
    const DRAWS: Draws = Draws::EveryTrial;
    type Side = Server;
    type Params = SubstituteParams;
    type Inputs = (Nodes,);
    type Outputs = (EstimatedFeatures,);
    type Error = Error;

    fn check_params(params: &SubstituteParams) -> Result<(), Error> {
        check_hops(params.hops)?;
        match params.dimension {
            Some(dimension @ 0) => Err(Error::Dimension(dimension)),
            Some(dimension) if dimension > MOST_COLUMNS => Err(Error::Dimension(dimension)),
            _ => Ok(()),
        }
    }

    fn run(
        (nodes,): Self::Inputs,
        params: &SubstituteParams,
        rng: &StageRng,
        progress: &Progress,
    ) -> Result<Self::Outputs, Error> {
        Self::check_params(params)?;
        let n_nodes = nodes.splits.len();
        let values = match params.substitute {
            Substitute::Random => {
                let n_columns = params.dimension.unwrap_or(RANDOM_COLUMNS);
                // Rows are drawn one by one before they are joined.
                let needed = 2 * size_of::<f32>() * n_nodes * n_columns;
                let what = format!("{n_columns} random features of {n_nodes} nodes");
                progress.memory().check(&what, needed as u64)?;
                random(n_nodes, n_columns, rng)?
            }
            Substitute::Constant => one_hot(1, &vec![0; n_nodes])?,
            Substitute::PropagationProfile | Substitute::OneHotDegree => {
                one_hot(n_nodes, &(0..n_nodes as u32).collect::<Vec<_>>())?
            }
        };
        Ok((EstimatedFeatures { values, propagation: params.propagation() },))
    }
}

impl Stage for DegreeFeatures {
    const STAGE: &'static str = "estimate";
    const TASK: &'static str = "degree-features";
    const DRAWS: Draws = Draws::Never;
    type Side = Server;
    type Params = SubstituteParams;
    type Inputs = (WeightedGraph,);
    type Outputs = (EstimatedFeatures,);
    type Error = Error;

    fn check_params(params: &SubstituteParams) -> Result<(), Error> {
        check_hops(params.hops)
    }

    fn run(
        (graph,): Self::Inputs,
        params: &SubstituteParams,
        _: &StageRng,
        _: &Progress,
    ) -> Result<Self::Outputs, Error> {
        if graph.construction == Construction::Soft {
            return Err(Error::SoftDegrees);
        }
        let mut degrees = vec![0_u32; graph.n_nodes];
        for (source, target, _) in graph.links() {
            degrees[target as usize] += 1;
            if !graph.directed {
                degrees[source as usize] += 1;
            }
        }
        let mut columns: BTreeMap<u32, u32> = degrees.iter().map(|&degree| (degree, 0)).collect();
        (0..).zip(columns.values_mut()).for_each(|(number, column)| *column = number);
        let hot: Vec<u32> = degrees.iter().map(|degree| columns[degree]).collect();
        Ok((EstimatedFeatures { values: one_hot(columns.len(), &hot)?, propagation: params.propagation() },))
    }
}

/// A 1 at one column of each row.
fn one_hot(n_columns: usize, columns: &[u32]) -> Result<FeatureMatrix, Error> {
    let rows = columns.iter().map(|&column| vec![(column, 1.0)]);
    Ok(FeatureMatrix::Sparse { fill: 0.0, entries: SparseMatrix::from_rows(n_columns, rows)? })
}

/// Standard normal numbers, of which each node has a stream of its own.
fn random(n_nodes: usize, n_columns: usize, rng: &StageRng) -> Result<FeatureMatrix, Error> {
    let rows: Vec<Vec<f32>> = (0..n_nodes)
        .into_par_iter()
        .map(|node| {
            let mut stream = rng.fast_stream("random features", node as u64);
            let mut row = Vec::with_capacity(n_columns + 1);
            while row.len() < n_columns {
                // Box, Muller (1958): two uniform numbers give two normal ones.
                let radius = (-2.0 * libm::log(1.0 - stream.random::<f64>())).sqrt();
                let (sine, cosine) = libm::sincos(std::f64::consts::TAU * stream.random::<f64>());
                row.extend([(radius * cosine) as f32, (radius * sine) as f32]);
            }
            row.truncate(n_columns);
            row
        })
        .collect();
    Ok(FeatureMatrix::Dense(DenseMatrix::new(n_nodes, n_columns, rows.concat())?))
}
