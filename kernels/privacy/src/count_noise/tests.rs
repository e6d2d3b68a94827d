use rand::SeedableRng;
use rand::rngs::ChaCha20Rng;

use super::*;

/// Mean absolute value of Laplace noise is its scale; false alarm 1e-9 (6.1 standard errors).
#[test]
fn continuous_noise_has_its_scale() {
    let mut rng = ChaCha20Rng::seed_from_u64(5);
    let draws = 200_000;
    let mean = (0..draws).map(|_| laplace(2.0, &mut rng).abs()).sum::<f64>() / f64::from(draws);
    assert!((mean - 2.0).abs() < 6.1 * 2.0 / f64::from(draws).sqrt(), "{mean}");
}

#[test]
fn an_infinite_budget_sends_the_degree() {
    let mut rng = ChaCha20Rng::seed_from_u64(5);
    let noise = CountNoise::new(f64::INFINITY, DegreeNoise::DiscreteLaplace, 1).expect("none");
    assert_eq!(noise.add(17, &mut rng), 17.0);
}

/// The error names the range that holds for noise in these steps.
#[test]
fn a_budget_out_of_range_is_told_the_range() {
    for (steps, outside, range) in
        [(1, 1e-9, "[0.00000095367431640625, 2048]"), (1024, 5e-4, "[0.0009765625, 2097152]")]
    {
        let error = CountNoise::new(outside, DegreeNoise::DiscreteLaplace, steps).expect_err("too small").to_string();
        assert!(error.contains(range), "{error}");
        let [least, most] = Rate::COARSE_RANGE.map(|rate| rate * steps as f64);
        for epsilon in [least, most] {
            assert!(CountNoise::new(epsilon, DegreeNoise::DiscreteLaplace, steps).is_ok(), "{epsilon}");
        }
        for epsilon in [least * 0.999, most * 1.001] {
            assert!(CountNoise::new(epsilon, DegreeNoise::DiscreteLaplace, steps).is_err(), "{epsilon}");
        }
    }
}
