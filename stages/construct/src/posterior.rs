//! Graphs from link probabilities: hard, soft and hybrid.

mod rows;

use std::fmt;

use serde::{Deserialize, Serialize};
use veilgraph_contract::{Draws, Progress, Server, Stage, StageRng, Stored};
use veilgraph_graph::{Construction, WeightedGraph};
use veilgraph_posterior::{LinkEvidence, LinkModel, Posterior};

use crate::Error;

pub use rows::{CountKnownPairs, FindThreshold, LikelyPair, LikelyPairs, MergeGraph, SelectPairs, ThresholdParams};

/// Turns the posterior into a graph.
///
/// # Source
/// Zhu, Tan, Xiao (2023), Blink, section 4.4.
pub struct Construct;

/// What this function reads of `[construct]`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, into = "Written")]
pub struct Params {
    /// How probabilities become links.
    #[serde(default)]
    pub variant: Variant,
    /// How many entries a hybrid graph keeps, as a multiple of those expected, ΣP (1 in the paper).
    #[serde(default = "default_edge_multiple")]
    pub edge_multiple: f64,
}

/// How probabilities become links; `variant` in a config.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Variant {
    /// Pairs that are more likely linked than not, each with weight 1.
    Hard,
    /// All pairs, weighted by their probability.
    Soft,
    /// The most likely pairs, weighted by their probability.
    #[default]
    Hybrid,
}

/// The parameters that the variant reads, as they stand in the key of a graph.
#[derive(Serialize)]
struct Written {
    variant: Variant,
    #[serde(skip_serializing_if = "Option::is_none")]
    edge_multiple: Option<f64>,
}

fn default_edge_multiple() -> f64 {
    1.0
}

impl From<Params> for Written {
    fn from(params: Params) -> Self {
        let Params { variant, edge_multiple } = params;
        Self { variant, edge_multiple: (variant == Variant::Hybrid).then_some(edge_multiple) }
    }
}

impl From<Variant> for Construction {
    fn from(variant: Variant) -> Self {
        match variant {
            Variant::Hard => Self::Hard,
            Variant::Soft => Self::Soft,
            Variant::Hybrid => Self::Hybrid,
        }
    }
}

impl fmt::Display for Variant {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        Construction::from(*self).fmt(formatter)
    }
}

impl Params {
    /// Whether every field makes sense.
    ///
    /// # Errors
    /// When the number of entries of a hybrid graph is not a positive multiple of the expected ones.
    pub fn check(&self) -> Result<(), Error> {
        let is_positive = self.edge_multiple > 0.0 && self.edge_multiple.is_finite();
        if is_positive { Ok(()) } else { Err(Error::EdgeMultiple(self.edge_multiple)) }
    }
}

impl Stage for Construct {
    const STAGE: &'static str = "construct";
    const TASK: &'static str = "posterior";
    const DRAWS: Draws = Draws::Never;
    type Side = Server;
    type Params = Params;
    /// A soft graph reads no evidence.
    type Inputs = (LinkModel, Stored<LinkEvidence>);
    type Outputs = (WeightedGraph,);
    type Error = Error;

    fn check_params(params: &Params) -> Result<(), Error> {
        params.check()
    }

    fn run(
        (model, evidence): Self::Inputs,
        params: &Params,
        _: &StageRng,
        _: &Progress,
    ) -> Result<Self::Outputs, Error> {
        params.check()?;
        let n_nodes = model.beta.len();
        let mut links = match params.variant {
            Variant::Hard => hard(&Posterior::new(&model, evidence.load()?)?),
            Variant::Soft => Vec::new(),
            // Σ P counts every pair in both directions, as the paper does.
            Variant::Hybrid => Posterior::new(&model, evidence.load()?)?.most_likely(params.edge_multiple),
        };
        links.sort_unstable_by_key(|&(i, j, _)| (i, j));
        Ok((WeightedGraph::undirected(params.variant.into(), n_nodes, links),))
    }
}

/// Whether a pair is more likely linked than not: `P > ½`, strictly (Blink, section 4.4).
fn is_likely(logit: f64) -> bool {
    /// Sums of a few nats are rounded by less, so that a pair with `P = ½` may have a logit just above 0.
    const ROUNDING: f64 = 1e-12;
    logit > ROUNDING
}

/// The pairs that are more likely linked than not.
fn hard(posterior: &Posterior) -> Vec<(u32, u32, f32)> {
    let mut links = Vec::new();
    posterior.visit_pairs(is_likely, |i, j, _| links.push((i, j, 1.0)));
    links
}
