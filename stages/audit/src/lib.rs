//! An auditor plays the attacker: what do released artifacts and trained models tell about links?
//!
//! An attack is one file: its parameters, what it reads, and how it scores pairs. Stage `evaluate` compares the scores
//! with the true links. The truth serves an attack for nothing but the choice of its targets.
//!
//! Canaries test the guarantee itself: before anything is released, fair coins decide some links, and what an attacker
//! guesses right about the coins bounds epsilon from below.

mod canaries;
mod linkteller;
mod posterior_similarity;
mod reports;
mod targets;

use veilgraph_attack::influence::InfluenceError;
use veilgraph_contract::Invalid;

pub use canaries::{GuessFromGraph, GuessFromNetwork, GuessParams, PlantCanaries, PlantParams};
pub use linkteller::{Direction, LinkTeller, Params as LinkTellerParams};
pub use posterior_similarity::{Params as PosteriorSimilarityParams, PosteriorSimilarity};
pub use reports::{Params as ReportsParams, Reports};
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
    /// No pair to attack.
    #[error("targets = {0} gives no pair; choose at least 2")]
    TooFew(usize),
    /// There is nothing to plant, or too much.
    #[error("canaries = {0} must be at least 1 and at most half of the {1} pairs of nodes")]
    Canaries(usize, usize),
    /// The influence of too many nodes would be kept.
    #[error("canary-network asks about {0} ends of canaries, and at most {1} fit; plant fewer canaries")]
    Ends(usize, usize),
    /// The perturbation makes no sense.
    #[error("probe_scale = {0} must be a positive number, such as 1e-4")]
    ProbeScale(f64),
    /// The network cannot be attacked.
    #[error(transparent)]
    Influence(#[from] InfluenceError),
    /// Artifacts do not belong together.
    #[error(transparent)]
    Invalid(#[from] Invalid),
}

#[cfg(test)]
mod tests;
