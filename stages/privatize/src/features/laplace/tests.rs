use serde_json::json;

use super::*;
use crate::features::tests::{estimates, has_moments, params};

fn at(epsilon: f64) -> CoordinateParams {
    params(json!({"epsilon": epsilon, "range": [2, 5], "dimension": 1000}))
}

/// Sajadmanesh, Gatica-Perez (2020), equation 10.
#[test]
fn reports_have_mean_and_variance_of_the_paper() {
    for epsilon in [0.5, 1.0, 5.0] {
        for x in [2.0_f32, 2.75, 3.5, 5.0] {
            let draws = estimates::<Laplace>(&at(epsilon), x, [1000, 1000, 1000]);
            let verdict = has_moments(&draws, f64::from(x), 2.0 * (3.0 / epsilon).powi(2));
            assert_eq!(verdict, Ok(()), "ε {epsilon}, x {x}");
        }
    }
}

#[test]
fn noise_for_twice_the_budget_is_caught() {
    let draws = estimates::<Laplace>(&at(2.0), 3.5, [1000, 1000, 1000]);
    assert!(has_moments(&draws, 3.5, 2.0 * 9.0).is_err());
}

/// By the exact law `P(x) ∝ exp(-|x| rate)` no ratio exceeds `steps · rate`, which both ends of the range attain.
#[test]
fn a_feature_costs_its_budget_and_no_more() {
    for epsilon in [1e-6, 0.01, 0.5, 1.0, 5.0, 300.0] {
        let encoder = Laplace::encoder(&at(epsilon), 1000, [2.0, 5.0]).expect("valid");
        let cost = encoder.steps * encoder.rate.nats();
        assert!(cost <= epsilon + 1e-9 && cost > epsilon - 1e-6 * epsilon.max(1.0), "ε {epsilon}: {cost}");
        assert!(encoder.steps >= 16.0 && encoder.steps / epsilon >= 2048.0 / 2.0, "ε {epsilon}: fine steps");
    }
}
