//! An auditor plays the attacker: what do released artifacts and trained models tell about links,
//! features and labels?
//!
//! An attack is one file: its parameters, what it reads, and how it scores facts. Stage `evaluate` compares the scores
//! with the truth. The truth serves an attack for the choice of its targets, and for what its own
//! description says that the attacker knows.
//!
//! Canaries test the guarantee itself: before anything is released, fair coins decide some links, features or labels,
//! and what an attacker guesses right about the coins bounds epsilon from below.

mod answers;
mod attributes;
mod canaries;
mod linkteller;
mod membership;
mod posterior_similarity;
mod reports;
mod supervised;
mod targets;

use veilgraph_attack::influence::InfluenceError;
use veilgraph_contract::Invalid;
use veilgraph_nn::Failure;

pub use attributes::{
    AnsweredLabels, AnsweredTestLabels, FrequentFeatures, Params as AttributesParams, ReportedFeatures, ReportedLabels,
};
pub use canaries::{
    CanariesOf, GuessFromAttributes, GuessFromDegrees, GuessFromGraph, GuessFromModel, GuessFromNetwork,
    GuessFromPredictions, GuessParams, PlantFeatures, PlantFeaturesParams, PlantLabels, PlantLinks, PlantParams,
    PlantTrainingLabels,
};
pub use linkteller::{Direction, LinkTeller, Params as LinkTellerParams};
pub use membership::Membership;
pub use posterior_similarity::{Params as PosteriorSimilarityParams, PosteriorSimilarity};
pub use reports::{Params as ReportsParams, Reports};
pub use supervised::{Inductive, InductiveParams, ShadowModel, ShadowParams};
pub use targets::{Pool, Targets};

/// Why there is no attack.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Fewer nodes than targets.
    #[error(
        "targets = {wanted} exceeds the {found} nodes of the pool `{pool}`; choose at most {found}, or another pool"
    )]
    Pool {
        /// The pool.
        pool: Pool,
        /// Targets that were asked for.
        wanted: usize,
        /// Nodes of the pool.
        found: usize,
    },
    /// Fewer nodes than two are attacked: they make no pair.
    #[error("targets = {0} is too few; choose at least 2")]
    TooFew(usize),
    /// There is nothing to plant, or too much.
    #[error("canaries = {canaries} must be at least 1 and at most {most}, {what}")]
    Canaries {
        /// How many were asked for.
        canaries: usize,
        /// How many there can be.
        most: usize,
        /// What these are.
        what: &'static str,
    },
    /// The ends of the range are one.
    #[error("canaries_of = \"features\" needs two values to choose between, and all features of the data are {0}")]
    OneValue(f32),
    /// Coins have nothing to choose between.
    #[error("canaries of labels need two classes or more, and the data have {0}")]
    OneClass(usize),
    /// The influence of too many nodes would be kept.
    #[error("canary-network asks about {0} ends of canaries, and at most {1} fit; plant fewer canaries")]
    Ends(usize, usize),
    /// The perturbation makes no sense.
    #[error("probe_scale = {0} must be a positive number, such as 1e-4")]
    ProbeScale(f64),
    /// A classifier of pairs has too little to learn from.
    #[error(
        "the nodes that are not attacked have {0} links and {1} other pairs to learn from, and both need 20; attack fewer \
         targets"
    )]
    ShadowPairs(usize, usize),
    /// A neighbourhood does not say what propagated features are.
    #[error(
        "inductive reads the features of single nodes; set [estimate.features] hops = 0 and no rescale, or leave it out"
    )]
    PropagatedFeatures,
    /// No shadow model was trained.
    #[error("the attacker's own network failed: {0}; attack fewer targets")]
    Shadow(Failure),
    /// A network cannot be asked.
    #[error("a network cannot be asked about these nodes: {0}")]
    Answer(Failure),
    /// The network cannot be attacked.
    #[error(transparent)]
    Influence(#[from] InfluenceError),
    /// Artifacts do not belong together.
    #[error(transparent)]
    Invalid(#[from] Invalid),
}

#[cfg(test)]
mod tests;
