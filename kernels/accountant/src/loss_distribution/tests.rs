use super::*;
use crate::{Composition, Step, sampled_gaussians};

/// Standard normal distribution function.
fn normal(x: f64) -> f64 {
    0.5 * libm::erfc(-x / std::f64::consts::SQRT_2)
}

/// The delta of a Gaussian whose means are `shift` standard deviations apart (Balle, Wang 2018, theorem 8).
fn delta_of_gaussian(shift: f64, epsilon: f64) -> f64 {
    normal(shift / 2.0 - epsilon / shift) - libm::exp(epsilon) * normal(-shift / 2.0 - epsilon / shift)
}

fn gaussians(noise_multiplier: f64, times: f64) -> Composition {
    Composition::of(Step::Gaussian { noise_multiplier }, times)
}

/// Many Gaussian steps are one, of which everything is known.
#[test]
fn many_gaussian_steps_cost_what_one_costs() {
    for (noise, times, dp_delta) in [(10.0, 60.0, 1e-5), (4.0, 1.0, 1e-6), (60.0, 5000.0, 1e-9), (1.0, 20.0, 1e-3)] {
        let epsilon = gaussians(noise, times).epsilon(dp_delta);
        let shift = f64::sqrt(times) / noise;
        let exact = delta_of_gaussian(shift, epsilon);
        assert!(exact <= dp_delta, "{noise} {times}: {exact} at {epsilon}");
        // Half a per cent less would be too little.
        assert!(delta_of_gaussian(shift, 0.995 * epsilon) > dp_delta, "{noise} {times}: {epsilon} is too much");
    }
}

/// The distribution tells less than the divergences, and never less than holds.
#[test]
fn it_is_closer_than_divergences() {
    for rate in [0.01, 0.2, 0.9] {
        let steps = Composition::of(Step::SampledGaussian { rate, noise_multiplier: 2.0 }, 400.0);
        let (epsilon, known) = (steps.epsilon(1e-5), sampled_gaussians(rate, 2.0, 400.0).epsilon(1e-5));
        assert!(epsilon < 0.98 * known && epsilon > 0.6 * known, "{rate}: {epsilon} {known}");
    }
}

/// Figures of dp-accounting 0.6.0 (`from_gaussian_mechanism`, connected dots, loss interval 1e-4), which `docs/benchmarks/accountant.py`
/// compares with ours over 50 settings.
#[test]
fn sampled_steps_cost_what_a_published_accountant_says() {
    for (rate, noise_multiplier, times, dp_delta, published) in PUBLISHED {
        let epsilon = Composition::of(Step::SampledGaussian { rate, noise_multiplier }, times).epsilon(dp_delta);
        assert!((epsilon / published - 1.0).abs() < 2e-3, "{rate} {noise_multiplier}: {epsilon} {published}");
    }
}

const PUBLISHED: [(f64, f64, f64, f64, f64); 5] = [
    (0.01, 1.0, 2000.0, 1e-6, 2.955_257_993_916_816),
    (0.1, 2.0, 400.0, 1e-5, 4.902_888_320_367_546),
    (0.5, 6.0, 300.0, 1e-5, 6.824_676_324_909_621),
    (0.003, 0.7, 5000.0, 1e-7, 3.929_391_948_691_043_4),
    (0.25, 20.0, 1000.0, 1e-4, 1.301_955_791_874_037_6),
];

/// By direct summation over the number of sampled rows: one step of one coin, told openly.
#[test]
fn a_step_whose_sample_is_told_is_a_mixture() {
    let (rate, noise, dp_delta) = (0.3, 1.5, 1e-4);
    let occurrences = crate::Occurrences::Poisson { rate, rows_of_others: 1 };
    let steps = Composition::of(Step::OccurrenceBounded { occurrences, noise_multiplier: noise }, 1.0);
    let epsilon = steps.epsilon(dp_delta);
    let delta = |epsilon: f64| {
        let both = [(rate * (1.0 - rate), 1.0), ((1.0 - rate) * rate, 2.0), (rate * rate, 3.0)];
        both.iter().map(|(probability, moves)| probability * delta_of_gaussian(moves / noise, epsilon)).sum::<f64>()
    };
    assert!(delta(epsilon) <= dp_delta && delta(0.995 * epsilon) > dp_delta, "{epsilon}: {}", delta(epsilon));
}

/// Every mass of a pair goes somewhere, whatever the grid.
#[test]
fn no_probability_is_lost() {
    for pair in [
        Pair::Gaussian { shift: 0.7 },
        Pair::Removed { rate: 0.2, shift: 1.3 },
        Pair::Added { rate: 0.2, shift: 1.3 },
        Pair::Removed { rate: 1e-6, shift: 8.0 },
    ] {
        for step in [1e-3, 0.1] {
            let mut masses = vec![0.0; 4096];
            let open = pair.add_to(&mut masses, -2048, step, 0.5);
            let sum: f64 = open + masses.iter().sum::<f64>();
            assert!((sum - 0.5).abs() < 1e-12 && masses.iter().all(|mass| *mass >= 0.0), "{pair:?} {step}: {sum}");
        }
    }
}
