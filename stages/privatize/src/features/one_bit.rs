//! One bit for each feature.

use rand::rngs::ChaCha20Rng;
use veilgraph_privacy::one_bit::OneBit as Bit;

use super::ledger::{Stated, of_coordinates};
use super::local::{FeatureEncoder, FeatureMechanism};
use super::params::CoordinateParams;
use super::view::FeatureView;
use crate::Error;

/// Each node sends one bit for each feature, which is set more often, the larger the feature is.
///
/// # Privacy
/// `epsilon`-differentially private for one feature of one node, and `d · epsilon` for all `d` of them; with
/// `budget = "per-node"` the budget is divided by `d` first, so all of them together cost `epsilon`. See
/// [`Bit`] for the bit as executed.
///
/// # Source
/// Sajadmanesh, Gatica-Perez (2020), When differential privacy meets graph neural networks (PGC); the variance is its equation 7.
pub struct OneBit;

/// The mechanism at one budget.
pub struct Encoder {
    bit: Bit,
    epsilon: f64,
    n_features: usize,
    range: [f64; 2],
}

impl FeatureMechanism for OneBit {
    const NAME: &'static str = "one-bit";
    const TASK: &'static str = "features-one-bit";
    const NOISE: &'static str = "one randomized bit per feature";
    type Params = CoordinateParams;
    type Encoder = Encoder;

    fn costs(params: &CoordinateParams) -> Vec<Stated> {
        of_coordinates(params, |n_features| n_features)
    }

    fn encoder(params: &CoordinateParams, n_features: usize, range: [f64; 2]) -> Result<Encoder, Error> {
        let epsilon = params.epsilon_of_feature(n_features);
        let bit = Bit::new(epsilon).ok_or(Error::FeatureBudget(epsilon))?;
        Ok(Encoder { bit, epsilon, n_features, range })
    }
}

impl FeatureEncoder for Encoder {
    fn n_reported(&self) -> usize {
        self.n_features
    }

    /// `lower - D q / (1 - 2 q)` and `D / (1 - 2 q)`, where `D` is the length of the range and `q` the probability of a set
    /// bit at its lower end: with `q = 1 / (E + 1)` the paper's `((E + 1) y - 1) / (E - 1) D + lower`.
    fn rectification(&self) -> [f64; 2] {
        let [lower, upper] = self.range;
        let scale = (upper - lower) / self.bit.contrast();
        [f64::midpoint(lower, upper) - scale / 2.0, scale]
    }

    fn purpose(&self) -> String {
        format!("{:?} per feature", self.epsilon)
    }

    fn report(&self, node: FeatureView, rng: &mut ChaCha20Rng, mut send: impl FnMut(u32, f32)) {
        for (feature, share) in (0..).zip(node.shares()) {
            send(feature, if self.bit.draw(share, rng) { 1.0 } else { 0.0 });
        }
    }
}

#[cfg(test)]
mod tests;
