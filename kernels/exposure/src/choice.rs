//! Budgets that are chosen by what they expose.

use crate::degree_model::DegreeModel;
use crate::exposed::exposure;
use crate::signal::{Law, Observation, Signal};

/// Shares of a budget for degrees that are compared.
const SHARES: [f64; 14] = [0.0, 0.01, 0.02, 0.03, 0.05, 0.07, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.5];

/// The share of a budget of `epsilon` nats for the degree with which a server finds most links, where each node sends a
/// noisy list with the rest. It is at least `least`.
///
/// # Complexity
/// One exposure for each of 14 shares.
#[must_use]
pub fn best_degree_share(model: &DegreeModel, epsilon: f64, least: f64) -> f64 {
    let mut best = (least, f64::NEG_INFINITY);
    for share in SHARES.into_iter().filter(|&share| share >= least) {
        let found = exposure(model, &list_and_degree(epsilon, share)).found;
        if found > best.1 {
            best = (share, found);
        }
    }
    best.0
}

/// Two noisy lists that have a pair, and a noisy degree of each node.
pub(crate) fn list_and_degree(epsilon: f64, share: f64) -> Signal {
    // A share of nothing is nothing, even of an infinite budget.
    let part = |share: f64| if share == 0.0 { 0.0 } else { epsilon * share };
    let look = Observation { law: Law::RandomizedResponse, epsilon: part(1.0 - share) };
    Signal { pair: vec![look; 2], degrees: vec![part(share); usize::from(share > 0.0)], knows_degrees: false }
}

/// The factor, at most 16, by which every budget of `signal` has to be multiplied so that a server finds the same share of
/// the links of `surrogate` as of those of `whole`; at 16 it may find fewer. Fewer pairs hide less with the same noise, and so do more links.
#[must_use]
pub fn factor_of_equal_exposure(whole: &DegreeModel, surrogate: &DegreeModel, signal: &Signal) -> f64 {
    const STEPS: u32 = 40;
    const MOST: f64 = 16.0;
    // Where hardly a link stays hidden, rounding must not decide.
    let wanted = exposure(whole, signal).found - 1e-9;
    let found = |factor: f64| exposure(surrogate, &signal.scaled(factor)).found;
    let (mut low, mut high) = (0.0, 1.0);
    while high < MOST && found(high) < wanted {
        (low, high) = (high, 2.0 * high);
    }
    for _ in 0..STEPS {
        let middle = f64::midpoint(low, high);
        if found(middle) < wanted {
            low = middle;
        } else {
            high = middle;
        }
    }
    high
}
