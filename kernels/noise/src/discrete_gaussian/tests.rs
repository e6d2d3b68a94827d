use rand::SeedableRng;
use rand::rngs::ChaCha20Rng;

use super::*;

/// The law at every point of `-reach..=reach`, normalized over all integers that matter.
fn law(sigma: f64, reach: i64) -> Vec<f64> {
    let density = |x: i64| (-(x as f64).powi(2) / (2.0 * sigma * sigma)).exp();
    let far = (12.0 * sigma).ceil() as i64;
    let sum: f64 = (-far..=far).map(density).sum();
    (-reach..=reach).map(|x| density(x) / sum).collect()
}

/// Chi-square against the exact law; false alarm about 1e-6 per sigma (Wilson-Hilferty, z = 4.75).
#[test]
fn discrete_gaussian_follows_its_law() {
    for sigma in [1_u64, 3, 20] {
        let (draws, reach) = (400_000, 3 * sigma as i64);
        let mut counts = vec![0_u32; 2 * reach as usize + 1];
        let mut beyond = 0_u32;
        let mut rng = ChaCha20Rng::seed_from_u64(13);
        for _ in 0..draws {
            match counts.get_mut((discrete_gaussian(Sigma(sigma), &mut rng) + reach) as usize) {
                Some(count) => *count += 1,
                None => beyond += 1,
            }
        }
        let expected = law(sigma as f64, reach);
        let rest = 1.0 - expected.iter().sum::<f64>();
        let cells = counts.iter().zip(&expected).map(|(&count, &share)| (count, share)).chain([(beyond, rest)]);
        let statistic: f64 = cells
            .map(|(count, share)| {
                let expected = f64::from(draws) * share;
                (f64::from(count) - expected).powi(2) / expected
            })
            .sum();
        let freedom = counts.len() as f64;
        let spread = 2.0 / (9.0 * freedom);
        let score = ((statistic / freedom).cbrt() - (1.0 - spread)) / spread.sqrt();
        assert!(score < 4.75, "σ {sigma}: χ² {statistic} with {freedom} degrees of freedom");
    }
}

/// Mean and variance at the largest σ: products that overflowed would show here. 4.5 standard deviations, twice.
#[test]
fn the_largest_sigma_has_its_variance() {
    let sigma = Sigma::at_least(Sigma::MOST as f64).expect("representable");
    let mut rng = ChaCha20Rng::seed_from_u64(17);
    let draws = 100_000;
    let scaled: Vec<f64> = (0..draws).map(|_| discrete_gaussian(sigma, &mut rng) as f64 / Sigma::MOST as f64).collect();
    let mean = scaled.iter().sum::<f64>() / f64::from(draws);
    let variance = scaled.iter().map(|x| x * x).sum::<f64>() / f64::from(draws);
    assert!(mean.abs() * f64::from(draws).sqrt() < 4.5, "mean {mean}");
    assert!((variance - 1.0).abs() * (f64::from(draws) / 2.0).sqrt() < 4.5, "variance {variance}");
}

/// Rényi divergence between the noise and the noise shifted by one step, from the exact law, against `order / (2 σ²)`.
#[test]
fn a_shift_costs_what_theorem_14_says() {
    let sigma = 4.0_f64;
    let density = law(sigma, 48);
    for order in [1.5, 2.0, 8.0] {
        let pairs = density.iter().zip(&density[1..]);
        let moment: f64 = pairs.map(|(p, q)| p.powf(order) * q.powf(1.0 - order)).sum();
        let divergence = moment.ln() / (order - 1.0);
        let claimed = order / (2.0 * sigma * sigma);
        assert!(divergence <= claimed + 1e-9 && divergence > claimed - 1e-6, "order {order}: {divergence}");
    }
}

#[test]
fn sigma_is_rounded_up_and_bounded() {
    assert_eq!(Sigma::at_least(2.1).map(Sigma::steps), Some(3));
    assert_eq!(Sigma::at_least(0.0).map(Sigma::steps), Some(1));
    assert_eq!(Sigma::at_least(2e7), None);
    assert_eq!(Sigma::at_least(f64::NAN), None);
}
