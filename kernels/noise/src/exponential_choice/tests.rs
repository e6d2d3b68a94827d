use rand::SeedableRng;
use rand::rngs::ChaCha8Rng;

use super::*;

/// Two of five, in both orders: the law of choosing one after the other. A false alarm comes once in 10,000 seeds, and the
/// seed is fixed.
#[test]
fn pairs_are_chosen_as_the_exponential_mechanism_says() {
    let scores = [0, STEPS / 4, STEPS / 2, STEPS, STEPS];
    let range = Range::at_most(2.0).expect("a range");
    let weights: Vec<f64> = scores.iter().map(|&score| (2.0 * f64::from(score) / f64::from(STEPS)).exp()).collect();
    let total: f64 = weights.iter().sum();
    let n = 200_000;
    let mut counts = [[0_u32; 5]; 5];
    let mut rng = ChaCha8Rng::seed_from_u64(5);
    for _ in 0..n {
        let pair = choose(&scores, 2, range, &mut rng);
        counts[pair[0]][pair[1]] += 1;
    }
    let mut chi_square = 0.0;
    for (first, row) in counts.iter().enumerate() {
        assert_eq!(row[first], 0);
        for (second, &count) in row.iter().enumerate().filter(|entry| entry.0 != first) {
            let probability = weights[first] / total * weights[second] / (total - weights[first]);
            let expected = f64::from(n) * probability;
            chi_square += (f64::from(count) - expected).powi(2) / expected;
        }
    }
    // 20 cells leave 19 degrees of freedom: 54.3 is exceeded once in 30,000 times, 50.8 once in 10,000.
    assert!(chi_square < 50.8, "{chi_square}");
}

#[test]
fn a_range_is_never_above_what_was_asked_for() {
    assert!(Range::at_most(0.3).expect("a range").nats() <= 0.3);
    assert!(Range::at_most(14.1).is_none() && Range::at_most(-1.0).is_none() && Range::at_most(f64::NAN).is_none());
}

#[test]
fn all_can_be_chosen() {
    let range = Range::at_most(14.0).expect("a range");
    let mut all = choose(&[0, STEPS, 3], 3, range, &mut ChaCha8Rng::seed_from_u64(1));
    all.sort_unstable();
    assert_eq!(all, [0, 1, 2]);
}
