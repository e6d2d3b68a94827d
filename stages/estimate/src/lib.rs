//! The server turns noisy reports into a probability for every pair, and into features that a network can read.

mod belief;
mod beta_model;
mod bin_odds;
mod degrees;
pub mod features;
mod k_means;
mod known_pairs;
mod ldpgen;
mod newton;
mod pairing;
mod params;
mod triangles;

use veilgraph_contract::{Draws, Invalid, NoParams, Progress, Server, Stage, StageRng};
use veilgraph_posterior::{LinkEvidence, LinkModel, SimilarPairs};
use veilgraph_privacy::{NoisyDegrees, NoisyLinks};

pub use beta_model::{FitError, Solver, fit};
pub use degrees::Degrees;
pub use ldpgen::{GroupAtRandom, GroupByCounts};
pub use pairing::pair_claims;
pub use params::{Method, MissingNodes, Params, Prior};

/// Turns the lists that the nodes sent into claims about pairs. It depends on the release alone, so it is done once for
/// each release, however often the release is read.
pub struct PairReports;

/// Fits the prior to the noisy degrees and adds the evidence of the noisy bits.
pub struct Estimate;

/// The same, where pairs are told apart by bins: by how similar their nodes are, or how many likely neighbours they
/// have in common.
pub struct EstimateWithBins;

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

impl Stage for PairReports {
    const STAGE: &'static str = "estimate";
    const TASK: &'static str = "pair";
    const DRAWS: Draws = Draws::Never;
    type Side = Server;
    type Params = NoParams;
    type Inputs = (NoisyLinks, NoisyDegrees);
    type Outputs = (LinkEvidence,);
    type Error = Error;

    fn run((links, degrees): Self::Inputs, _: &NoParams, _: &StageRng, _: &Progress) -> Result<Self::Outputs, Error> {
        if links.facts != degrees.facts {
            return Err(Error::Mismatch(format!("{:?} and {:?}", links.facts, degrees.facts)));
        }
        if links.n_nodes() != degrees.n_nodes {
            return Err(Error::Mismatch(format!("{} and {} nodes", links.n_nodes(), degrees.n_nodes)));
        }
        let missing = degrees.missing();
        if let Some(node) = missing.iter().find(|&&node| links.ones(node as usize).next().is_some()) {
            return Err(Error::Mismatch(format!("node {node} reported links and no degree")));
        }
        Ok((pair_claims(links)?,))
    }
}

impl Stage for Estimate {
    const STAGE: &'static str = "estimate";
    const TASK: &'static str = "posterior";
    const DRAWS: Draws = Draws::Never;
    type Side = Server;
    type Params = Params;
    type Inputs = (LinkEvidence, NoisyDegrees);
    type Outputs = (LinkModel,);
    type Error = Error;

    fn run(
        (evidence, degrees): Self::Inputs,
        params: &Params,
        rng: &StageRng,
        progress: &Progress,
    ) -> Result<Self::Outputs, Error> {
        let (model, _) = EstimateWithBins::run((evidence, degrees, None), params, rng, progress)?;
        Ok((model,))
    }
}

impl Stage for EstimateWithBins {
    const STAGE: &'static str = "estimate";
    const TASK: &'static str = "posterior-with-bins";
    const DRAWS: Draws = Draws::Never;
    type Side = Server;
    type Params = Params;
    /// Similar pairs are given where the prior uses them and the server holds features.
    type Inputs = (LinkEvidence, NoisyDegrees, Option<SimilarPairs>);
    /// The evidence says into which bin each pair falls.
    type Outputs = (LinkModel, LinkEvidence);
    type Error = Error;

    fn run(
        (evidence, degrees, similar): Self::Inputs,
        params: &Params,
        _: &StageRng,
        progress: &Progress,
    ) -> Result<Self::Outputs, Error> {
        params.check()?;
        if evidence.n_nodes() != degrees.n_nodes {
            return Err(Error::Mismatch(format!("{} and {} nodes", evidence.n_nodes(), degrees.n_nodes)));
        }
        let epsilon_links = degrees.facts.budget.links;
        // In the form in which the reports were paired, so that sums come out the same to the last bit.
        let evidence = if NoisyLinks::are_dense(epsilon_links) { evidence.into_planes() } else { evidence };
        let missing = missing(&degrees, params.missing_nodes)?;
        let knows_degrees = degrees.were_sent() || params.degrees == Degrees::EmpiricalBayesBits;
        if params.match_degrees && !knows_degrees {
            return Err(Error::NothingToMatch);
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
fn missing(degrees: &NoisyDegrees, allowed: MissingNodes) -> Result<Vec<u32>, Error> {
    let missing = degrees.missing();
    match (missing.first(), allowed) {
        (Some(&node), MissingNodes::Refuse) => {
            Err(Error::MissingNode { node, count: missing.len(), n_nodes: degrees.n_nodes })
        }
        (Some(_), MissingNodes::OneSided) if degrees.facts.budget.links.is_infinite() => {
            Err(Error::MissingWithoutNoise)
        }
        _ => Ok(missing),
    }
}

#[cfg(test)]
mod tests;
