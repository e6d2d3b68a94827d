//! What will a server be able to believe about links, as far as public knowledge alone tells?
//!
//! Nothing here reads a graph. The number of nodes, their mean degree and the spread of their degrees stand for it: a
//! node has an expected degree `λ` from a log-normal distribution, and two nodes are linked with odds `λ λ' / (n λ̄)`,
//! independently of other pairs. What the server sees of a pair is a [`Signal`], and [`exposure`] sums over kinds of
//! nodes and over what can be seen, without drawing anything.
//!
//! *Invariant:* it knows no mechanism by name, no data and no file. No release depends on it but for the share of a budget
//! that `degree_fraction = "advised"` chooses.

mod choice;
mod degree_model;
mod exposed;
mod signal;

pub use choice::{best_degree_share, factor_of_equal_exposure};
pub use degree_model::{DegreeModel, ImpossibleKnowledge, PublicKnowledge};
pub use exposed::{Exposure, Named, exposure};
pub use signal::{Law, Observation, Signal};

/// The belief that a pair is linked, after odds have moved by `nats`: `1 / (1 + (1 − base) / base · e^{−nats})`.
///
/// With the cost of a link as `nats` it is the most that reports can make of a pair of base rate `base` to a server that
/// knows all other links, or to which pairs are independent. Reports about other pairs can change what a server believes
/// about this pair beforehand (that its ends are hubs, for example), and so the `base` from which it starts.
///
/// # Source
/// Kasiviswanathan, Smith (2014), On the semantics of differential privacy; for one bit, Warner (1965).
#[must_use]
pub fn belief_after(base: f64, nats: f64) -> f64 {
    base / (base + (1.0 - base) * libm::exp(-nats))
}

#[cfg(test)]
mod tests;
