use rand::SeedableRng;
use rand::rngs::ChaCha20Rng;

use super::*;

/// Chi-square at 99.9 % for each of three bounds, so one in 300 seeds raises a false alarm; the seed is fixed.
#[test]
fn integers_below_a_bound_are_uniform() {
    let mut rng = ChaCha20Rng::seed_from_u64(5);
    for (bound, most) in [(1, 0.0), (6, 20.52), (9, 26.13)] {
        let (draws, mut counts) = (200_000, vec![0_u32; bound as usize]);
        for _ in 0..draws {
            counts[below(bound, &mut rng) as usize] += 1;
        }
        let expected = f64::from(draws) / bound as f64;
        let statistic: f64 = counts.iter().map(|&count| (f64::from(count) - expected).powi(2) / expected).sum();
        assert!(statistic <= most, "bound {bound}: χ² {statistic}");
    }
}

#[test]
fn events_at_the_ends_are_certain() {
    let mut rng = ChaCha20Rng::seed_from_u64(6);
    assert!((0..1000).all(|_| !bernoulli(0, &mut rng)));
    assert_eq!((probability(0), probability(1 << 63)), (0.0, 0.5));
}

/// A probability of one half is off by 4.5 standard deviations in one of 150,000 seeds.
#[test]
fn events_are_as_frequent_as_their_threshold_says() {
    let mut rng = ChaCha20Rng::seed_from_u64(7);
    for share in [0.5, 0.1, 0.9] {
        let threshold = threshold_at_least(share);
        let count = (0..400_000).filter(|_| bernoulli(threshold, &mut rng)).count() as f64;
        let score = (count - 400_000.0 * share) / (400_000.0 * share * (1.0 - share)).sqrt();
        assert!(score.abs() < 4.5, "{share}: {score} standard deviations");
    }
}

#[test]
fn a_threshold_is_never_below_its_probability() {
    for share in [1e-30, 1e-12, 0.1, 0.3, 0.5] {
        let found = probability(threshold_at_least(share));
        assert!(found >= share && found <= share * (1.0 + 1e-14) + 1e-19, "{found} for {share}");
    }
}
