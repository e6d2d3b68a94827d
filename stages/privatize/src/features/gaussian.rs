//! Gaussian noise on each feature.

use rand::rngs::ChaCha20Rng;
use serde::{Deserialize, Serialize};
use veilgraph_contract::{Cost, Relation};
use veilgraph_privacy::Epsilon;
use veilgraph_privacy::discrete_gaussian::{Sigma, discrete_gaussian};
use veilgraph_privacy::gaussian::{concentrated_within, curve_of_concentrated, noise_multiplier};

use super::ledger::Stated;
use super::local::{FeatureEncoder, FeatureMechanism};
use super::params::{Declared, FeatureParams, Message};
use super::range::Range;
use super::steps::report_in_steps;
use super::view::FeatureView;
use crate::Error;

/// Each node adds Gaussian noise to each feature.
///
/// The noise is drawn in whole steps of `D / 2^k`, to features that are rounded to such steps first, where `D` is the
/// length of the range. Its standard deviation has 8,192 steps or more, so that rounding is negligible beside it.
///
/// # Privacy
/// `(epsilon, dp_delta)`-differentially private for all `d` features of one node, which together move by at most
/// `2^k √d` steps in the Euclidean norm. This is no pure differential privacy: the ledger states the delta and the curve
/// of Rényi differential privacy. σ is rounded up to a whole number of steps, so the budget is never exceeded.
///
/// # Source
/// Canonne, Kamath, Steinke (2020), The discrete Gaussian, theorem 14 and proposition 12; on features: Sajadmanesh,
/// Gatica-Perez (2021), LPGNN, CCS (with the analytic calibration of continuous noise instead).
pub struct Gaussian;

/// What the Gaussian mechanism reads of `[privatize.features]`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Params {
    /// Budget in nats of all features of a node.
    pub epsilon: Epsilon,
    /// The delta of `(epsilon, dp_delta)`-differential privacy, between 0 and 1.
    #[serde(default = "Params::default_dp_delta")]
    pub dp_delta: f64,
    /// Least and largest value of a feature, or `"data"`.
    #[serde(default)]
    pub range: Range,
    /// Number of features; data of another width are refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dimension: Option<usize>,
    /// What is encoded.
    #[serde(default)]
    pub message: Message,
    /// Whether values outside the range are moved to its nearer end instead of refused.
    #[serde(default)]
    pub clip: bool,
}

impl Params {
    fn default_dp_delta() -> f64 {
        1e-10
    }

    /// What the budget allows for, in terms of concentrated differential privacy.
    fn rho(&self) -> Option<f64> {
        concentrated_within(self.epsilon.nats(), self.dp_delta)
    }
}

impl FeatureParams for Params {
    fn declared(&self) -> Declared {
        let Self { epsilon, range, dimension, message, clip, .. } = *self;
        Declared { epsilon, range, dimension, message, clip }
    }

    fn complete_dimension(&mut self, n_features: usize) {
        self.dimension.get_or_insert(n_features);
    }

    fn needs_dimension(&self) -> bool {
        false
    }

    fn check(&self) -> Result<(), Error> {
        self.declared().check()?;
        if !(self.dp_delta > 0.0 && self.dp_delta < 1.0) {
            return Err(Error::DpDelta(self.dp_delta));
        }
        if self.declared().hides_nothing() || self.rho().is_some() {
            Ok(())
        } else {
            Err(Error::FeatureBudget(self.epsilon.nats()))
        }
    }
}

/// The mechanism at one budget.
pub struct Encoder {
    sigma: Sigma,
    /// Steps to the length of the range.
    steps: f64,
    budget: [f64; 2],
    n_features: usize,
    range: [f64; 2],
}

impl FeatureMechanism for Gaussian {
    const NAME: &'static str = "gaussian";
    const TASK: &'static str = "features-gaussian";
    const NOISE: &'static str = "discrete-gaussian noise on features";
    type Params = Params;
    type Encoder = Encoder;

    fn costs(params: &Params) -> Vec<Stated> {
        let rdp = params.rho().map_or_else(Vec::new, curve_of_concentrated);
        let cost = Cost::Approximate { epsilon: params.epsilon.nats(), dp_delta: params.dp_delta, rdp };
        // One feature never costs more than all of them.
        let row = |relation| Stated { relation, cost: cost.clone(), why: String::new() };
        vec![row(Relation::FeatureCoord), row(Relation::NodeFeatures)]
    }

    fn encoder(params: &Params, n_features: usize, range: [f64; 2]) -> Result<Encoder, Error> {
        let refused = || Error::FeatureBudget(params.epsilon.nats());
        // In lengths of the range, and a little more than that because a root is rounded.
        let sigma = noise_multiplier(params.rho().ok_or_else(refused)?) * (n_features as f64).sqrt() * (1.0 + 1e-12);
        let steps = (14.0 - sigma.log2().ceil()).clamp(0.0, 40.0).exp2();
        let budget = [params.epsilon.nats(), params.dp_delta];
        Ok(Encoder { sigma: Sigma::at_least(sigma * steps).ok_or_else(refused)?, steps, budget, n_features, range })
    }
}

impl FeatureEncoder for Encoder {
    fn n_reported(&self) -> usize {
        self.n_features
    }

    fn rectification(&self) -> [f64; 2] {
        [0.0, 1.0]
    }

    fn purpose(&self) -> String {
        format!("{:?} per node", self.budget)
    }

    fn report(&self, node: FeatureView, rng: &mut ChaCha20Rng, send: impl FnMut(u32, f32)) {
        report_in_steps(node, self.range, self.steps, || discrete_gaussian(self.sigma, rng), send);
    }
}

#[cfg(test)]
mod tests;
