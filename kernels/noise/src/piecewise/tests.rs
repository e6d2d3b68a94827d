use rand::SeedableRng;
use rand::rngs::ChaCha20Rng;

use super::*;

/// Every point of the grid and every pair of centres: probabilities add up, and no ratio exceeds the budget.
#[test]
fn a_point_costs_its_budget_and_no_more() {
    for epsilon in [0.01, 0.5, 1.0, 5.0] {
        let mechanism = Piecewise::on_grid(epsilon, 60).expect("representable");
        let largest = mechanism.largest_centre();
        let mut worst = 0.0_f64;
        for centre in -largest..=largest {
            let law = |point| mechanism.probability(centre, point);
            let (sum, mean) = (-60..=60_i64)
                .fold((0.0, 0.0), |(sum, mean), point| (sum + law(point), mean + law(point) * point as f64));
            assert!((sum - 1.0).abs() < 1e-12, "ε {epsilon}, centre {centre}: {sum}");
            let expected = mechanism.gain() * centre as f64;
            assert!((mean - expected).abs() < 1e-9, "ε {epsilon}, centre {centre}: {mean} for {expected}");
            for other in -largest..=largest {
                let ratios = (-60..=60).map(|point| (law(point) / mechanism.probability(other, point)).ln());
                worst = ratios.fold(worst, f64::max);
            }
        }
        assert!(worst <= epsilon + 1e-9 && worst > epsilon - 1e-6, "ε {epsilon}: {worst}");
    }
}

/// The finest grid: the two probabilities of its points are at the budget.
#[test]
fn the_finest_grid_costs_its_budget_too() {
    for epsilon in [0.001, 1.0, 20.0, 50.0] {
        let [inside, outside] = Piecewise::new(epsilon).expect("representable").point_probabilities();
        let cost = (inside / outside).ln();
        assert!(cost <= epsilon + 1e-9 && cost > epsilon - 1e-3, "ε {epsilon}: {cost}");
    }
}

/// Chi-square over the 21 points of a grid at 99.9 %: 45.31 with 20 degrees of freedom, three centres.
#[test]
fn points_are_drawn_as_often_as_they_should() {
    let mechanism = Piecewise::on_grid(2.0, 10).expect("representable");
    let mut rng = ChaCha20Rng::seed_from_u64(43);
    for centre in [-mechanism.largest_centre(), 0, 3] {
        let (draws, mut counts) = (200_000, [0_u32; 21]);
        (0..draws).for_each(|_| counts[(mechanism.draw(centre, &mut rng) + 10) as usize] += 1);
        let statistic: f64 = (-10..=10)
            .map(|point| {
                let expected = f64::from(draws) * mechanism.probability(centre, point);
                (f64::from(counts[(point + 10) as usize]) - expected).powi(2) / expected
            })
            .sum();
        assert!(statistic < 45.31, "centre {centre}: χ² {statistic}");
    }
}

/// Variance of the rectified message on the fine grid, in closed form, against that of the continuous mechanism
/// (Sajadmanesh, Gatica-Perez 2020, equation 25 for a range of length 2): less than 0.1 % apart.
#[test]
fn the_fine_grid_has_the_variance_of_the_continuous_mechanism() {
    for epsilon in [0.01, 0.5, 1.0, 5.0, 20.0_f64] {
        let mechanism = Piecewise::new(epsilon).expect("representable");
        let largest = mechanism.largest_centre() as f64;
        for share in [0.0, 0.5, 1.0] {
            let centre = libm::round(share * largest);
            let [inside, outside] = mechanism.point_probabilities();
            // Σ x² over n consecutive points around c is n c² + n (n² - 1) / 12.
            let squares = |centre: f64, n: f64| n * centre * centre + n * (n * n - 1.0) / 12.0;
            let (window, all) = (mechanism.window() as f64, (2 * mechanism.half_width + 1) as f64);
            let second = (inside - outside) * squares(centre, window) + outside * squares(0.0, all);
            let unit = largest * mechanism.gain();
            let variance = second / (unit * unit) - share * share;
            let root = (epsilon / 2.0).exp_m1();
            let continuous = share * share / root + (root + 4.0) / (3.0 * root * root);
            assert!((variance / continuous - 1.0).abs() < 1e-3, "ε {epsilon}, {share}: {variance} for {continuous}");
        }
    }
}

#[test]
fn budgets_that_move_nothing_are_refused() {
    assert_eq!(Piecewise::new(0.0), None);
    assert_eq!(Piecewise::new(f64::INFINITY), None);
    assert_eq!(Piecewise::on_grid(1.0, 0), None);
    assert!(Piecewise::new(1e6).is_some(), "a larger budget is not spent in full");
}
