use super::*;

fn split(epsilon: f64, fraction: f64) -> Budget {
    Epsilon::try_from(epsilon).expect("epsilon").split(DegreeFraction::try_from(fraction).expect("fraction"))
}

#[test]
fn the_parts_add_up() {
    for epsilon in [0.1, 1.0, 8.0] {
        for fraction in [0.0, 0.1, 0.5, 1.0] {
            let budget = split(epsilon, fraction);
            assert!((budget.links + budget.degree - epsilon).abs() < 1e-15, "{budget:?}");
        }
    }
}

#[test]
fn degenerate_splits_are_exact() {
    assert_eq!(split(2.0, 0.0), Budget { links: 2.0, degree: 0.0 });
    assert_eq!(split(2.0, 1.0), Budget { links: 0.0, degree: 2.0 });
    assert_eq!(split(f64::INFINITY, 0.0), Budget { links: f64::INFINITY, degree: 0.0 });
    assert_eq!(split(f64::INFINITY, 0.5), Budget { links: f64::INFINITY, degree: f64::INFINITY });
    assert_eq!(split(f64::INFINITY, 1.0), Budget { links: 0.0, degree: f64::INFINITY });
}

#[test]
fn wrong_budgets_cannot_be_built() {
    for nats in [0.0, -1.0, f64::NAN, f64::NEG_INFINITY] {
        assert!(Epsilon::try_from(nats).is_err(), "{nats}");
    }
    for share in [-0.1, 1.1, f64::NAN] {
        assert!(DegreeFraction::try_from(share).is_err(), "{share}");
    }
}

/// The rule is public: budget in, share out.
#[test]
fn the_automatic_share_spends_a_fifth_of_a_nat() {
    for (epsilon, share) in [(0.1, 0.35), (1.0, 0.2), (2.0, 0.1), (8.0, 0.025)] {
        let epsilon = Epsilon::try_from(epsilon).expect("positive");
        assert!((DegreeFraction::AUTO.share(epsilon, None) - share).abs() < 1e-12);
        let budget = epsilon.split(DegreeFraction::AUTO);
        assert!((budget.links + budget.degree - epsilon.nats()).abs() < 1e-12);
    }
    let unbounded = Epsilon::try_from(f64::INFINITY).expect("no privacy").split(DegreeFraction::AUTO);
    assert_eq!((unbounded.links, unbounded.degree), (f64::INFINITY, 0.0), "nothing is left to spend");
}

/// Budgets at which bits alone were better, and worse, on Cora, LastFM and `PubMed`; and without the number of nodes.
#[test]
fn a_larger_graph_reports_degrees_up_to_a_larger_budget() {
    let cases = [
        (Some(2_708), 1.8, true),
        (Some(2_708), 2.0, false),
        (Some(7_624), 2.0, true),
        (Some(7_624), 3.0, false),
        (Some(19_717), 2.5, true),
        (Some(19_717), 3.0, false),
        (None, 2.9, true),
        (None, 3.1, false),
    ];
    for (n_nodes, epsilon, reports_degrees) in cases {
        let epsilon = Epsilon::try_from(epsilon).expect("positive");
        let share = if reports_degrees { 0.2 / epsilon.nats() } else { 0.0 };
        let chosen = DegreeFraction::AUTO_WITH_BITS.share(epsilon, n_nodes);
        assert!((chosen - share).abs() < 1e-12, "{n_nodes:?} {epsilon}: {chosen}");
    }
}
