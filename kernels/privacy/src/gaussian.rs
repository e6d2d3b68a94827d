//! How much Gaussian noise an `(epsilon, dp_delta)` budget asks for, by concentrated differential privacy.

use crate::composition::epsilon_of_rdp;

/// The curve of Rényi differential privacy of what is `rho`-concentrated differentially private: `order · rho`, at orders
/// from 1.06 to 131,073 in steps of a quarter of an octave of `order - 1`.
///
/// A curve that the accountant states has these orders too, beside others, so that both can be added at these.
///
/// # Source
/// Bun, Steinke (2016), Concentrated differential privacy, definition 1.1.
#[must_use]
pub fn curve_of_concentrated(rho: f64) -> Vec<(f64, f64)> {
    let orders = (-16..=68_i32).map(|quarter| 1.0 + libm::exp2(f64::from(quarter) / 4.0));
    orders.map(|order| (order, order * rho)).collect()
}

/// The largest `rho` for which `rho`-concentrated differential privacy implies `(epsilon, dp_delta)`-differential
/// privacy at the orders of [`curve_of_concentrated`]; none if there is no positive one.
///
/// # Privacy
/// The result is the lower end of a bisection, so the budget is never exceeded.
#[must_use]
pub fn concentrated_within(epsilon: f64, dp_delta: f64) -> Option<f64> {
    let fits = |rho: f64| epsilon_of_rdp(&curve_of_concentrated(rho), dp_delta).is_some_and(|found| found <= epsilon);
    // Every order costs more than `rho`, less at most `ln(1 / (1 - 1 / order))` and what a large delta gives back.
    let (mut low, mut high) = (0.0, epsilon + 64.0);
    if !(epsilon > 0.0 && epsilon.is_finite() && dp_delta > 0.0 && dp_delta < 1.0) {
        return None;
    }
    for _ in 0..200 {
        let middle = f64::midpoint(low, high);
        if fits(middle) {
            low = middle;
        } else {
            high = middle;
        }
    }
    (low > 0.0).then_some(low)
}

/// The σ of Gaussian noise that is `rho`-concentrated differentially private for data whose neighbours differ by 1 in
/// the Euclidean norm: `1 / √(2 rho)`.
///
/// # Source
/// Bun, Steinke (2016), Concentrated differential privacy, proposition 1.6; for integer noise: Canonne, Kamath, Steinke
/// (2020), The discrete Gaussian, theorem 14.
#[must_use]
pub fn noise_multiplier(rho: f64) -> f64 {
    1.0 / (2.0 * rho).sqrt()
}

#[cfg(test)]
mod tests;
