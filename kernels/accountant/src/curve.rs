//! Curves of Rényi differential privacy at the orders at which the ledger states them.

use veilgraph_contract::Cost;
use veilgraph_privacy::composition::{epsilon_of_rdp, rdp_of_pure};

/// The Rényi divergence that a release allows at each order, in nats.
///
/// The orders are the same for all curves, so that these can be added. A point may be infinite, where nothing is known at
/// an order.
///
/// # Source
/// Mironov (2017), Rényi differential privacy, definition 4.
#[derive(Clone, Debug, PartialEq)]
pub struct Curve(Vec<(f64, f64)>);

/// From 1.06 to 131,073. Up to 257 they are dense, because the cost of a sampled step rises steeply at some order, and the
/// best one lies just before.
fn orders() -> impl Iterator<Item = f64> {
    let dense = (-64..128_i32).map(|sixteenth| f64::from(sixteenth) / 16.0);
    let sparse = (32..=68_i32).map(|quarter| f64::from(quarter) / 4.0);
    dense.chain(sparse).map(|power| 1.0 + libm::exp2(power))
}

impl Curve {
    /// The curve with `at(order)` nats at each order.
    #[must_use]
    pub fn from_orders(at: impl Fn(f64) -> f64) -> Self {
        // What is no number is no bound.
        let bound = |nats: f64| if nats.is_nan() { f64::INFINITY } else { nats };
        Self(orders().map(|order| (order, bound(at(order)))).collect())
    }

    /// The curve of what releases nothing.
    #[must_use]
    pub fn nothing() -> Self {
        Self::from_orders(|_| 0.0)
    }

    /// The curve of a `rho`-concentrated release: `order · rho`.
    #[must_use]
    pub fn concentrated(rho: f64) -> Self {
        Self::from_orders(|order| order * rho)
    }

    /// The curve of Gaussian noise of standard deviation `noise_multiplier` on what a node moves by at most 1 in the
    /// Euclidean norm: `order / (2 noise_multiplier²)`.
    #[must_use]
    pub fn gaussian(noise_multiplier: f64) -> Self {
        Self::concentrated(0.5 / (noise_multiplier * noise_multiplier))
    }

    /// The curve of a choice by the exponential mechanism whose log probabilities have a range of `range` nats: such a
    /// choice is `range² / 8`-concentrated.
    ///
    /// # Source
    /// Cesar, Rogers (2021), Bounding, concentrating, and truncating, lemma 3.4.
    #[must_use]
    pub fn bounded_range(range: f64) -> Self {
        Self::concentrated(range * range / 8.0)
    }

    /// The curve of a release of pure cost `epsilon`.
    #[must_use]
    pub fn pure(epsilon: f64) -> Self {
        Self::from_orders(|order| rdp_of_pure(epsilon, order))
    }

    /// The curve of both releases together.
    #[must_use]
    pub fn and(&self, other: &Self) -> Self {
        Self(self.0.iter().zip(&other.0).map(|(a, b)| (a.0, a.1 + b.1)).collect())
    }

    /// The curve of `times` such releases, each of which may depend on the ones before.
    #[must_use]
    pub fn repeated(&self, times: f64) -> Self {
        Self(self.0.iter().map(|&(order, nats)| (order, if times == 0.0 { 0.0 } else { nats * times })).collect())
    }

    /// The epsilon at `dp_delta`, in nats; infinite where the curve gives none.
    #[must_use]
    pub fn epsilon(&self, dp_delta: f64) -> f64 {
        epsilon_of_rdp(&self.0, dp_delta).unwrap_or(f64::INFINITY)
    }

    /// The cost that the ledger states. Orders at which nothing is known are left out.
    #[must_use]
    pub fn cost(&self, dp_delta: f64) -> Cost {
        let rdp = self.0.iter().copied().filter(|point| point.1.is_finite()).collect();
        Cost::Approximate { epsilon: self.epsilon(dp_delta), dp_delta, rdp }
    }

    /// The smallest loss beyond which the privacy loss lies with a probability of at most `probability`, as far as this curve
    /// tells, and the order that tells it; none where no order does.
    ///
    /// # Source
    /// Mironov (2017), Rényi differential privacy, proposition 10: Markov's inequality for `exp((order - 1) · loss)`.
    #[must_use]
    pub fn bound_of_loss(&self, probability: f64) -> Option<(f64, f64)> {
        let at = |&(order, nats): &(f64, f64)| (nats - libm::log(probability) / (order - 1.0), order);
        self.0.iter().map(at).min_by(|a, b| a.0.total_cmp(&b.0)).filter(|(loss, _)| loss.is_finite())
    }

    /// The divergence at the order nearest to `order`, with that order.
    #[must_use]
    pub fn near(&self, order: f64) -> (f64, f64) {
        let distance = |point: &(f64, f64)| (point.0 - order).abs();
        let nearest = self.0.iter().min_by(|a, b| distance(a).total_cmp(&distance(b)));
        nearest.copied().unwrap_or((order, f64::INFINITY))
    }
}
