use super::*;

fn approximate(epsilon: f64, dp_delta: f64, rdp: &[(f64, f64)]) -> Cost {
    Cost::Approximate { epsilon, dp_delta, rdp: rdp.to_vec() }
}

#[test]
fn pure_costs_add_by_relation() {
    let degree = releases_of_lists(Subject::Degrees, "discrete-laplace noise", 0.5, true, 2.0);
    let lists = releases_of_lists(Subject::Links, "randomized response", 1.5, true, 2.0);
    let all = totals(degree.iter().chain(&lists));
    assert_eq!(all[&Relation::ListBit], Cost::Pure(2.0));
    assert_eq!(all[&Relation::Edge], Cost::Pure(4.0));
    assert_eq!(total_epsilon(&lists, Relation::Label), 0.0, "nothing is stated for labels");
    assert!(releases_of_lists(Subject::Links, "none", 0.0, true, 2.0).is_empty());
}

/// What protects whole nodes protects their own data, but not the other way round.
#[test]
fn a_cost_of_whole_nodes_counts_for_their_own_data_too() {
    let model = |relation, epsilon| Release {
        noise: "gaussian noise".to_owned(),
        subject: Subject::Model,
        trust: Trust::Central,
        relation,
        cost: Cost::Pure(epsilon),
        sound: true,
        claimed_epsilon: None,
        why: String::new(),
    };
    let (node, own_data) = (model(Relation::Node, 2.0), model(Relation::OwnData, 0.5));
    let all = totals([&node, &own_data]);
    assert_eq!((&all[&Relation::Node], &all[&Relation::OwnData]), (&Cost::Pure(2.0), &Cost::Pure(2.5)));
    assert_eq!(totals([&node]).len(), 1, "no relation is added that no release is stated for");
}

/// A Gaussian mechanism with noise multiplier 1 has the curve `(order, order / 2)`: k of them have k times the curve,
/// which costs less than k times the epsilon.
#[test]
fn curves_cost_less_together_than_one_by_one() {
    let orders: Vec<(f64, f64)> = (2..200).map(|order| (f64::from(order), f64::from(order) / 2.0)).collect();
    let once = epsilon_of_rdp(&orders, 1e-5).expect("a curve");
    let one = approximate(once, 1e-5, &orders);
    let mut all = one.clone();
    for _ in 1..16 {
        all = compose(&all, &one);
    }
    assert!((all.dp_delta() - 16e-5).abs() < 1e-12);
    assert!(all.epsilon() < 16.0 * once / 2.0, "{} for 16 times {once}", all.epsilon());
    let scaled: Vec<(f64, f64)> = orders.iter().map(|&(order, cost)| (order, 16.0 * cost)).collect();
    assert!((all.epsilon() - epsilon_of_rdp(&scaled, 16e-5).expect("a curve")).abs() < 1e-12);
}

#[test]
fn a_pure_cost_joins_a_curve_and_never_costs_more_than_its_epsilon() {
    let gauss = approximate(3.0, 1e-6, &[(2.0, 0.1), (8.0, 0.4), (64.0, 3.2)]);
    let both = compose(&gauss, &Cost::Pure(0.2));
    assert!(both.epsilon() <= 3.2 && both.dp_delta() == 1e-6);
    let Cost::Approximate { rdp, .. } = both else { panic!("it has a delta") };
    assert!((rdp[0].1 - 0.14).abs() < 1e-12, "2 · 0.2² / 2 is added at order 2");
    assert!((rdp[2].1 - 3.4).abs() < 1e-12, "0.2 is added at order 64, not 1.28");
}

#[test]
fn curves_of_other_orders_are_summed_as_epsilons() {
    let (a, b) = (approximate(1.0, 1e-6, &[(2.0, 0.1)]), approximate(2.0, 1e-6, &[(3.0, 0.1)]));
    assert_eq!(compose(&a, &b), approximate(3.0, 2e-6, &[]));
    assert_eq!(epsilon_of_rdp(&[(2.0, 0.1)], 0.0), None);
}

#[test]
fn a_group_costs_as_many_steps_as_it_has() {
    assert_eq!(of_group(0.5, 4.0), 2.0);
    assert_eq!(of_group(0.0, f64::INFINITY), 0.0);
}

/// Curves at different orders add at those that both have, which bounds the cost more tightly than the sum of epsilons.
#[test]
fn curves_add_at_the_orders_that_both_have() {
    let curve = |orders: &[f64]| orders.iter().map(|&order| (order, order / 50.0)).collect::<Vec<_>>();
    let (a, b) = (curve(&[2.0, 4.0, 8.0, 16.0, 32.0]), curve(&[3.0, 4.0, 16.0, 20.0, 32.0]));
    let [epsilon_a, epsilon_b] = [&a, &b].map(|curve| epsilon_of_rdp(curve, 1e-6).expect("a curve"));
    let both = compose(&approximate(epsilon_a, 1e-6, &a), &approximate(epsilon_b, 1e-6, &b));
    let Cost::Approximate { epsilon, rdp, .. } = both else { panic!("it has a delta") };
    assert_eq!(rdp, [(4.0, 8.0 / 50.0), (16.0, 32.0 / 50.0), (32.0, 64.0 / 50.0)]);
    assert!(epsilon < epsilon_a + epsilon_b, "{epsilon}");
}
