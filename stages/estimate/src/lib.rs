//! The server turns noisy reports into a probability for every pair.

mod beta_model;
mod degrees;
mod newton;
mod pairing;

use serde::{Deserialize, Serialize};
use veilgraph_contract::{Invalid, Progress, Server, Stage, StageRng};
use veilgraph_posterior::{LinkEvidence, LinkModel};
use veilgraph_privacy::{NoisyDegrees, NoisyLinks};

pub use beta_model::{FitError, Solver, fit, fit_posterior};
pub use degrees::Degrees;
pub use pairing::pair_claims;

/// Fits the prior to the noisy degrees and adds the evidence of the noisy bits.
pub struct Estimate;

/// The `[estimate]` table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Params {
    /// What is believed before the bits are seen.
    #[serde(default)]
    pub prior: Prior,
    /// How noisy degrees are read.
    #[serde(default)]
    pub degrees: Degrees,
    /// Whether the degrees are those of the posterior; else of the prior, from which the evidence drifts away.
    #[serde(default, rename = "match")]
    pub match_degrees: bool,
    /// How the prior is fitted.
    #[serde(default)]
    pub solver: Solver,
    /// Ridge on the parameters of the beta model; a positive value gives every degree vector a fit.
    #[serde(default)]
    pub ridge: f64,
    /// What to do about nodes that sent nothing.
    #[serde(default)]
    pub missing_nodes: MissingNodes,
}

/// What to do about nodes that sent nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MissingNodes {
    /// Stop and name them.
    #[default]
    Refuse,
    /// Give them the mean degree, and weigh the claims of the others about them as one-sided.
    OneSided,
}

/// What is believed before the bits are seen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Prior {
    /// Beta model: the random graph of maximum entropy with the given expected degrees.
    #[default]
    BetaModel,
}

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
    type Inputs = (NoisyLinks, NoisyDegrees);
    type Outputs = (LinkModel, LinkEvidence);
    type Error = Error;

    fn run(
        (links, degrees): Self::Inputs,
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
        let model = if knows_degrees {
            let used = degrees::used(&degrees, &evidence, params.degrees);
            // Without noise the evidence alone decides.
            let is_matched = params.match_degrees && epsilon_links.is_finite();
            let mut fitted = if is_matched {
                fit_posterior(&used, &evidence, epsilon_links, params.ridge, progress)?
            } else {
                fit(&used, params.solver, params.ridge, progress)?
            };
            tracing::debug!(iterations = fitted.iterations, residual = fitted.residual, "beta model fitted");
            if !is_matched {
                // Half the evidence about a missing node was never sent. With `2 (claims − 1) ε` for two reports
                // and `(2 claims − 1) ε` for one, adding ε to its parameter turns the first into the second, and
                // into 0 between two missing nodes. Matching finds that by itself.
                missing.iter().for_each(|&node| fitted.beta[node as usize] += epsilon_links);
            }
            let (residual, iterations) = (fitted.residual, fitted.iterations);
            LinkModel { degrees: used, beta: fitted.beta, epsilon_links, residual, iterations }
        } else {
            // Nothing is known of the degrees: every pair is a fair coin before its bits are seen.
            let none = vec![0.0; evidence.n_nodes()];
            LinkModel { degrees: none.clone(), beta: none, epsilon_links, residual: 0.0, iterations: 0 }
        };
        Ok((model, evidence))
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
