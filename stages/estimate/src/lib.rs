//! The server turns noisy reports into a probability for every pair.

mod belief;
mod beta_model;
mod degrees;
mod groups;
mod k_means;
mod known_pairs;
mod newton;
mod pairing;
mod params;
mod similarity;
mod triangles;

use veilgraph_contract::{Invalid, Progress, Server, Stage, StageRng};
use veilgraph_posterior::{LinkEvidence, LinkModel, SimilarPairs};
use veilgraph_privacy::{NoisyDegrees, NoisyLinks};

pub use beta_model::{FitError, Solver, fit};
pub use degrees::Degrees;
pub use groups::{GroupAtRandom, GroupByCounts};
pub use pairing::pair_claims;
pub use params::{Method, MissingNodes, Params, Prior};

/// Fits the prior to the noisy degrees and adds the evidence of the noisy bits.
pub struct Estimate;

/// Why the reports admit no posterior.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The two parts of the reports do not belong together.
    #[error("noisy_links and noisy_degrees come from different releases ({0}); run privatize again")]
    Mismatch(String),
    /// The prior has no fit.
    #[error(transparent)]
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
    /// The ridge makes no sense.
    #[error("ridge must be a finite number of at least 0, not {0}")]
    Ridge(f64),
    /// A value broke an invariant.
    #[error(transparent)]
    Invalid(#[from] Invalid),
}

impl Stage for Estimate {
    const NAME: &'static str = "estimate";
    const RANDOM: bool = false;
    type Side = Server;
    type Params = Params;
    /// Similar pairs are given where the prior uses them.
    type Inputs = (NoisyLinks, NoisyDegrees, Option<SimilarPairs>);
    type Outputs = (LinkModel, LinkEvidence);
    type Error = Error;

    fn run(
        (links, degrees, similar): Self::Inputs,
        params: &Params,
        _: &StageRng,
        progress: &Progress,
    ) -> Result<Self::Outputs, Error> {
        if links.facts != degrees.facts {
            return Err(Error::Mismatch(format!("{:?} and {:?}", links.facts, degrees.facts)));
        }
        if links.n_nodes() != degrees.n_nodes {
            return Err(Error::Mismatch(format!("{} and {} nodes", links.n_nodes(), degrees.n_nodes)));
        }
        if !(params.ridge >= 0.0 && params.ridge.is_finite()) {
            return Err(Error::Ridge(params.ridge));
        }
        let epsilon_links = links.facts.budget.links;
        let missing = missing(&links, &degrees, params.missing_nodes)?;
        let evidence = pair_claims(links)?;
        let knows_degrees = degrees.were_sent() || params.degrees == Degrees::EmpiricalBayesBits;
        if params.match_degrees && !knows_degrees {
            return Err(Error::NothingToMatch);
        }
        if params.triangles && !params.match_degrees {
            return Err(Error::TrianglesUnmatched);
        }
        if !knows_degrees {
            // Nothing is known of the degrees: every pair is a fair coin before its bits are seen.
            let none = vec![0.0; evidence.n_nodes()];
            let model = LinkModel { degrees: none.clone(), beta: none, epsilon_links, ..LinkModel::default() };
            return Ok((model, evidence));
        }
        let degrees = degrees::used(&degrees, &evidence, params.degrees);
        // Without noise the evidence alone decides, and without bits there is nothing to learn from.
        let is_noisy = epsilon_links.is_finite() && epsilon_links > 0.0;
        let evidence = match similar.filter(|_| is_noisy && params.uses_features()) {
            Some(similar) => evidence.with_similar(similar)?,
            None => evidence,
        };
        belief::believe(&degrees, evidence, epsilon_links, &missing, params, progress)
    }
}

/// Nodes that sent nothing, if they are allowed.
fn missing(links: &NoisyLinks, degrees: &NoisyDegrees, allowed: MissingNodes) -> Result<Vec<u32>, Error> {
    let missing = degrees.missing();
    if let Some(&node) = missing.iter().find(|&&node| links.ones(node as usize).next().is_some()) {
        return Err(Error::Mismatch(format!("node {node} reported links and no degree")));
    }
    match (missing.first(), allowed) {
        (Some(&node), MissingNodes::Refuse) => {
            Err(Error::MissingNode { node, count: missing.len(), n_nodes: degrees.n_nodes })
        }
        (Some(_), MissingNodes::OneSided) if links.facts.budget.links.is_infinite() => Err(Error::MissingWithoutNoise),
        _ => Ok(missing),
    }
}

#[cfg(test)]
mod tests;
