use super::*;
use crate::least_noise;

#[test]
fn what_is_known_by_divergences_alone_keeps_them() {
    let curve = Curve::gaussian(3.0);
    let steps = Composition::of(Step::Divergences(curve.clone()), 2.0);
    assert_eq!(steps.epsilon(1e-5), curve.repeated(2.0).epsilon(1e-5));
    // Beside steps whose loss is known, all are counted by their divergences.
    let both = steps.clone().and(Composition::of(Step::Gaussian { noise_multiplier: 4.0 }, 10.0));
    assert_eq!(both.epsilon(1e-5), both.curve().epsilon(1e-5));
}

#[test]
fn less_noise_keeps_a_budget_than_divergences_ask_for() {
    for (rate, times, ratio) in [(1.0, 60.0, 0.928), (0.1, 300.0, 0.95)] {
        let budget = Budget { epsilon: 2.0, dp_delta: 1e-5 };
        let steps = |noise_multiplier: f64| Composition::of(Step::SampledGaussian { rate, noise_multiplier }, times);
        let noise = least_noise(budget, steps).expect("a noise");
        let by_divergences = least_noise(budget, |noise| steps(noise).curve()).expect("a noise");
        assert!((noise / by_divergences / ratio - 1.0).abs() < 0.03, "{rate}: {noise} {by_divergences}");
        assert!(steps(noise).epsilon(1e-5) <= 2.0 && steps(0.999 * noise).epsilon(1e-5) > 2.0);
    }
}

#[test]
fn nothing_and_no_noise_are_the_ends() {
    let steps =
        |rate: f64, noise_multiplier: f64| Composition::of(Step::SampledGaussian { rate, noise_multiplier }, 9.0);
    assert_eq!(steps(0.0, 1.0).epsilon(1e-5), 0.0);
    assert_eq!(steps(0.5, 0.0).epsilon(1e-5), f64::INFINITY);
}

/// The ledger's row has the smaller epsilon and keeps the divergences, by which it composes with other rows.
#[test]
fn the_cost_keeps_the_divergences() {
    let steps = Composition::of(Step::Gaussian { noise_multiplier: 5.0 }, 10.0);
    let Cost::Approximate { epsilon, dp_delta, rdp } = steps.cost(1e-6) else { panic!("no pure cost") };
    assert!(dp_delta == 1e-6 && epsilon == steps.epsilon(1e-6) && epsilon < steps.curve().epsilon(1e-6));
    assert!(!rdp.is_empty());
}
