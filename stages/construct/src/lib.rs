//! The server builds a graph from link probabilities, or from the reports of a mechanism without any.

mod entries;
mod groups;
mod reported;

use serde::{Deserialize, Serialize};
use veilgraph_contract::{Invalid, Progress, Server, Stage, StageRng};
use veilgraph_graph::{Construction, WeightedGraph};
use veilgraph_posterior::{LinkEvidence, LinkModel, Posterior};

pub use entries::ConstructFromEntries;
pub use groups::{ConstructFromCounts, EdgeModel};
pub use reported::ConstructFromReports;

/// Turns the posterior into a graph.
pub struct Construct;

/// The `[construct]` table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Params {
    /// How probabilities become links.
    #[serde(default = "default_variant")]
    pub variant: Construction,
    /// How many entries a hybrid graph keeps, as a multiple of those expected, ΣP (1 in the paper).
    #[serde(default = "default_edge_multiple")]
    pub edge_multiple: f64,
    /// How LDPGen turns counts into probabilities.
    #[serde(default)]
    pub edge_model: EdgeModel,
}

/// Why no graph is built.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The number of edges makes no sense.
    #[error("edge_multiple must be a positive number, not {0}")]
    EdgeMultiple(f64),
    /// The variant belongs to other mechanisms.
    #[error("variant = \"{0}\" is how mechanisms other than blink come to a graph; choose hard, soft or hybrid")]
    Variant(Construction),
    /// More links than can be ranked.
    #[error(
        "the reports speak of {0} links, more than {1}; choose a larger epsilon, or another mechanism than l-dpgcn"
    )]
    TooManyLinks(usize, usize),
    /// Artifacts do not belong together.
    #[error(transparent)]
    Invalid(#[from] Invalid),
}

fn default_edge_multiple() -> f64 {
    1.0
}

fn default_variant() -> Construction {
    Construction::Hybrid
}

impl Stage for Construct {
    const NAME: &'static str = "construct";
    const RANDOM: bool = false;
    type Side = Server;
    type Params = Params;
    type Inputs = (LinkModel, LinkEvidence);
    type Outputs = (WeightedGraph,);
    type Error = Error;

    fn run(
        (model, evidence): Self::Inputs,
        params: &Params,
        _: &StageRng,
        _: &Progress,
    ) -> Result<Self::Outputs, Error> {
        if !(params.edge_multiple > 0.0 && params.edge_multiple.is_finite()) {
            return Err(Error::EdgeMultiple(params.edge_multiple));
        }
        let posterior = Posterior::new(&model, evidence)?;
        let mut links = match params.variant {
            Construction::Hard => hard(&posterior),
            Construction::Soft => Vec::new(),
            // Σ P counts every pair in both directions, as the paper does.
            Construction::Hybrid => posterior.most_likely(params.edge_multiple),
            other => return Err(Error::Variant(other)),
        };
        links.sort_unstable_by_key(|&(i, j, _)| (i, j));
        Ok((WeightedGraph::undirected(params.variant, posterior.n_nodes(), links),))
    }
}

/// Pairs more likely linked than not: `P > ½`, strictly (Blink, section 4.4).
fn hard(posterior: &Posterior) -> Vec<(u32, u32, f32)> {
    let mut links = Vec::new();
    posterior.visit_pairs(|logit| logit > 0.0, |i, j, _| links.push((i, j, 1.0)));
    links
}

#[cfg(test)]
mod tests;
