use super::*;
use crate::{Budget, least_noise};

/// The settings that DPAR ships for Cora-ML: 210 nodes, batches of 60, 800 steps.
fn steps(rows_of_a_node: u32) -> Occurrences {
    Occurrences::WithoutReplacement { n_rows: 210, batch: 60, rows_of_a_node }
}

/// Half of 8 nats and of a delta of 2e-3, after a sample of 9 % of the nodes amplified it: `ε + ln(1 / .09)`, and the delta by
/// the same factor. A row of the node moves a clipped gradient by up to twice the bound.
fn noise_for(rows_of_a_node: u32) -> f64 {
    let budget = Budget { epsilon: libm::log1p(libm::expm1(4.0) / 0.09), dp_delta: 1e-3 / 0.09 };
    let curve = |noise: f64| occurrence_bounded(steps(rows_of_a_node), noise).repeated(800.0);
    least_noise(budget, curve).expect("a noise")
}

#[test]
fn the_noise_for_a_node_in_several_rows() {
    // From an independent computation with the same formula.
    for (rows, expected) in [(1, 16.0), (2, 26.0), (4, 43.4), (8, 78.0)] {
        let found = noise_for(rows);
        assert!((found / expected - 1.0).abs() < 0.02, "{rows} rows: {found} {expected}");
    }
}

#[test]
fn without_noise_nothing_is_cheap() {
    let sampling = Occurrences::Poisson { rate: 0.5, rows_of_others: 3 };
    assert_eq!(occurrence_bounded(sampling, 0.0).epsilon(1e-5), f64::INFINITY);
}

#[test]
fn the_law_of_the_sample_is_a_law() {
    for laws in [binomial(7, 0.3), binomial(3, 0.0), hypergeometric(20, 5, 18), hypergeometric(210, 4, 60)] {
        let sum: f64 = laws.iter().map(|law| libm::exp(law.1)).sum();
        assert!((sum - 1.0).abs() < 1e-9, "{laws:?}");
    }
    let mean: f64 = hypergeometric(210, 4, 60).iter().map(|(h, log)| h * libm::exp(*log)).sum();
    assert!((mean - 4.0 * 60.0 / 210.0).abs() < 1e-9);
}

#[test]
fn a_row_in_every_sample_is_the_gaussian() {
    // Its own row moves by 1, and two others by 2 each.
    let all = Occurrences::Poisson { rate: 1.0, rows_of_others: 2 };
    let [found, expected] = [occurrence_bounded(all, 10.0), Curve::gaussian(2.0)];
    for order in [1.5, 5.0, 33.0] {
        assert!((found.near(order).1 / expected.near(order).1 - 1.0).abs() < 1e-9);
    }
}

#[test]
fn a_step_moves_by_the_own_row_and_twice_by_others() {
    let mut moves = Occurrences::Poisson { rate: 0.25, rows_of_others: 1 }.moves();
    moves.sort_by(|a, b| a.0.total_cmp(&b.0));
    let expected = [(0.0, 0.5625), (1.0, 0.1875), (2.0, 0.1875), (3.0, 0.0625)];
    for ((distance, log), (wanted, probability)) in moves.into_iter().zip(expected) {
        assert!(distance == wanted && (libm::exp(log) - probability).abs() < 1e-12, "{distance}: {log}");
    }
}

#[test]
fn hiding_behind_the_sample_is_cheaper_for_one_row() {
    let bounded = occurrence_bounded(Occurrences::Poisson { rate: 0.1, rows_of_others: 0 }, 2.0).repeated(100.0);
    let sampled = crate::sampled_gaussians(0.1, 2.0, 100.0);
    assert!(sampled.epsilon(1e-5) < bounded.epsilon(1e-5));
}
