use serde_json::json;

use super::*;
use crate::features::tests::{estimates, has_moments, params};

fn at(epsilon: f64) -> Params {
    params(json!({"epsilon": epsilon, "range": [2, 5]}))
}

#[test]
fn reports_have_the_mean_of_the_features_and_the_variance_of_the_noise() {
    for epsilon in [0.5, 1.0, 5.0] {
        let sigma = 3.0 * noise_multiplier(at(epsilon).rho().expect("a budget")) * 1000.0_f64.sqrt();
        for x in [2.0_f32, 2.75, 3.5, 5.0] {
            let draws = estimates::<Gaussian>(&at(epsilon), x, [1000, 1000, 1000]);
            assert_eq!(has_moments(&draws, f64::from(x), sigma * sigma), Ok(()), "ε {epsilon}, x {x}");
            assert!(has_moments(&draws, f64::from(x), 4.0 * sigma * sigma).is_err(), "half of the noise is caught");
        }
    }
}

/// Executed noise costs what the ledger states, or less by the rounding of σ.
#[test]
fn the_curve_in_the_ledger_is_never_exceeded() {
    for (epsilon, n_features) in [0.001, 0.01, 1.0, 10.0, 1000.0].into_iter().flat_map(|e| [(e, 1), (e, 4714)]) {
        let params = at(epsilon);
        let encoder = Gaussian::encoder(&params, n_features, [2.0, 5.0]).expect("valid");
        let sigma = encoder.sigma.steps() as f64;
        let executed = n_features as f64 * (encoder.steps / sigma).powi(2) / 2.0;
        let stated = params.rho().expect("a budget");
        assert!(executed <= stated && executed > stated * (1.0 - 5e-4), "ε {epsilon}: {executed} of {stated}");
        let costs = Gaussian::costs(&params);
        assert_eq!(costs.len(), 2, "of one feature, and of all");
        for Stated { cost, .. } in costs {
            let Cost::Approximate { rdp, dp_delta, .. } = cost else { panic!("a cost with a delta") };
            assert!(dp_delta == 1e-10 && rdp.iter().all(|&(order, cost)| cost == order * stated));
        }
    }
}

/// The exact delta of one feature at the budget's epsilon, from the law of the noise: `Σ max(0, p(x) - e^ε p(x - 2^k))`.
#[test]
fn the_exact_delta_stays_within_the_declared_one() {
    for (epsilon, dp_delta) in [(0.5, 1e-3), (1.0, 1e-5), (5.0, 1e-5)] {
        let params: Params = params(json!({"epsilon": epsilon, "dp_delta": dp_delta}));
        let encoder = Gaussian::encoder(&params, 1, [0.0, 1.0]).expect("valid");
        let (sigma, steps) = (encoder.sigma.steps() as f64, encoder.steps);
        let density = |x: f64| (-x * x / (2.0 * sigma * sigma)).exp();
        let all = || (-12 * sigma as i64..=12 * sigma as i64).map(|x| x as f64);
        let sum: f64 = all().map(density).sum();
        let excess: f64 = all().map(|x| (density(x) - f64::exp(epsilon) * density(x + steps)).max(0.0)).sum();
        let delta = excess / sum;
        assert!(delta <= dp_delta && delta > dp_delta / 30.0, "ε {epsilon}: {delta} of {dp_delta}");
    }
}

#[test]
fn deltas_and_budgets_without_noise_are_refused() {
    for dp_delta in [0.0, 1.0, -1.0] {
        let error = params::<Params>(json!({"epsilon": 1.0, "dp_delta": dp_delta})).check().expect_err("refused");
        assert!(error.to_string().contains("dp_delta = "), "{error}");
    }
    assert!(at(1e-9).check().expect_err("too small").to_string().contains("change epsilon"));
}
