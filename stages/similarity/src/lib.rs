//! The server compares all nodes by what it holds about them: their features, and the labels it knows.

mod bins;
mod classes;
mod cosine;

use serde::{Deserialize, Serialize};
use veilgraph_contract::{Invalid, Progress, Server, Stage, StageRng};
use veilgraph_graph::{Features, Labels, Nodes};
use veilgraph_posterior::SimilarPairs;

use bins::AllPairs;
use classes::Classes;
use cosine::Directions;

/// Lists the pairs of nodes that resemble each other most.
pub struct Similarity;

/// The `[similarity]` table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Params {
    /// Whether predicted classes count beside features.
    #[serde(default = "default_classes")]
    pub classes: bool,
    /// Share of all pairs, in `(0, 1]`, that is listed.
    #[serde(default = "default_share")]
    pub share: f64,
    /// Most pairs that are listed, whatever the share.
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
        Self { classes: default_classes(), share: default_share(), most_pairs: default_most_pairs() }
    }
}

/// Why nodes are not compared.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The share makes no sense.
    #[error("share must be a number in (0, 1], not {0}")]
    Share(f64),
    /// Artifacts do not belong together.
    #[error(transparent)]
    Invalid(#[from] Invalid),
}

/// Bins at most: finer ones would be learned from too few links.
const MOST_BINS: u8 = 24;

impl Stage for Similarity {
    const NAME: &'static str = "similarity";
    const RANDOM: bool = true;
    type Side = Server;
    type Params = Params;
    /// Labels are given where the dataset has them.
    type Inputs = (Nodes, Features, Option<Labels>);
    type Outputs = (SimilarPairs,);
    type Error = Error;

    fn run(
        (nodes, features, labels): Self::Inputs,
        params: &Params,
        rng: &StageRng,
        progress: &Progress,
    ) -> Result<Self::Outputs, Error> {
        if !(params.share > 0.0 && params.share <= 1.0) {
            return Err(Error::Share(params.share));
        }
        let n_nodes = nodes.splits.len();
        let directions = Directions::new(&features);
        if !directions.tell_anything() {
            tracing::warn!("all nodes have the same features: no pair is more alike than another");
            return Ok((SimilarPairs::none(n_nodes),));
        }
        let classes = match labels.filter(|_| params.classes) {
            Some(labels) if labels.n_classes() > 1 => {
                let predicted = Classes::predict(&nodes, &features, &labels, rng, progress);
                predicted.inspect_err(|reason| tracing::warn!("classes are left out of similarity: {reason}")).ok()
            }
            _ => None,
        };
        let n_pairs = n_nodes * n_nodes.saturating_sub(1) / 2;
        let most = ((params.share * n_pairs as f64) as usize).min(params.most_pairs);
        let (n_bins, rows) = AllPairs { directions, classes, n_nodes }.most_similar(most, MOST_BINS);
        Ok((SimilarPairs::from_rows(n_bins, rows)?,))
    }
}

#[cfg(test)]
mod tests;
