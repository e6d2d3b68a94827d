//! This stage compares all nodes by what the server holds about them: their features, and the labels it knows.

mod bins;
mod class_beliefs;
mod class_network;
mod classes;
mod compared;
mod cosine;
mod cosine_join;
mod effort;
mod labelled_sample;
mod neighbours;
mod search;
mod similar_graph;

use serde::{Deserialize, Serialize};
use veilgraph_contract::{Draws, Invalid, Progress, Server, Stage, StageRng};
use veilgraph_graph::{EstimatedFeatures, Features, Labels, Nodes};
use veilgraph_nn::Failure;
use veilgraph_posterior::SimilarPairs;
use veilgraph_privacy::NoisyLabels;

use bins::{AllPairs, BinnedRows};
use classes::Classes;
use compared::HeldFeatures;

pub use class_beliefs::BelieveClasses;
pub use similar_graph::{Measure, SimilarGraph, SimilarGraphParams};

/// Lists the pairs of nodes that resemble each other most.
pub struct Similarity;

/// Holds the `[similarity]` table of the configuration.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Params {
    /// If true, predicted classes count beside features.
    #[serde(default = "default_classes")]
    pub classes: bool,
    /// What divides the listed pairs into bins. Left out, it is the score, or cosine alone where the prior believes classes
    /// itself, so that what classes say does not count twice.
    pub bins: Option<Measure>,
    /// This share of all pairs is listed; it lies in `(0, 1]`.
    #[serde(default = "default_share")]
    pub share: f64,
    /// No more pairs than this are listed, whatever the share.
    #[serde(default = "default_most_pairs")]
    pub most_pairs: usize,
}

fn default_classes() -> bool {
    true
}

fn default_share() -> f64 {
    0.2
}

fn default_most_pairs() -> usize {
    1 << 22
}

impl Default for Params {
    fn default() -> Self {
        Self { classes: default_classes(), bins: None, share: default_share(), most_pairs: default_most_pairs() }
    }
}

/// Says why nodes are not compared.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The share of listed pairs is not in `(0, 1]`.
    #[error("share must be a number in (0, 1], not {0}")]
    Share(f64),
    /// No pair may be listed.
    #[error("most_pairs must be at least 1")]
    MostPairs,
    /// So few pairs may be listed that no bin of them is made.
    #[error(
        "`most_pairs` and `share` let {most_pairs} pairs be listed, and a bin needs {needed}, a quarter of the nodes; raise them"
    )]
    TooFewPairs {
        /// So many pairs may be listed.
        most_pairs: usize,
        /// So many pairs are asked for at least.
        needed: usize,
    },
    /// No node would be linked to another.
    #[error("neighbours must be at least 1")]
    Neighbours,
    /// The networks that predict classes do not fit into memory. To go on without them would give another result on a smaller
    /// machine.
    #[error("{0}")]
    TooLarge(Failure),
    /// The artifacts do not belong together.
    #[error(transparent)]
    Invalid(#[from] Invalid),
}

/// There are at most this many bins, because the odds of finer ones would be learned from too few links.
const MOST_BINS: u8 = 24;

impl Stage for Similarity {
    const STAGE: &'static str = "similarity";
    const TASK: &'static str = "similarity";
    const DRAWS: Draws = Draws::OncePerExperiment;
    type Side = Server;
    type Params = Params;
    /// Features are public, or estimated from reports where nodes keep them private; the public ones count if there are
    /// both. The labels are absent where the dataset has none, and noisy where nodes keep them private.
    type Inputs = (Nodes, Option<Features>, Option<EstimatedFeatures>, Option<Labels>, Option<NoisyLabels>);
    type Outputs = (SimilarPairs,);
    type Error = Error;

    fn check_params(params: &Params) -> Result<(), Error> {
        if !(params.share > 0.0 && params.share <= 1.0) {
            return Err(Error::Share(params.share));
        }
        if params.most_pairs == 0 { Err(Error::MostPairs) } else { Ok(()) }
    }

    fn run(
        (nodes, public, estimated, labels, noisy_labels): Self::Inputs,
        params: &Params,
        rng: &StageRng,
        progress: &Progress,
    ) -> Result<Self::Outputs, Error> {
        Self::check_params(params)?;
        let n_nodes = nodes.splits.len();
        let n_pairs = n_nodes * n_nodes.saturating_sub(1) / 2;
        let most_pairs = ((params.share * n_pairs as f64) as usize).min(params.most_pairs);
        // Of three nodes a fifth of all pairs is none.
        if n_nodes > 3 && most_pairs < n_nodes / 4 {
            return Err(Error::TooFewPairs { most_pairs, needed: n_nodes / 4 });
        }
        let labels = labels.or(noisy_labels.map(|noisy| noisy.labels));
        let features = HeldFeatures::new(public, estimated)?;
        let directions = features.directions()?;
        if !directions.has_weighted_features() {
            tracing::warn!("all nodes have the same features: no pair is more alike than another");
            return Ok((SimilarPairs::none(n_nodes),));
        }
        let classes = Classes::predicted(&nodes, features, labels.filter(|_| params.classes), rng, progress)?;
        let BinnedRows { n_bins, rows } = AllPairs { directions, classes, n_nodes }.most_similar(
            most_pairs,
            MOST_BINS,
            params.bins.unwrap_or(Measure::Score),
        )?;
        Ok((SimilarPairs::from_rows(n_bins, rows)?,))
    }
}

#[cfg(test)]
mod tests;
