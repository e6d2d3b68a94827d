//! The piecewise mechanism on each feature, or on some of them.

use rand::rngs::ChaCha20Rng;
use veilgraph_privacy::piecewise::Piecewise as Grid;

use super::choice::chosen;
use super::ledger::{Stated, of_coordinates};
use super::local::{FeatureEncoder, FeatureMechanism};
use super::params::{BudgetUnit, CoordinateParams};
use super::view::FeatureView;
use crate::Error;

/// Each node sends a number for each feature, which is likelier near the feature than far from it.
///
/// With `budget = "per-node"` a node reports on `k = max(1, min(d, ⌊epsilon / 2.5⌋))` of the `d` features, chosen
/// uniformly, with `epsilon / k` for each.
///
/// # Privacy
/// `epsilon`-differentially private for one feature of one node, and `d · epsilon` for all `d` of them; with
/// `budget = "per-node"`, `epsilon` for all of them, and `epsilon / k` for one. The choice does not depend on the
/// features. See [`Grid`] for the numbers as executed.
///
/// # Source
/// Wang et al. (2019), Collecting and analyzing multidimensional data with local differential privacy, ICDE, algorithms
/// 2 and 4; on features: Sajadmanesh, Gatica-Perez (2020), PGC, equations 25 to 27.
pub struct Piecewise;

/// The mechanism at one budget.
pub struct Encoder {
    grid: Grid,
    epsilon: f64,
    n_reported: usize,
    n_features: usize,
    range: [f64; 2],
}

/// Number of features on which a node reports.
fn n_reported(params: &CoordinateParams, n_features: usize) -> usize {
    match params.budget {
        BudgetUnit::PerFeature => n_features,
        BudgetUnit::PerNode => ((params.epsilon.nats() / 2.5) as usize).min(n_features).max(1),
    }
}

impl FeatureMechanism for Piecewise {
    const NAME: &'static str = "piecewise";
    const TASK: &'static str = "features-piecewise";
    const NOISE: &'static str = "piecewise mechanism on features";
    type Params = CoordinateParams;
    type Encoder = Encoder;

    fn costs(params: &CoordinateParams) -> Vec<Stated> {
        of_coordinates(params, |n_features| n_reported(params, n_features))
    }

    fn encoder(params: &CoordinateParams, n_features: usize, range: [f64; 2]) -> Result<Encoder, Error> {
        let n_reported = n_reported(params, n_features);
        let epsilon = match params.budget {
            BudgetUnit::PerFeature => params.epsilon.nats(),
            BudgetUnit::PerNode => params.epsilon.nats() / n_reported as f64,
        };
        let grid = Grid::new(epsilon).ok_or(Error::FeatureBudget(epsilon))?;
        Ok(Encoder { grid, epsilon, n_reported, n_features, range })
    }
}

impl Encoder {
    /// Steps of the grid to one, in units in which the mean of a number is the feature itself, from -1 to 1.
    fn steps(&self) -> f64 {
        self.grid.largest_centre() as f64 * self.grid.gain()
    }

    fn draw(&self, share: f64, rng: &mut ChaCha20Rng) -> f32 {
        let centre = ((2.0 * share - 1.0) * self.grid.largest_centre() as f64).round() as i64;
        (self.grid.draw(centre, rng) as f64 / self.steps()) as f32
    }
}

impl FeatureEncoder for Encoder {
    fn n_reported(&self) -> usize {
        self.n_reported
    }

    fn rectification(&self) -> [f64; 2] {
        let [lower, upper] = self.range;
        // A feature is reported on with probability k / d, and else counts as the middle of the range.
        let rarity = self.n_features as f64 / self.n_reported as f64;
        [f64::midpoint(lower, upper), (upper - lower) / 2.0 * rarity]
    }

    fn purpose(&self) -> String {
        format!("{:?} per feature, {} reported", self.epsilon, self.n_reported)
    }

    fn report(&self, node: FeatureView, rng: &mut ChaCha20Rng, mut send: impl FnMut(u32, f32)) {
        if self.n_reported == self.n_features {
            (0..).zip(node.shares()).for_each(|(feature, share)| send(feature, self.draw(share, rng)));
            return;
        }
        for feature in chosen(self.n_features, self.n_reported, rng) {
            send(feature, self.draw(node.share(feature), rng));
        }
    }
}

#[cfg(test)]
mod tests;
