//! Laplace noise on each feature.

use rand::rngs::ChaCha20Rng;
use veilgraph_privacy::discrete_laplace::{Rate, discrete_laplace};

use super::ledger::{Stated, of_coordinates};
use super::local::{FeatureEncoder, FeatureMechanism};
use super::params::CoordinateParams;
use super::steps::report_in_steps;
use super::view::FeatureView;
use crate::Error;

/// Each node adds Laplace noise to each feature.
///
/// The noise is drawn in whole steps of `D / 2^k`, to features that are rounded to such steps first, where `D` is the
/// length of the range. The scale of the noise has some 2,000 steps or more, so that rounding is negligible beside it.
///
/// # Privacy
/// `epsilon`-differentially private for one feature of one node, which moves by at most `2^k` steps, and `d · epsilon` for
/// all `d` of them. With `budget = "per-node"` each gets `epsilon / d`, which is noise for the sensitivity `d · D` of
/// all features in the sum of absolute values, so all of them together cost `epsilon`.
///
/// # Source
/// Dwork et al. (2006), Calibrating noise to sensitivity; integer noise: Canonne, Kamath, Steinke
/// (2020), The discrete Gaussian, algorithm 2; on features: Sajadmanesh, Gatica-Perez (2020), PGC, equation 10.
pub struct Laplace;

/// The mechanism at one budget.
pub struct Encoder {
    rate: Rate,
    /// Steps to the length of the range.
    steps: f64,
    epsilon: f64,
    n_features: usize,
    range: [f64; 2],
}

impl FeatureMechanism for Laplace {
    const NAME: &'static str = "laplace";
    const TASK: &'static str = "features-laplace";
    const NOISE: &'static str = "discrete-laplace noise on features";
    type Params = CoordinateParams;
    type Encoder = Encoder;

    fn costs(params: &CoordinateParams) -> Vec<Stated> {
        of_coordinates(params, |n_features| n_features)
    }

    fn encoder(params: &CoordinateParams, n_features: usize, range: [f64; 2]) -> Result<Encoder, Error> {
        let epsilon = params.epsilon_of_feature(n_features);
        let steps = (12.0 + epsilon.log2().ceil()).clamp(4.0, 40.0).exp2();
        let rate = Rate::finely_at_most(epsilon / steps).ok_or(Error::FeatureBudget(epsilon))?;
        Ok(Encoder { rate, steps, epsilon, n_features, range })
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
        format!("{:?} per feature", self.epsilon)
    }

    fn report(&self, node: FeatureView, rng: &mut ChaCha20Rng, send: impl FnMut(u32, f32)) {
        report_in_steps(node, self.range, self.steps, || discrete_laplace(self.rate, rng), send);
    }
}

#[cfg(test)]
mod tests;
