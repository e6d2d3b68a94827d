use serde_json::json;
use veilgraph_privacy::uniform::probability;

use super::*;
use crate::features::FeatureParams;
use crate::features::tests::{estimates, has_moments, params};

fn at(epsilon: f64) -> CoordinateParams {
    params(json!({"epsilon": epsilon, "range": [2, 5], "dimension": 1000}))
}

/// Sajadmanesh, Gatica-Perez (2020), equation 7.
fn variance(epsilon: f64, x: f64) -> f64 {
    9.0 * epsilon.exp() / epsilon.exp_m1().powi(2) + (x - 2.0) * (5.0 - x)
}

#[test]
fn estimates_have_mean_and_variance_of_the_paper() {
    for epsilon in [0.5, 1.0, 5.0] {
        for x in [2.0_f32, 2.75, 3.5, 5.0] {
            let draws = estimates::<OneBit>(&at(epsilon), x, [1000, 1000, 1000]);
            let expected = (f64::from(x), variance(epsilon, f64::from(x)));
            let verdict = has_moments(&draws, expected.0, expected.1);
            assert_eq!(verdict, Ok(()), "ε {epsilon}, x {x}");
        }
    }
}

/// Bits that are flipped half as often as they claim, read as if they were not.
#[test]
fn a_halved_flip_probability_is_caught() {
    for epsilon in [0.5, 1.0, 5.0_f64] {
        let weaker = (2.0 * (epsilon.exp() + 1.0) - 1.0).ln();
        let claimed = OneBit::encoder(&at(epsilon), 1000, [2.0, 5.0]).expect("valid").rectification();
        let executed = OneBit::encoder(&at(weaker), 1000, [2.0, 5.0]).expect("valid").rectification();
        let read = |x: f64| claimed[0] + claimed[1] * (x - executed[0]) / executed[1];
        let draws: Vec<f64> = estimates::<OneBit>(&at(weaker), 2.0, [1000, 1000, 1000]).into_iter().map(read).collect();
        assert!(has_moments(&draws, 2.0, variance(epsilon, 2.0)).is_err(), "ε {epsilon}");
    }
}

/// All messages of three bits, all pairs of three features at the ends or in between: the largest ratio is the budget.
#[test]
fn three_features_cost_their_budget_and_no_more() {
    for epsilon in [0.01, 0.5, 1.0, 5.0] {
        let written: CoordinateParams = params(json!({"epsilon": epsilon, "budget": "per-node"}));
        let mut written = written;
        written.complete_dimension(3);
        let bit = OneBit::encoder(&written, 3, [0.0, 1.0]).expect("valid").bit;
        let all: Vec<[f64; 3]> =
            (0..27).map(|code| [code % 3, code / 3 % 3, code / 9].map(|third: i32| f64::from(third) / 2.0)).collect();
        let likelihood = |message: u32, features: &[f64; 3]| -> f64 {
            let of_bit = |at: usize| {
                let set = bit.threshold_at(features[at]);
                probability(if message >> at & 1 == 1 { set } else { set.wrapping_neg() })
            };
            (0..3).map(of_bit).product()
        };
        let mut worst = 0.0_f64;
        for (a, b) in all.iter().flat_map(|a| all.iter().map(move |b| (a, b))) {
            for message in 0..8 {
                worst = worst.max((likelihood(message, a) / likelihood(message, b)).ln());
            }
        }
        assert!(worst <= epsilon + 1e-9 && worst > epsilon - 1e-6, "ε {epsilon}: {worst}");
    }
}

#[test]
fn a_budget_that_says_nothing_is_refused() {
    let error = OneBit::encoder(&at(1e-17), 1000, [0.0, 1.0]).err().expect("refused").to_string();
    assert!(error.contains("0.00000000000000001 nats"), "{error}");
}
