use serde_json::json;
use veilgraph_graph::FeatureMatrix;
use veilgraph_privacy::uniform::probability;

use super::*;
use crate::features::FeatureParams;
use crate::features::tests::{estimates, features, has_moments, params, run};

fn at(epsilon: f64, coordinates: &serde_json::Value) -> Params {
    params(json!({"epsilon": epsilon, "range": [2, 5], "coordinates": coordinates}))
}

/// `(d / m) (D / 2)² coth²(ε / 2m) - (x - middle)²`: specs, section 4.
fn variance(epsilon: f64, [n_features, n_reported]: [f64; 2], x: f64) -> f64 {
    let coth = 1.0 / (epsilon / (2.0 * n_reported)).tanh();
    n_features / n_reported * 9.0 / 4.0 * coth * coth - (x - 3.5).powi(2)
}

#[test]
fn estimates_have_mean_and_variance_of_the_formula() {
    for (epsilon, coordinates, n_reported) in
        [(0.01, json!("floor"), 1.0), (0.5, json!("floor"), 1.0), (1.0, json!(2), 2.0), (5.0, json!("floor"), 2.0)]
    {
        for x in [2.0_f32, 2.75, 3.5, 5.0] {
            let draws = estimates::<MultiBit>(&at(epsilon, &coordinates), x, [1_000_000, 4, 1]);
            let expected = (f64::from(x), variance(epsilon, [4.0, n_reported], f64::from(x)));
            assert_eq!(has_moments(&draws, expected.0, expected.1), Ok(()), "ε {epsilon}, x {x}");
        }
    }
    let all = estimates::<MultiBit>(&at(5.0, &json!("all")), 2.75, [300_000, 3, 3]);
    assert_eq!(has_moments(&all, 2.75, variance(5.0, [3.0, 3.0], 2.75)), Ok(()));
}

/// Signs that are flipped half as often as they claim, read as if they were not.
#[test]
fn a_halved_flip_probability_is_caught() {
    let epsilon = 1.0_f64;
    let weaker = (2.0 * (epsilon.exp() + 1.0) - 1.0).ln();
    let rectification =
        |epsilon| MultiBit::encoder(&at(epsilon, &json!(1)), 4, [2.0, 5.0]).expect("valid").rectification();
    let ratio = rectification(epsilon)[1] / rectification(weaker)[1];
    let draws = estimates::<MultiBit>(&at(weaker, &json!(1)), 2.0, [1_000_000, 4, 1]);
    let read: Vec<f64> = draws.into_iter().map(|draw| 3.5 + ratio * (draw - 3.5)).collect();
    assert!(has_moments(&read, 2.0, variance(epsilon, [4.0, 1.0], 2.0)).is_err());
}

/// All messages about three features, for one, two and three reported ones: which features, and their signs.
#[test]
fn a_node_costs_its_budget_and_no_more() {
    for (epsilon, n_reported) in
        [0.01, 0.5, 1.0, 5.0].into_iter().flat_map(|epsilon| [(epsilon, 1), (epsilon, 2), (epsilon, 3)])
    {
        let encoder = MultiBit::encoder(&at(epsilon, &json!(n_reported)), 3, [0.0, 1.0]).expect("valid");
        let sets = (0..8_u32).filter(|set| set.count_ones() as usize == encoder.n_reported);
        let messages: Vec<(u32, u32)> =
            sets.flat_map(|set| (0..8).filter(move |signs| signs & !set == 0).map(move |signs| (set, signs))).collect();
        let all: Vec<[f64; 3]> =
            (0..27).map(|code| [code % 3, code / 3 % 3, code / 9].map(|third: i32| f64::from(third) / 2.0)).collect();
        let likelihood = |(set, signs): (u32, u32), features: &[f64; 3]| -> f64 {
            let of_sign = |at: usize| {
                let positive = encoder.bit.threshold_at(features[at]);
                probability(if signs >> at & 1 == 1 { positive } else { positive.wrapping_neg() })
            };
            // Every set is equally likely, whatever the features are: see `choice`.
            (0..3).filter(|at| set >> at & 1 == 1).map(of_sign).product()
        };
        let mut worst = 0.0_f64;
        for (a, b) in all.iter().flat_map(|a| all.iter().map(move |b| (a, b))) {
            for &message in &messages {
                worst = worst.max((likelihood(message, a) / likelihood(message, b)).ln());
            }
        }
        assert!(worst <= epsilon + 1e-9 && worst > epsilon - 1e-6, "ε {epsilon}, {n_reported}: {worst}");
    }
}

#[test]
fn a_node_sends_signs_of_as_many_features_as_asked_for() {
    let nodes = features(9, vec![vec![(4, 3.0)]; 40]);
    let usual = params::<Params>(json!({"epsilon": 1.0, "range": [0, 5], "coordinates": 4}));
    let FeatureMatrix::Sparse { fill, entries } = run::<MultiBit>(&nodes, &usual, 3).expect("valid").reports else {
        panic!("four of nine features are listed")
    };
    assert_eq!(fill, 0.0);
    for node in 0..40 {
        let (columns, signs) = entries.row(node);
        assert!(columns.len() == 4 && signs.iter().all(|sign| sign.abs() == 1.0), "node {node}: {signs:?}");
    }
    let all = params::<Params>(json!({"epsilon": 1.0, "range": [0, 5], "coordinates": "all"}));
    assert!(matches!(run::<MultiBit>(&nodes, &all, 3).expect("valid").reports, FeatureMatrix::Dense(_)));
}

/// The paper's rule, the best number by trying all of them, and numbers that nobody can report on.
#[test]
fn the_number_of_features_is_the_one_asked_for() {
    let resolve = |epsilon: f64, coordinates: serde_json::Value, n_features| {
        at(epsilon, &coordinates).coordinates.resolve(at(epsilon, &coordinates).epsilon, n_features)
    };
    for (epsilon, floor, best) in [(0.1, 1, 1), (4.0, 1, 2), (6.0, 2, 3), (30.0, 13, 14), (1e3, 50, 50)] {
        assert_eq!(resolve(epsilon, json!("floor"), 50).expect("valid"), floor, "ε {epsilon}");
        assert_eq!(resolve(epsilon, json!("best"), 50).expect("valid"), best, "ε {epsilon}");
    }
    let by_variance = |epsilon: f64, a: &f64, b: &f64| {
        variance(epsilon, [50.0, *a], 3.5).total_cmp(&variance(epsilon, [50.0, *b], 3.5))
    };
    for step in 1..200 {
        let epsilon = f64::from(step) * 0.25;
        let least = (1..=50).map(f64::from).min_by(|a, b| by_variance(epsilon, a, b)).expect("a number");
        assert_eq!(resolve(epsilon, json!("best"), 50).expect("valid"), least as usize, "ε {epsilon}");
    }
    let error = resolve(1.0, json!(51), 50).expect_err("too many").to_string();
    assert!(error.contains("coordinates = 51") && error.contains("at most 50"), "{error}");
    assert!(params::<Params>(json!({"epsilon": 1.0, "coordinates": 9, "dimension": 5})).check().is_err());
    for coordinates in [json!(0), json!("some")] {
        let written = json!({"epsilon": 1.0, "coordinates": coordinates});
        let error = serde_json::from_value::<Params>(written).expect_err("refused").to_string();
        assert!(error.contains("neither a number from 1 on"), "{error}");
    }
}
