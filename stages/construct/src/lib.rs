//! The server builds a graph from link probabilities, or from the reports of a mechanism without any.

mod bits;
mod l_dpgcn;
mod ldpgen;
mod no_links;
mod posterior;
mod refined;

use veilgraph_contract::Invalid;

pub use bits::{ConstructFromBits, Keep, Params as BitsParams};
pub use l_dpgcn::ConstructFromEntries;
pub use ldpgen::{ConstructFromCounts, EdgeModel, Params as CountsParams};
pub use no_links::ConstructWithoutLinks;
pub use posterior::{
    Construct, CountKnownPairs, FindThreshold, LikelyPair, LikelyPairs, MergeGraph, Params, SelectPairs,
    ThresholdParams, Variant,
};
pub use refined::{ConstructRefined, Params as RefinedParams};

/// Why no graph is built.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The number of edges makes no sense.
    #[error("edge_multiple must be a positive, finite number, not {0}")]
    EdgeMultiple(f64),
    /// More links than can be ranked.
    #[error(
        "the reports speak of {0} links, more than {1}; choose a larger epsilon, or another mechanism than l-dpgcn"
    )]
    TooManyLinks(usize, usize),
    /// Artifacts do not belong together.
    #[error(transparent)]
    Invalid(#[from] Invalid),
}

#[cfg(test)]
mod tests;
