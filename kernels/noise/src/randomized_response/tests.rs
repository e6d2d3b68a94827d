use rand::SeedableRng;
use rand::rngs::ChaCha20Rng;

use super::*;

fn noisy_list(n_nodes: usize, node: u32, neighbours: &[u32], epsilon: f64, rng: &mut ChaCha20Rng) -> Vec<u32> {
    RandomizedResponse::new(epsilon, n_nodes).noisy_list(node, neighbours, rng)
}

/// Exact cost of a threshold, `ln((2^64 - t) / t)`.
fn cost(threshold: u64) -> f64 {
    let t = threshold as f64 / 2.0_f64.powi(64);
    ((1.0 - t) / t).ln()
}

#[test]
fn the_cost_never_exceeds_the_budget() {
    for step in 1..=400 {
        let epsilon = f64::from(step) * 0.05;
        let short = epsilon - cost(threshold(epsilon));
        // The two logarithms are each off by a few ulp; the bound is the one in the documentation.
        assert!(short > -4e-15 * epsilon.max(1.0), "ε {epsilon}: {short}");
        assert!(short < 2.0_f64.powi(-48) * (1.0 + epsilon.cosh()) + 4e-15 * epsilon, "ε {epsilon}: {short}");
    }
}

#[test]
fn an_infinite_budget_keeps_the_list_and_a_null_one_hides_it() {
    let mut rng = ChaCha20Rng::seed_from_u64(1);
    assert_eq!(noisy_list(200, 3, &[0, 63, 64, 199], f64::INFINITY, &mut rng), [0, 63, 64, 199]);
    assert_eq!(threshold(0.0), 1 << 63);
}

#[test]
fn the_own_bit_is_never_set() {
    for (node, epsilon) in [0, 63, 64, 99].into_iter().flat_map(|node| [(node, 0.01), (node, 3.5)]) {
        let mut rng = ChaCha20Rng::seed_from_u64(u64::from(node));
        for _ in 0..50 {
            let ones = noisy_list(100, node, &[], epsilon, &mut rng);
            assert!(!ones.contains(&node) && ones.iter().all(|&one| one < 100), "{ones:?}");
            assert!(ones.is_sorted_by(|a, b| a < b));
        }
    }
}

/// False alarm 1e-9 per threshold: 6.1 standard deviations of a normal approximation.
#[test]
fn lanes_flip_as_often_as_they_should() {
    let mut rng = ChaCha20Rng::seed_from_u64(7);
    for epsilon in [0.1, 1.0, 3.6, 7.2] {
        let words = 200_000;
        let count: u32 = (0..words).map(|_| flips(threshold(epsilon), &mut rng).count_ones()).sum();
        let (n, p) = (64.0 * f64::from(words), flip_probability(epsilon));
        let score = (f64::from(count) - n * p) / (n * p * (1.0 - p)).sqrt();
        assert!(score.abs() < 6.1, "ε {epsilon}: {score} standard deviations");
    }
}

/// On a threshold of one high byte every lane must equal "a uniform byte lies below it", by enumeration.
#[test]
fn lanes_compare_words_with_the_threshold_exactly() {
    struct Bytes {
        level: u32,
    }
    // Lane `l` of round `r` sends bit `7 - r` of `l + offset`: 64 lanes enumerate 64 of the 256 bytes.
    impl rand::TryRng for Bytes {
        type Error = std::convert::Infallible;
        fn try_next_u32(&mut self) -> Result<u32, Self::Error> {
            unreachable!("flips draws 64-bit words")
        }
        fn try_next_u64(&mut self) -> Result<u64, Self::Error> {
            let (offset, round) = (self.level / 8 * 64, self.level % 8);
            self.level += 1;
            Ok((0..64).map(|lane| u64::from((lane + offset) >> (7 - round) & 1) << lane).sum())
        }
        fn try_fill_bytes(&mut self, _: &mut [u8]) -> Result<(), Self::Error> {
            unreachable!("flips draws 64-bit words")
        }
    }
    for byte in 1..=128_u64 {
        let mut below = 0;
        for offset in 0..4 {
            below += flips(byte << 56, &mut Bytes { level: offset * 8 }).count_ones();
        }
        assert_eq!(u64::from(below), byte, "threshold byte {byte}");
    }
}

/// Blocks flip every position as often as lanes do, also in a last block that is cut short.
/// False alarm 1e-9 per budget: a chi-square of 1,000 positions beyond 1,296 (Wilson and Hilferty), a
/// total beyond 6.1 standard deviations.
#[test]
fn blocks_flip_every_position_alike() {
    let mut rng = ChaCha20Rng::seed_from_u64(11);
    for epsilon in [3.5, 5.0, 7.2] {
        let mechanism = RandomizedResponse::new(epsilon, 1001);
        assert!(mechanism.blocks.is_some());
        let (lists, p) = ((100.0 / flip_probability(epsilon)) as usize, flip_probability(epsilon));
        let mut counts = vec![0_u32; 1001];
        for _ in 0..lists {
            // Node 1000 sends this list, so every bit below is noise; the links are flipped away.
            mechanism.noisy_list(1000, &[], &mut rng).iter().for_each(|&one| counts[one as usize] += 1);
        }
        assert_eq!(counts.pop(), Some(0));
        let variance = lists as f64 * p * (1.0 - p);
        let gaps: Vec<f64> = counts.iter().map(|&count| f64::from(count) - lists as f64 * p).collect();
        let chi_square: f64 = gaps.iter().map(|gap| gap * gap / variance).sum();
        assert!((740.0..1296.0).contains(&chi_square), "ε {epsilon}: chi-square {chi_square}");
        let score = gaps.iter().sum::<f64>() / (1000.0 * variance).sqrt();
        assert!(score.abs() < 6.1, "ε {epsilon}: {score} standard deviations");
    }
}

/// A flipped link vanishes and a flipped gap appears.
#[test]
fn flips_and_links_are_combined_by_exclusive_or() {
    let mechanism = RandomizedResponse::new(4.0, 500);
    let stream = || ChaCha20Rng::seed_from_u64(5);
    let flips = mechanism.noisy_list(499, &[], &mut stream());
    assert!(flips.len() > 3, "{flips:?}");
    let links = [flips[0], flips[0] + 1, flips[2], 498];
    let list = mechanism.noisy_list(499, &links, &mut stream());
    let expected: Vec<u32> = (0..499).filter(|one| flips.contains(one) != links.contains(one)).collect();
    assert_eq!(list, expected);
}

/// Blink's guarantee by enumeration, with the probability at which bits are flipped as executed: every output of 4 nodes, every
/// pair of lists that differ in one bit.
#[test]
fn the_worst_likelihood_ratio_is_e_to_epsilon() {
    let epsilon: f64 = 1.3;
    let flip = probability(threshold(epsilon));
    let likelihood = |list: u32, output: u32| {
        (0..3).map(|bit| if (list ^ output) >> bit & 1 == 1 { flip } else { 1.0 - flip }).product::<f64>()
    };
    let mut worst: f64 = 0.0;
    for list in 0..8 {
        for bit in 0..3 {
            for output in 0..8 {
                worst = worst.max((likelihood(list, output) / likelihood(list ^ 1 << bit, output)).ln());
            }
        }
    }
    assert!((worst - epsilon).abs() < 1e-12, "worst {worst}");
}
