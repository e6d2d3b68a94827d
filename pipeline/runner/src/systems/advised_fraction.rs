//! `degree_fraction = "advised"`: how much of a budget pays for degrees, chosen by public knowledge alone.

use veilgraph_exposure::best_degree_share;
use veilgraph_privacy::{DegreeFraction, Epsilon};

use crate::belief::Knowledge;
use crate::config::{Config, ConfigError};

/// The share of the budget for degrees as a number. `"advised"` becomes the one with which a server finds most links that
/// reads degrees off reports and bits; `least` is the smallest that the mechanism can take.
///
/// # Privacy
/// It reads `[privacy] public_knowledge` and the budget, and no data.
///
/// # Errors
/// When nothing is publicly known about the graph.
pub(super) fn resolved(
    config: &Config,
    fraction: DegreeFraction,
    epsilon: Epsilon,
    n_nodes: Option<usize>,
    least: f64,
) -> Result<DegreeFraction, ConfigError> {
    if !fraction.is_advised() {
        return Ok(fraction.resolved(epsilon, n_nodes));
    }
    let Some(stated) = &config.privacy.public_knowledge else {
        let problem = "\"advised\" chooses by what is publicly known; state [privacy] public_knowledge = { nodes = …, mean_degree = … }";
        return Err(config.error("privatize.links.degree_fraction", problem));
    };
    let models = Knowledge::stated(stated)?.models()?;
    let share = best_degree_share(&models[0], epsilon.nats(), least);
    DegreeFraction::try_from(share).map_err(|error| ConfigError(error.to_string()))
}
