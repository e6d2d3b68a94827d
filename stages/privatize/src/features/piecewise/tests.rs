use serde_json::json;
use veilgraph_contract::Relation;
use veilgraph_privacy::composition::total_epsilon;

use super::*;
use crate::features::tests::{estimates, has_moments, params};

/// Sajadmanesh, Gatica-Perez (2020), equation 27, for the range [2, 5]; the last factor belongs to the second summand.
fn variance(epsilon: f64, x: f64) -> f64 {
    let root = (epsilon / 2.0).exp_m1();
    (x - 3.5).powi(2) / root + 9.0 / 4.0 * (root + 4.0) / (3.0 * root * root)
}

#[test]
fn estimates_have_mean_and_variance_of_the_paper() {
    for epsilon in [0.5, 1.0, 5.0] {
        let params: CoordinateParams = params(json!({"epsilon": epsilon, "range": [2, 5], "dimension": 1000}));
        for x in [2.0_f32, 2.75, 3.5, 5.0] {
            let draws = estimates::<Piecewise>(&params, x, [1000, 1000, 1000]);
            let expected = (f64::from(x), variance(epsilon, f64::from(x)));
            assert_eq!(has_moments(&draws, expected.0, expected.1), Ok(()), "ε {epsilon}, x {x}");
        }
    }
    assert!((variance(1.0, 2.0) - 11.753).abs() < 1e-3, "the value that a simulation confirms");
}

/// Of five features two are reported at five nats. A feature is estimated as `m + (d / k) (y - m)` with probability
/// `k / d`, where `m` is the middle, and as `m` else.
#[test]
fn estimates_from_some_features_are_unbiased() {
    let params: CoordinateParams =
        params(json!({"epsilon": 5.0, "budget": "per-node", "range": [2, 5], "dimension": 5}));
    assert_eq!(total_epsilon(&Piecewise::releases(&params), Relation::FeatureCoord), 2.5);
    for x in [2.0_f32, 2.75, 3.5, 5.0] {
        let draws = estimates::<Piecewise>(&params, x, [1_000_000, 5, 1]);
        let distance = f64::from(x) - 3.5;
        let second = 2.5 * (variance(2.5, f64::from(x)) + distance * distance);
        let verdict = has_moments(&draws, f64::from(x), second - distance * distance);
        assert_eq!(verdict, Ok(()), "x {x}");
    }
}

#[test]
fn noise_for_twice_the_budget_is_caught() {
    let params: CoordinateParams = params(json!({"epsilon": 2.0, "range": [2, 5], "dimension": 1000}));
    let draws = estimates::<Piecewise>(&params, 2.0, [1000, 1000, 1000]);
    assert!(has_moments(&draws, 2.0, variance(1.0, 2.0)).is_err());
}

/// The number of features of the specification: `max(1, min(d, ⌊ε / 2.5⌋))`.
#[test]
fn a_node_reports_on_as_many_features_as_its_budget_carries() {
    for (epsilon, n_features, expected) in [(0.1, 10, 1), (2.4, 10, 1), (5.0, 10, 2), (12.6, 10, 5), (99.0, 10, 10)] {
        let params: CoordinateParams = params(json!({"epsilon": epsilon, "budget": "per-node"}));
        assert_eq!(n_reported(&params, n_features), expected, "ε {epsilon}");
    }
}
