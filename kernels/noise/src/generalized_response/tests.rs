use rand::SeedableRng;
use rand::rngs::ChaCha20Rng;

use super::*;

#[test]
fn a_class_costs_its_budget_and_no_more() {
    for (epsilon, n_classes) in [(0.01, 2), (0.5, 2), (1.0, 7), (5.0, 10), (30.0, 3)] {
        let response = GeneralizedResponse::new(epsilon, n_classes).expect("classes");
        let truth = response.truth_probability();
        // The probability of another class is read off the threshold: 1 - truth loses digits at large budgets.
        let other = response.other as f64 / WORDS / (n_classes - 1) as f64;
        let cost = (truth / other).ln();
        assert!(cost <= epsilon + 1e-9 && cost > epsilon - 1e-6, "ε {epsilon}, {n_classes} classes: {cost}");
    }
}

/// Chi-square of every row of the transition matrix, 99.9 % with four degrees of freedom: 18.47. Of ten rows and budgets
/// one in a hundred seeds raises a false alarm; the seed is fixed.
#[test]
fn classes_change_as_often_as_they_should() {
    let mut rng = ChaCha20Rng::seed_from_u64(41);
    for epsilon in [0.5, 2.0] {
        let response = GeneralizedResponse::new(epsilon, 5).expect("classes");
        for class in 0..5_u16 {
            let (draws, mut counts) = (200_000, [0_u32; 5]);
            (0..draws).for_each(|_| counts[usize::from(response.respond(class, &mut rng))] += 1);
            let of = |sent: u16| if sent == class { epsilon.exp() } else { 1.0 } / (epsilon.exp() + 4.0);
            let statistic: f64 = (0..5_u16)
                .map(|sent| {
                    let expected = f64::from(draws) * of(sent);
                    (f64::from(counts[usize::from(sent)]) - expected).powi(2) / expected
                })
                .sum();
            assert!(statistic < 18.47, "ε {epsilon}, class {class}: χ² {statistic}");
        }
    }
}

#[test]
fn an_infinite_budget_sends_the_class_and_one_class_is_refused() {
    let mut rng = ChaCha20Rng::seed_from_u64(1);
    let response = GeneralizedResponse::new(f64::INFINITY, 3).expect("classes");
    assert_eq!([0, 1, 2].map(|class| response.respond(class, &mut rng)), [0, 1, 2]);
    assert_eq!(response.truth_probability(), 1.0);
    assert_eq!(GeneralizedResponse::new(1.0, 1), None);
}

/// Where a response is made, the truth is likelier than another class by no more than the budget allows, in exact integers: of the
/// words, `other` are shared by the other classes.
#[test]
fn budgets_next_to_nothing_are_kept_or_refused() {
    for n_classes in [2_usize, 3, 7, 19, 65_535] {
        assert_eq!(GeneralizedResponse::new(1e-18, n_classes), None, "{n_classes} classes");
        let mut is_made = false;
        for epsilon in [1e-15, 1e-14, 1e-13, 1e-12, 1e-10, 1e-8] {
            let Some(response) = GeneralizedResponse::new(epsilon, n_classes) else {
                assert!(!is_made, "{n_classes} classes, {epsilon}: a larger budget than one that was enough");
                continue;
            };
            is_made = true;
            let others = n_classes as u128 - 1;
            let truth = (1_u128 << 64) - u128::from(response.other);
            // truth / (other / others) - 1, without a difference of rounded numbers.
            let excess = (truth * others) as i128 - i128::from(response.other);
            let cost = excess as f64 / response.other as f64;
            assert!(cost > 0.0 && cost <= epsilon, "{n_classes} classes, {epsilon}: {cost}");
        }
        assert!(is_made, "{n_classes} classes");
    }
}
