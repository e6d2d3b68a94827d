//! Every node randomizes its own data, and only the noisy report leaves it; or a curator does so with the links of all.
//!
//! A mechanism is one file below `links/`, `features/`, `labels/` or `central/`: its parameters, what is sent, what that
//! costs, and tests. A mechanism of links in which every node speaks for itself implements [`LocalMechanism`], and [`Local`]
//! makes a stage function of it; [`features::FeatureMechanism`] and [`features::LocalFeatures`] do so for features.

pub mod central;
pub mod features;
pub mod labels;
pub mod links;
mod local;

use veilgraph_contract::Invalid;
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
    /// A share of the links comes to none.
    #[error("hold_out_links: a share of the {0} links comes to no link; choose larger shares or another graph")]
    TooFewLinks(usize),
    /// There are not enough pairs without a link to hold out as many of them.
    #[error("hold_out_links: {0} of {1} pairs are linked, so that too few are left that are not; choose another graph")]
    TooManyLinks(usize, usize),
    /// A graph of another program has no cost.
    #[error(
        "a released graph has a finite cost; write it as `epsilon`, or declare the links public where there is none"
    )]
    ReleasedWithoutCost,
    /// There is nothing to report on.
    #[error("the data have no features; leave [privatize.features] out, or give data with features")]
    NoFeatures,
    /// The cost was stated for another number of features.
    #[error("[privatize.features] declares dimension = {0} and the data have {1} features; write dimension = {1}")]
    Dimension(usize, usize),
    /// The cost cannot be stated.
    #[error(
        "[privatize.features] declares no dimension, and the cost of all features of a node depends on it; write dimension = {0}"
    )]
    NoDimension(usize),
    /// More features are to be reported than there are.
    #[error("coordinates = {0} exceeds the number of features, {1}; write at most {1}, or \"all\"")]
    Coordinates(usize, usize),
    /// A private value contradicts what was declared. The message does not say whose, or which.
    #[error(
        "a feature lies outside the declared range = [{0}, {1}]; declare the range that features have, or write clip = true to move such values to its nearer end"
    )]
    OutOfRange(f64, f64),
    /// The server could compute nothing from the reports.
    #[error(
        "[privatize.features] estimates come to {0:e} with this range and budget, too much for numbers of 32 bits; scale the features, and \
         declare the range that they have then"
    )]
    LargeEstimates(f64),
    /// The data give no range.
    #[error("range = \"data\", and all features have the same value; declare a range such as [0, 1]")]
    OneValue,
    /// A budget is out of reach for exact noise on features.
    #[error("a budget of {0} nats lies outside what exact noise on features can represent; change epsilon")]
    FeatureBudget(f64),
    /// The number of links costs all or nothing.
    #[error("count_share = {0} must lie between 0 and 1: it is the share of the budget that the number of links costs")]
    CountShare(f64),
    /// A budget is out of reach for integer noise on a graph.
    #[error(
        "a budget of {0} nats lies outside what integer noise on links can represent, [2^-16, 2^11]; change epsilon or count_share"
    )]
    GraphBudget(f64),
    /// No delta of approximate differential privacy.
    #[error("dp_delta = {0} must lie between 0 and 1, such as 1e-10")]
    DpDelta(f64),
    /// A class that everybody has says nothing, and next to no budget moves nothing.
    #[error(
        "the labels have {n_classes} classes and epsilon = {epsilon:e}; randomized response needs at least 2 classes and some budget \
         (1e-9 nats are enough for any number of classes)"
    )]
    Classes {
        /// Number of classes.
        n_classes: usize,
        /// The budget, in nats.
        epsilon: f64,
    },
    /// A report is no valid artifact.
    #[error(transparent)]
    Invalid(#[from] Invalid),
}

#[cfg(test)]
mod tests;
