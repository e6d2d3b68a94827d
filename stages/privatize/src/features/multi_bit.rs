//! Bits about a few features, chosen at random.

use rand::rngs::ChaCha20Rng;
use serde::{Deserialize, Serialize};
use veilgraph_contract::Relation;
use veilgraph_privacy::Epsilon;
use veilgraph_privacy::one_bit::OneBit as Bit;

use super::choice::chosen;
use super::ledger::Stated;
use super::local::{FeatureEncoder, FeatureMechanism};
use super::params::{Declared, FeatureParams, Message};
use super::range::Range;
use super::view::FeatureView;
use crate::Error;

mod coordinates;

pub use coordinates::{Coordinates, CoordinatesError};

/// Each node chooses `m` of the `d` features uniformly and sends a sign for each of them, which is `+1` more often, the
/// larger the feature is.
///
/// # Privacy
/// `epsilon`-differentially private for all features of one node: the choice does not depend on them, and each of the
/// `m` signs costs `epsilon / m`. See [`Bit`] for the sign as executed.
///
/// # Source
/// Sajadmanesh, Gatica-Perez (2021), Locally private graph neural networks (LPGNN), CCS, algorithm 1.
pub struct MultiBit;

/// What the multi-bit mechanism reads of `[privatize.features]`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Params {
    /// Budget in nats of all features of a node.
    pub epsilon: Epsilon,
    /// Number of features on which a node reports.
    #[serde(default)]
    pub coordinates: Coordinates,
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
        let Some(n_features) = self.dimension else { return Ok(()) };
        self.coordinates.resolve(self.epsilon, n_features).map(|_| ())
    }
}

/// The mechanism at one budget.
pub struct Encoder {
    bit: Bit,
    epsilon: f64,
    n_reported: usize,
    n_features: usize,
    range: [f64; 2],
}

impl FeatureMechanism for MultiBit {
    const NAME: &'static str = "multi-bit";
    const TASK: &'static str = "features-multi-bit";
    const NOISE: &'static str = "randomized signs of a few features";
    type Params = Params;
    type Encoder = Encoder;

    fn costs(params: &Params) -> Vec<Stated> {
        let epsilon = params.epsilon.nats();
        // Which features are reported does not depend on them; one that is reported has an equal share of the budget.
        let n_reported = params.dimension.and_then(|n| params.coordinates.resolve(params.epsilon, n).ok()).unwrap_or(1);
        vec![
            Stated::pure(Relation::FeatureCoord, epsilon / n_reported as f64, ""),
            Stated::pure(Relation::NodeFeatures, epsilon, ""),
        ]
    }

    fn encoder(params: &Params, n_features: usize, range: [f64; 2]) -> Result<Encoder, Error> {
        let n_reported = params.coordinates.resolve(params.epsilon, n_features)?;
        let epsilon = params.epsilon.nats() / n_reported as f64;
        let bit = Bit::new(epsilon).ok_or(Error::FeatureBudget(epsilon))?;
        Ok(Encoder { bit, epsilon, n_reported, n_features, range })
    }
}

impl FeatureEncoder for Encoder {
    fn n_reported(&self) -> usize {
        self.n_reported
    }

    fn rectification(&self) -> [f64; 2] {
        let [lower, upper] = self.range;
        let rarity = self.n_features as f64 / self.n_reported as f64;
        [f64::midpoint(lower, upper), rarity * (upper - lower) / (2.0 * self.bit.contrast())]
    }

    fn purpose(&self) -> String {
        format!("{:?} per feature, {} reported", self.epsilon, self.n_reported)
    }

    fn report(&self, node: FeatureView, rng: &mut ChaCha20Rng, mut send: impl FnMut(u32, f32)) {
        let mut send_sign =
            |feature, share, rng: &mut _| send(feature, if self.bit.draw(share, rng) { 1.0 } else { -1.0 });
        if self.n_reported == self.n_features {
            (0..).zip(node.shares()).for_each(|(feature, share)| send_sign(feature, share, rng));
            return;
        }
        for feature in chosen(self.n_features, self.n_reported, rng) {
            send_sign(feature, node.share(feature), rng);
        }
    }
}

#[cfg(test)]
mod tests;
