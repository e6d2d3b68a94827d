use rand::SeedableRng;
use rand::rngs::ChaCha20Rng;
use veilgraph_privacy::count_noise::{CountNoise, DegreeNoise};

use super::*;

#[test]
fn running_sums_equal_direct_ones() {
    let from: Vec<f64> = (0..40).map(|k| f64::from(k * k) * 0.1 - 3.0).collect();
    let to: Vec<f64> = (0..30).map(|k| f64::from(k) * 4.7 - 20.0).chain([from[7], from[39]]).collect();
    let mut to = to;
    to.sort_unstable_by(f64::total_cmp);
    let weights: Vec<f64> = (0..40).map(|k| 1.0 + f64::from(k % 5)).collect();
    for epsilon in [0.1, 1.0, 30.0] {
        for (sum, point) in laplace_sums(&from, &weights, &to, epsilon).into_iter().zip(&to) {
            let direct: f64 = from.iter().zip(&weights).map(|(x, w)| w * (-epsilon * (point - x).abs()).exp()).sum();
            assert!((sum / direct - 1.0).abs() < 1e-12, "ε {epsilon}: {sum} {direct}");
        }
    }
}

/// Power-law degrees as in citation graphs, noise as large as the degrees: clipping doubles their sum, the
/// posterior mean does not, and its error is smaller. (Fixed seed; the margins are wide.)
#[test]
fn posterior_means_keep_the_sum_and_halve_the_error() {
    let degrees: Vec<usize> = (1..=3000).map(|rank| (60.0 / f64::from(rank).powf(0.45)).round() as usize).collect();
    for epsilon in [0.1, 0.2, 0.4] {
        let mut rng = ChaCha20Rng::seed_from_u64(3);
        let noise = CountNoise::new(epsilon, DegreeNoise::DiscreteLaplace, 1).expect("representable");
        let reports: Vec<f64> = degrees.iter().map(|&d| noise.add(d, &mut rng)).collect();
        let means = posterior_means(&reports, epsilon, 2998.0).means;
        let error = |guess: &dyn Fn(usize) -> f64| -> f64 {
            degrees.iter().enumerate().map(|(node, &d)| (guess(node) - d as f64).powi(2)).sum::<f64>().sqrt()
        };
        let (clipped, shrunk) = (error(&|node| reports[node].clamp(1.0, 2998.0)), error(&|node| means[node]));
        assert!(shrunk < 0.7 * clipped, "ε {epsilon}: error {shrunk}, clipped {clipped}");
        let (sum, truth) = (means.iter().sum::<f64>(), degrees.iter().sum::<usize>() as f64);
        // Three standard deviations of the sum of all noise.
        let spread = 3.0 * (2.0 * degrees.len() as f64).sqrt() / epsilon;
        assert!((sum - truth).abs() < spread, "ε {epsilon}: sum {sum} of {truth}");
        let clipped: f64 = reports.iter().map(|report| report.clamp(1.0, 2998.0)).sum();
        assert!(clipped - truth > spread, "ε {epsilon}: clipped to a sum of {clipped}");
    }
}

#[test]
fn without_noise_the_report_is_the_degree() {
    assert_eq!(posterior_means(&[3.0, 0.0, 7.0], f64::INFINITY, 8.0).means, [3.0, 0.0, 7.0]);
    let sharp = posterior_means(&[3.0, 1.0, 7.0, 7.0], 30.0, 8.0).means;
    assert!(sharp.iter().zip([3.0, 1.0, 7.0, 7.0]).all(|(mean, degree)| (mean - degree).abs() < 1e-6), "{sharp:?}");
}

/// A report beyond all degrees says that the degree is small or large, and no more, however far beyond it lies.
#[test]
fn a_forged_report_tells_of_its_own_node_alone() {
    let honest: Vec<f64> = (0..40).map(|node| f64::from(node % 7)).collect();
    let usual = |reports: &[f64]| posterior_means(reports, 3.6, 38.0);
    for forged in [-1e3, -5e3, -9.3e18, 5e3, 9.3e18] {
        let Estimates { means, squared_variation } = usual(&[&honest[..], &[forged]].concat());
        let near = usual(&[&honest[..], &[forged.clamp(-1.0, 40.0)]].concat());
        assert!(squared_variation.is_finite());
        let farthest = means.iter().zip(&near.means).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(means.iter().all(|mean| mean.is_finite()) && farthest < 1e-6, "{forged}: {farthest}");
    }
}
