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
    assert_eq!(noisy_degree(17, f64::INFINITY, DegreeNoise::DiscreteLaplace, &mut rng), Ok(17.0));
    assert!(noisy_degree(17, 1e-9, DegreeNoise::DiscreteLaplace, &mut rng).is_err());
}
