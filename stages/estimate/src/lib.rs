//! The server turns noisy reports into a probability for every pair.

mod beta_model;
mod pairing;

use serde::{Deserialize, Serialize};
use veilgraph_contract::{Invalid, Progress, Server, Stage, StageRng};
use veilgraph_posterior::{LinkEvidence, LinkModel};
use veilgraph_privacy::{NoisyDegrees, NoisyLinks};

pub use beta_model::{FitError, Solver, fit};
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
    /// How the prior is fitted.
    #[serde(default)]
    pub solver: Solver,
    /// Ridge on the parameters of the beta model; a positive value gives every degree vector a fit.
    #[serde(default)]
    pub ridge: f64,
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
        let model = if degrees.degrees.is_empty() {
            // Nothing is known of the degrees: every pair is a fair coin before its bits are seen.
            let none = vec![0.0; links.n_nodes()];
            LinkModel { degrees: none.clone(), beta: none, epsilon_links, residual: 0.0, iterations: 0 }
        } else {
            let used = clipped(&degrees.degrees);
            let fitted = fit(&used, params.solver, params.ridge, progress)?;
            tracing::debug!(iterations = fitted.iterations, residual = fitted.residual, "beta model fitted");
            LinkModel {
                degrees: used,
                beta: fitted.beta,
                epsilon_links,
                residual: fitted.residual,
                iterations: fitted.iterations,
            }
        };
        Ok((model, pair_claims(&links)?))
    }
}

/// Degrees moved into `[1, n − 2]`, where a beta model can exist (Blink, section 4.2).
fn clipped(degrees: &[f64]) -> Vec<f64> {
    let most = (degrees.len() - 2) as f64;
    degrees.iter().map(|degree| degree.clamp(1.0, most)).collect()
}

#[cfg(test)]
mod tests;
