//! Every node randomizes its own data, and only the noisy report leaves it.
//!
//! A mechanism is one file below `links/`: its parameters, what a node sends, what that costs, and tests. A mechanism
//! in which every node speaks for itself implements [`LocalMechanism`], and [`Local`] makes a stage function of it.

pub mod links;
mod local;

use veilgraph_privacy::count_noise::DegreeBudgetError;

pub use local::{EveryNode, Ideal, Local, LocalMechanism, NodeNoise, NodeView, Question};

/// Why no report can be made.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Blink clips degrees to `[1, n - 2]`, which is empty below three nodes.
    #[error("the graph has {0} nodes; link-local privacy needs at least 3")]
    TooSmall(usize),
    /// The groups are those of another graph.
    #[error("the server grouped {0} nodes and the graph has {1}; run again from the first round")]
    Groups(usize, usize),
    /// A budget is out of reach for integer noise.
    #[error(transparent)]
    DegreeBudget(#[from] DegreeBudgetError),
    /// Missing nodes make no sense as asked for.
    #[error(
        "missing_share = {0} must lie in [0, 1) and needs a degree_fraction above 0: a missing node is one that sends no degree"
    )]
    MissingShare(f64),
    /// Nodes that lie make no sense as asked for.
    #[error("lying_share = {0} must lie in [0, 1): some nodes have to report as they should")]
    LyingShare(f64),
    /// Links cannot be held out as asked for.
    #[error("hold_out_links: the shares validation = {0} and test = {1} must be positive and leave links to train on")]
    HeldOutShares(f64, f64),
    /// Too few links to hold any out, or too few pairs without one.
    #[error(
        "hold_out_links: {0} links among {1} pairs give no sample with as many pairs that are linked as are not; \
         choose larger shares or another graph"
    )]
    TooFewLinks(usize, usize),
}

#[cfg(test)]
mod tests;
