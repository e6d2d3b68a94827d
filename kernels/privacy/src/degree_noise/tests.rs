use rand::SeedableRng;
use rand::rngs::ChaCha20Rng;

use super::*;

/// Chi-square against the exact law; false alarm about 1e-6 per rate (Wilson-Hilferty, z = 4.75).
#[test]
fn discrete_laplace_follows_its_law() {
    for epsilon in [0.1, 0.5, 1.0, 4.0] {
        let rate = Rate::at_most(epsilon).expect("representable");
        let decay = (-rate.nats()).exp();
        let (draws, reach) = (400_000, (3.0 / epsilon).ceil() as i64);
        let mut counts = vec![0_u32; 2 * reach as usize + 3];
        let mut rng = ChaCha20Rng::seed_from_u64(11);
        for _ in 0..draws {
            let draw = discrete_laplace(rate, &mut rng).clamp(-reach - 1, reach + 1);
            counts[(draw + reach + 1) as usize] += 1;
        }
        let mass = |x: i64| (1.0 - decay) / (1.0 + decay) * decay.powi(x.unsigned_abs() as i32);
        let tail = decay.powi(reach as i32 + 1) / (1.0 + decay);
        let statistic: f64 = (-reach - 1..=reach + 1)
            .map(|x| {
                let expected = f64::from(draws) * if x.abs() > reach { tail } else { mass(x) };
                (f64::from(counts[(x + reach + 1) as usize]) - expected).powi(2) / expected
            })
            .sum();
        let freedom = (counts.len() - 1) as f64;
        let spread = 2.0 / (9.0 * freedom);
        let score = ((statistic / freedom).cbrt() - (1.0 - spread)) / spread.sqrt();
        assert!(score < 4.75, "ε {epsilon}: χ² {statistic} with {freedom} degrees of freedom");
    }
}

#[test]
fn the_rate_is_rounded_down() {
    for epsilon in [0.1, 0.3, 0.7, 1.0, 2.3] {
        let rate = Rate::at_most(epsilon).expect("representable").nats();
        assert!(rate <= epsilon && epsilon - rate < 1e-6, "{rate} for {epsilon}");
    }
    assert_eq!(Rate::at_most(1e-9), None);
    assert_eq!(Rate::at_most(f64::INFINITY), None);
}

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
