//! Why no model was trained.

use veilgraph_accountant::Unreachable;
use veilgraph_contract::Invalid;
use veilgraph_dp_sgd::Diverged;

/// Why no model was trained.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A parameter makes no sense.
    #[error("{0}")]
    Params(String),
    /// `dp_delta` protects nobody.
    #[error(
        "dp_delta = {dp_delta:e} is above 1 / (10 · {count} {what}) = {most:.1e}: publishing the data of somebody taken at random \
         would nearly keep it; lower dp_delta, or write allow_weak_delta = true and say so where the figure is quoted"
    )]
    WeakDelta {
        /// What was asked for.
        dp_delta: f64,
        /// Number of those who are protected.
        count: usize,
        /// Their name.
        what: &'static str,
        /// The most that is allowed.
        most: f64,
    },
    /// No noise keeps the budget.
    #[error(transparent)]
    Unreachable(#[from] Unreachable),
    /// Training failed.
    #[error(transparent)]
    Diverged(#[from] Diverged),
    /// What the trained model answers is no number.
    #[error("the trained network answers with numbers that are not finite; lower the learning rate")]
    NoNumber,
    /// A page-rank vector was not found. How far it was, and whose it was, follows from private links.
    #[error("a page-rank vector was not found in {steps} steps; raise teleport")]
    NotConverged {
        /// Steps that were taken.
        steps: u32,
    },
    /// Artifacts do not belong together.
    #[error(transparent)]
    Invalid(#[from] Invalid),
}
