use super::*;

/// The budget is spent, but never exceeded, over five orders of magnitude.
#[test]
fn the_calibrated_noise_costs_the_budget_and_no_more() {
    for dp_delta in [1e-10, 1e-5] {
        for epsilon in [0.001, 0.01, 0.1, 1.0, 10.0, 100.0] {
            let rho = concentrated_within(epsilon, dp_delta).expect("a budget");
            let found = epsilon_of_rdp(&curve_of_concentrated(rho), dp_delta).expect("a curve");
            assert!(found <= epsilon && found > epsilon * (1.0 - 1e-6), "ε {epsilon}, δ {dp_delta}: {found}");
        }
    }
}

/// The simple conversion of Bun and Steinke (2016), proposition 1.3: `ε = ρ + 2 √(ρ ln(1/δ))`. Ours may only be better,
/// and by little, since it looks at the best order alone and at 85 of them.
#[test]
fn the_conversion_is_at_least_as_good_as_the_textbook_one() {
    for epsilon in [0.01, 0.5, 1.0, 5.0_f64] {
        let log = 1e10_f64.ln();
        let textbook = ((log + epsilon).sqrt() - log.sqrt()).powi(2);
        let rho = concentrated_within(epsilon, 1e-10).expect("a budget");
        assert!(rho > textbook && rho < 1.7 * textbook, "ε {epsilon}: {rho}, textbook {textbook}");
    }
}

#[test]
fn budgets_without_a_delta_are_refused() {
    assert_eq!(concentrated_within(1.0, 0.0), None);
    assert_eq!(concentrated_within(1.0, 1.0), None);
    assert_eq!(concentrated_within(f64::INFINITY, 1e-5), None);
    assert_eq!(concentrated_within(0.0, 1e-5), None);
}
