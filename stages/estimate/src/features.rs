//! The server works out features that a network can read: from noisy reports, from public features, or from nothing.

mod substitute;

use veilgraph_contract::{Draws, Invalid, Progress, Server, Stage, StageRng, TooLarge};
use veilgraph_graph::{EstimatedFeatures, FeatureMatrix, Features, Propagation};
use veilgraph_privacy::NoisyFeatures;

use substitute::MOST_COLUMNS;
pub use substitute::{DegreeFeatures, Substitute, SubstituteFeatures, SubstituteParams};

/// Turns reports about features into unbiased estimates.
///
/// An estimate is `offset + scale · value`, with the two numbers that the reports state. What a node did not report on
/// is estimated by `offset`, the middle of the range. The propagation of `[estimate.features]` is stated in the result
/// and is applied to it wherever a graph is at hand.
///
/// # Source
/// One bit: Sajadmanesh, Gatica-Perez (2020), equation 6. Multi-bit: Sajadmanesh, Gatica-Perez (2021), LPGNN, equation 4.
pub struct RectifyFeatures;

/// States the propagation of features that are public.
pub struct PropagateFeatures;

/// Why no features are worked out.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A fact or a value makes no sense.
    #[error(transparent)]
    Invalid(#[from] Invalid),
    /// More steps than anybody waits for.
    #[error("hops = {0} is more than {MOST_HOPS}; after some hundreds, further steps change hardly anything")]
    Hops(u32),
    /// Random features without a column, or with too many.
    #[error("dimension must lie between 1 and {MOST_COLUMNS}, not {0}")]
    Dimension(usize),
    /// Random features that do not fit into the memory.
    #[error("{0}; set [estimate.features] dimension to a smaller number, or raise --memory-limit")]
    TooLarge(#[from] TooLarge),
    /// The degrees of a soft graph are no integers.
    #[error(
        "one-hot degrees need a graph of listed links, and a soft graph has none; set [construct] variant = \"hard\" or \"hybrid\""
    )]
    SoftDegrees,
}

/// Most steps of a propagation.
const MOST_HOPS: u32 = 1000;

fn check_hops(hops: u32) -> Result<(), Error> {
    if hops <= MOST_HOPS { Ok(()) } else { Err(Error::Hops(hops)) }
}

impl Stage for RectifyFeatures {
    const STAGE: &'static str = "estimate";
    const TASK: &'static str = "rectify-features";
    const DRAWS: Draws = Draws::Never;
    type Side = Server;
    /// The `[estimate.features]` table.
    type Params = Propagation;
    type Inputs = (NoisyFeatures,);
    type Outputs = (EstimatedFeatures,);
    type Error = Error;

    fn check_params(propagation: &Propagation) -> Result<(), Error> {
        check_hops(propagation.hops)
    }

    fn run(
        (NoisyFeatures { facts, reports },): Self::Inputs,
        propagation: &Propagation,
        _: &StageRng,
        _: &Progress,
    ) -> Result<Self::Outputs, Error> {
        let values = if facts.offset == 0.0 && facts.scale == 1.0 {
            reports
        } else {
            reports.rescaled(facts.offset as f32, facts.scale as f32)?
        };
        Ok((EstimatedFeatures { values, propagation: *propagation },))
    }
}

impl Stage for PropagateFeatures {
    const STAGE: &'static str = "estimate";
    const TASK: &'static str = "propagate-features";
    const DRAWS: Draws = Draws::Never;
    type Side = Server;
    /// The `[estimate.features]` table.
    type Params = Propagation;
    type Inputs = (Features,);
    type Outputs = (EstimatedFeatures,);
    type Error = Error;

    fn check_params(propagation: &Propagation) -> Result<(), Error> {
        check_hops(propagation.hops)
    }

    fn run(
        (Features(entries),): Self::Inputs,
        propagation: &Propagation,
        _: &StageRng,
        _: &Progress,
    ) -> Result<Self::Outputs, Error> {
        let values = FeatureMatrix::Sparse { fill: 0.0, entries };
        Ok((EstimatedFeatures { values, propagation: *propagation },))
    }
}

#[cfg(test)]
mod tests;
