//! How much noise a budget asks for.

use crate::Costs;

/// What may be spent, under one relation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Budget {
    /// In nats.
    pub epsilon: f64,
    /// The delta of `(epsilon, dp_delta)`-differential privacy.
    pub dp_delta: f64,
}

/// No noise keeps a budget.
#[derive(Debug, PartialEq, thiserror::Error)]
#[error(
    "no noise below a standard deviation of {most:e} keeps a budget of {epsilon} nats at dp_delta = {dp_delta:e}; raise \
     epsilon, take fewer steps, or sample less"
)]
pub struct Unreachable {
    epsilon: f64,
    dp_delta: f64,
    most: f64,
}

/// Largest noise multiplier that is tried.
const MOST: f64 = 1e6;

/// The smallest noise multiplier, within a ten-thousandth, whose cost keeps the budget; 0 for an infinite one. More noise
/// must never cost more.
///
/// # Privacy
/// The result is the upper end of a bisection, so the budget is never exceeded.
///
/// # Errors
/// When no noise keeps the budget.
pub fn least_noise<C: Costs>(budget: Budget, costs: impl Fn(f64) -> C) -> Result<f64, Unreachable> {
    let Budget { epsilon, dp_delta } = budget;
    if epsilon == f64::INFINITY {
        return Ok(0.0);
    }
    let fits = |noise: f64| costs(noise).keep(budget);
    let (mut low, mut high) = (libm::log(1e-2), libm::log(MOST));
    if !(epsilon > 0.0 && dp_delta > 0.0 && dp_delta < 1.0 && fits(MOST)) {
        return Err(Unreachable { epsilon, dp_delta, most: MOST });
    }
    while high - low > 1e-4 {
        let middle = f64::midpoint(low, high);
        if fits(libm::exp(middle)) {
            high = middle;
        } else {
            low = middle;
        }
    }
    Ok(libm::exp(high))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Curve;

    #[test]
    fn the_noise_keeps_the_budget_and_little_less_does_not() {
        let budget = Budget { epsilon: 2.0, dp_delta: 1e-5 };
        let noise = least_noise(budget, Curve::gaussian).expect("a noise");
        assert!(Curve::gaussian(noise).epsilon(1e-5) <= 2.0);
        assert!(Curve::gaussian(noise * 0.999).epsilon(1e-5) > 2.0);
    }

    #[test]
    fn without_a_bound_there_is_no_noise() {
        assert_eq!(least_noise(Budget { epsilon: f64::INFINITY, dp_delta: 1e-5 }, Curve::gaussian), Ok(0.0));
    }

    #[test]
    fn an_unreachable_budget_is_refused() {
        let curve = |noise: f64| Curve::gaussian(noise).and(&Curve::pure(3.0));
        let error = least_noise(Budget { epsilon: 1.0, dp_delta: 1e-5 }, curve).expect_err("no noise");
        assert!(error.to_string().contains("1 nats at dp_delta = 1e-5"), "{error}");
        assert!(least_noise(Budget { epsilon: 1.0, dp_delta: 0.0 }, Curve::gaussian).is_err());
    }
}
