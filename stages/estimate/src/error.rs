//! Why there is no estimate.

use veilgraph_contract::Invalid;

use crate::FitError;

/// Why the reports admit no posterior.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The two parts of the reports do not belong together.
    #[error("noisy_links and noisy_degrees come from different releases ({0}); read both from one release")]
    Mismatch(String),
    /// Another input is about other nodes than the reports.
    #[error("the inputs are about different nodes ({0}); read all of them from one run of ingest")]
    OtherNodes(String),
    /// The prior or the posterior has no fit.
    #[error("{0}; set a larger [estimate] ridge (where it is left out, up to 10 is tried), or spend more on degrees")]
    Fit(#[from] FitError),
    /// A node sent nothing.
    #[error(
        "node {node} sent no report ({count} of {n_nodes} nodes did not); wait for it, or set [estimate] \
         missing_nodes = \"one-sided\""
    )]
    MissingNode {
        /// The first of them.
        node: u32,
        /// How many there are.
        count: usize,
        /// Among how many.
        n_nodes: usize,
    },
    /// One-sided claims are weighed with a finite budget.
    #[error("one-sided claims need a finite epsilon; without noise, remove the nodes that sent nothing from the graph")]
    MissingWithoutNoise,
    /// Matching without degrees.
    #[error(
        "match = true needs degrees, and none were sent (degree_fraction = 0); set [estimate] degrees = \
         \"empirical-bayes+bits\", or spend a part of epsilon on degrees"
    )]
    NothingToMatch,
    /// Triangles count expected links, which only matching keeps true.
    #[error(
        "triangles = true needs match = true: without it the posterior has more links than the nodes; set [estimate] match = true"
    )]
    TrianglesUnmatched,
    /// A learned score without the prior that it is added to.
    #[error(
        "learned_score = true needs the prior with classes; set [estimate] prior = \"blocks\", or remove learned_score"
    )]
    LearnedScoreWithoutBlocks,
    /// A ridge makes no sense.
    #[error("{0} must be a finite number of at least 0, not {1}")]
    Ridge(&'static str, f64),
    /// A penalty of matching without matching.
    #[error("centred_ridge is a penalty of matching; set [estimate] match = true, or remove it")]
    RidgeUnmatched,
    /// A penalty where nothing is fitted but by an iteration that knows none.
    #[error(
        "ridge is a penalty of Newton's method, and the published iteration has none; remove ridge, or solver = \"fixed-point-200\""
    )]
    RidgeUnread,
    /// A number of blocks without a prior of blocks.
    #[error(
        "latent_blocks = {0} needs the prior that has blocks; set [estimate] prior = \"blocks\", or remove latent_blocks"
    )]
    BlocksUnread(u16),
    /// Blocks without nodes.
    #[error(
        "latent_blocks = {blocks} is more than the graph's {n_nodes} nodes; set [estimate] latent_blocks = \"auto\", or a smaller \
         number"
    )]
    TooManyBlocks {
        /// So many blocks are asked for.
        blocks: u16,
        /// So many nodes there are.
        n_nodes: usize,
    },
    /// A value broke an invariant.
    #[error(transparent)]
    Invalid(#[from] Invalid),
}
