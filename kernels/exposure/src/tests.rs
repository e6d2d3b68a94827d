use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};

use super::*;

fn model(nodes: u64, mean_degree: f64, degree_spread: f64) -> DegreeModel {
    DegreeModel::new(PublicKnowledge { nodes, mean_degree, degree_spread }).expect("a graph can be so")
}

/// Two noisy bits of a pair, and a noisy degree if it costs anything.
fn two_bits(links: f64, degree: f64) -> Signal {
    let bit = Observation { law: Law::RandomizedResponse, epsilon: links };
    Signal { pair: vec![bit; 2], degrees: if degree > 0.0 { vec![degree] } else { Vec::new() }, knows_degrees: false }
}

/// Shares of outcomes are probabilities, their odds are what they say, and none moves odds by more than what the looks
/// cost together.
#[test]
fn outcomes_are_probabilities_within_the_budget() {
    for law in [Law::RandomizedResponse, Law::Laplace] {
        for epsilon in [0.1, 1.0, 4.0, 12.0] {
            for looks in 1..=4 {
                let outcomes =
                    Signal { pair: vec![Observation { law, epsilon }; looks], ..Signal::default() }.outcomes();
                let sum = |of: fn(&signal::Outcome) -> f64| outcomes.iter().map(of).sum::<f64>();
                assert!((sum(|seen| seen.if_linked) - 1.0).abs() < 1e-12, "{law:?} {epsilon}");
                assert!((sum(|seen| seen.if_not) - 1.0).abs() < 1e-12, "{law:?} {epsilon}");
                let most = looks as f64 * epsilon;
                for seen in &outcomes {
                    assert!(seen.nats.abs() <= most + 1e-9, "{law:?}: {} of {most} nats", seen.nats);
                    let odds = libm::log(seen.if_linked / seen.if_not);
                    assert!((odds - seen.nats).abs() < 1e-9, "{law:?}: {odds} is not {}", seen.nats);
                }
            }
        }
    }
}

/// Two bits of 2 nats: both say yes, one does, none does.
#[test]
fn two_bits_have_three_outcomes() {
    let outcomes = two_bits(2.0, 0.0).outcomes();
    let nats: Vec<f64> = outcomes.iter().map(|seen| (seen.nats * 1e6).round() / 1e6).collect();
    assert_eq!(nats, [4.0, 0.0, -4.0]);
    let flip = 1.0 / (1.0 + 2.0_f64.exp());
    assert!((outcomes[0].if_linked - (1.0 - flip).powi(2)).abs() < 1e-12);
    assert!((outcomes[1].if_not - 2.0 * flip * (1.0 - flip)).abs() < 1e-12);
}

#[test]
fn a_claim_moves_odds_and_no_more() {
    assert!((belief_after(0.0014, 8.0) - 0.0014 / (0.0014 + 0.9986 * (-8.0_f64).exp())).abs() < 1e-15);
    assert_eq!(belief_after(0.5, 0.0), 0.5);
    assert_eq!(belief_after(0.01, f64::INFINITY), 1.0);
}

/// The model has the mean and the spread that it was told.
#[test]
fn degrees_have_the_mean_and_the_spread_that_are_known() {
    for (mean, spread) in [(4.0, 1.0), (15.0, 1.7), (40.0, 0.5)] {
        let model = model(100_000, mean, spread);
        let moment = |power: i32| -> f64 {
            model.degrees.iter().zip(&model.shares).map(|(degree, share)| share * degree.powi(power)).sum()
        };
        assert!((moment(1) - mean).abs() < 1e-9);
        // Counts of links are Poisson about their expectations.
        let found = (moment(2) + mean - mean * mean).sqrt() / mean;
        assert!((found - spread).abs() < 0.02 * spread, "{found} is not {spread}");
    }
}

/// Nothing is found without a signal but what degrees say by themselves, and everything without noise.
#[test]
fn more_budget_and_more_releases_expose_more() {
    let model = model(10_000, 10.0, 1.2);
    let mut last = exposure(&model, &two_bits(1e-6, 0.0));
    assert!(last.found < 0.02 && last.likely.found == 0.0, "{last:?}");
    for epsilon in [1.0, 2.0, 3.0, 4.0, 6.0, 8.0] {
        let signal = two_bits(epsilon, 0.0);
        let now = exposure(&model, &signal);
        assert!(now.found > last.found && now.likely.found >= last.likely.found, "{epsilon}: {now:?} {last:?}");
        assert!(exposure(&model, &signal.beside(&signal)).found > now.found, "a second release tells more");
        let knowing = Signal { knows_degrees: true, ..signal };
        assert!(exposure(&model, &knowing).found >= now.found - 0.005, "known degrees do not hurt");
        assert!(now.found_of_hubs > now.found_of_leaves, "hubs are likelier to be linked: {now:?}");
        last = now;
    }
    let open = exposure(&model, &two_bits(f64::INFINITY, 0.0));
    assert!((open.found - 1.0).abs() < 1e-9 && (open.likely.precision - 1.0).abs() < 1e-9, "{open:?}");
}

/// No noise of the same cost shows more than randomized response of the whole cost of a link.
#[test]
fn one_bit_of_twice_the_budget_bounds_two_bits_and_two_entries() {
    let model = model(5_000, 8.0, 1.0);
    let found = |law: Law, epsilon: f64, looks: usize| {
        let signal =
            Signal { pair: vec![Observation { law, epsilon }; looks], degrees: Vec::new(), knows_degrees: true };
        exposure(&model, &signal).found
    };
    for epsilon in [1.0, 2.0, 3.0] {
        let most = found(Law::RandomizedResponse, 2.0 * epsilon, 1);
        assert!(found(Law::RandomizedResponse, epsilon, 2) <= most + 1e-9);
        assert!(found(Law::Laplace, epsilon, 2) <= most + 1e-9);
    }
}

/// The sums agree with a graph that is drawn, reported on and read by a server that knows expected degrees. One graph
/// of 4,000 links: the standard deviation of the share found is below 1 point, so 4 points fail for one seed in
/// 10,000; the seed is fixed.
#[test]
fn sums_agree_with_drawn_graphs() {
    const N: usize = 1_000;
    let (mean_degree, degree_spread) = (8.0, 1.2);
    let model = model(N as u64, mean_degree, degree_spread);
    let mut rng = ChaCha8Rng::seed_from_u64(11);
    // Each node draws its kind.
    let degrees: Vec<f64> = (0..N)
        .map(|_| {
            let mut left: f64 = rng.random();
            let kind = model.shares.iter().position(|share| {
                left -= share;
                left < 0.0
            });
            model.degrees[kind.unwrap_or(model.degrees.len() - 1)]
        })
        .collect();
    let total: f64 = degrees.iter().sum();
    for epsilon in [2.0_f64, 3.0, 4.0] {
        let flip = 1.0 / (1.0 + epsilon.exp());
        let mut pairs = Vec::new();
        for i in 0..N {
            for j in 0..i {
                let odds = degrees[i] * degrees[j] / total;
                let is_linked = rng.random::<f64>() < odds / (1.0 + odds);
                let mut claim = || f64::from(u8::from(is_linked != (rng.random::<f64>() < flip)));
                pairs.push((odds.ln() + 2.0 * epsilon * (claim() + claim() - 1.0), is_linked));
            }
        }
        pairs.sort_by(|a, b| b.0.total_cmp(&a.0));
        let links = pairs.iter().filter(|pair| pair.1).count();
        let found = pairs[..links].iter().filter(|pair| pair.1).count() as f64 / links as f64;
        let expected = exposure(&model, &Signal { knows_degrees: true, ..two_bits(epsilon, 0.0) });
        assert!((found - expected.found).abs() < 0.04, "{epsilon}: found {found}, expected {expected:?}");
    }
}

#[test]
fn impossible_graphs_are_refused() {
    let refused = |nodes: u64, mean_degree: f64, degree_spread: f64| {
        DegreeModel::new(PublicKnowledge { nodes, mean_degree, degree_spread }).expect_err("no graph is so").to_string()
    };
    assert_eq!(refused(2, 1.0, 1.0), "a graph has from 3 to 2^32 nodes, not 2");
    assert_eq!(
        refused(100, 200.0, 1.0),
        "the mean degree of 100 nodes is positive and at most 24.8 (a quarter of the other nodes), not 200"
    );
    assert_eq!(
        refused(100, 0.0, 1.0),
        "the mean degree of 100 nodes is positive and at most 24.8 (a quarter of the other nodes), not 0"
    );
    assert!(refused(100, f64::NAN, 1.0).contains("not NaN"));
    assert!(refused(100, 10.0, 5.0).starts_with("the spread of degrees"));
}

/// Nothing for the degree where bits tell it, some where they do not: the rule `auto-with-bits` draws the line at
/// ln(1 + √n / 10), which is 1.8 nats here.
#[test]
fn degrees_are_paid_for_where_bits_do_not_tell_them() {
    let model = model(2_708, 3.9, 1.3);
    assert!(best_degree_share(&model, 1.0, 0.0) >= 0.1);
    assert_eq!(best_degree_share(&model, 4.0, 0.0), 0.0);
    assert_eq!(best_degree_share(&model, 4.0, 0.01), 0.01, "at least what is asked for");
    assert_eq!(best_degree_share(&model, f64::INFINITY, 0.0), 0.0);
}

#[test]
fn a_smaller_graph_needs_more_noise() {
    let (whole, surrogate) = (model(100_000, 10.0, 1.2), model(5_000, 10.0, 1.2));
    let signal = two_bits(4.0, 0.1);
    let factor = factor_of_equal_exposure(&whole, &surrogate, &signal);
    assert!((0.3..0.95).contains(&factor), "{factor}");
    let (wanted, found) = (exposure(&whole, &signal).found, exposure(&surrogate, &signal.scaled(factor)).found);
    assert!((wanted - found).abs() < 1e-3, "{found} is not {wanted}");
    assert!((factor_of_equal_exposure(&whole, &whole, &signal) - 1.0).abs() < 1e-6);
    let plain = factor_of_equal_exposure(&model(2_000, 3.0, 1.2), &model(2_708, 3.9, 1.34), &two_bits(40.0, 0.0));
    assert!(plain <= 1.0, "where no link stays hidden, no factor is needed: {plain}");
    // And a larger one less.
    let back = factor_of_equal_exposure(&surrogate, &whole, &signal.scaled(factor));
    assert!((back * factor - 1.0).abs() < 1e-3, "{back} undoes {factor}");
}

/// What no division of budgets among nodes can exceed: all of the budget pays for bits, and the server is told all
/// expected degrees. The graphs are the seven of docs/benchmarks/advise.md, with their own spreads.
#[test]
fn free_degrees_bound_what_a_better_division_finds() {
    let graphs = [
        ("cora", 2708, 3.898, 1.341),
        ("citeseer", 3327, 2.736, 1.236),
        ("cora_ml", 2995, 5.448, 1.514),
        ("lastfm", 7624, 7.294, 1.576),
        ("facebook", 22470, 15.205, 1.737),
        ("ms_academic_cs", 18333, 8.934, 1.019),
        ("ego_twitter", 81306, 33.018, 1.70),
    ];
    for (name, nodes, mean_degree, degree_spread) in graphs {
        let model = model(nodes, mean_degree, degree_spread);
        for (epsilon, most) in [(1.0, 0.06), (2.0, 0.13), (3.0, 0.10), (4.0, 0.04), (6.0, 0.001)] {
            let share = best_degree_share(&model, epsilon, 0.0);
            let divided = exposure(&model, &crate::choice::list_and_degree(epsilon, share)).found;
            let look = Observation { law: Law::RandomizedResponse, epsilon };
            let told = Signal { pair: vec![look; 2], degrees: Vec::new(), knows_degrees: true };
            let gain = exposure(&model, &told).found - divided;
            println!(
                "{name}, {epsilon} nats: share {share}, {:.1} % found, {:+.1} points",
                100.0 * divided,
                100.0 * gain
            );
            assert!((-1e-9..most).contains(&gain), "{name} at {epsilon}: {gain}");
        }
    }
}

#[test]
fn a_fair_coin_has_one_bit_of_entropy() {
    let entropy = |law: Law, epsilon: f64, density: f64| Observation { law, epsilon }.entropy(density);
    assert_eq!(entropy(Law::RandomizedResponse, 0.0, 0.3), Some(1.0));
    assert_eq!(entropy(Law::RandomizedResponse, f64::INFINITY, 0.5), Some(1.0));
    assert_eq!(entropy(Law::RandomizedResponse, f64::INFINITY, 0.0), Some(0.0));
    assert_eq!(entropy(Law::Laplace, 1.0, 0.1), None);
}

/// Without any report, one pair is as good as another.
#[test]
fn without_a_signal_the_base_rate_is_found() {
    let model = model(20_000, 15.0, 1.2);
    let found = exposure(&model, &Signal::default());
    let base = model.knowledge().base_rate();
    assert!((found.found / base - 1.0).abs() < 0.05, "{found:?} at a base rate of {base}");
    assert!((found.found_of_hubs / found.found_of_leaves - 1.0).abs() < 1e-9, "{found:?}");
}

/// Two hubs are likelier to be linked beforehand, so the same claims make more of them than of an average pair.
#[test]
fn hubs_start_higher_and_end_higher() {
    let model = model(22_470, 15.0, 1.3);
    let exposed = exposure(&model, &two_bits(2.0, 0.0));
    let base = model.knowledge().base_rate();
    assert!(exposed.hubs_before > 5.0 * base && exposed.hubs_after > 5.0 * belief_after(base, 4.0), "{exposed:?}");
    let odds = |belief: f64| belief / (1.0 - belief);
    let moved = libm::log(odds(exposed.hubs_after) / odds(exposed.hubs_before));
    assert!((moved - 4.0).abs() < 1e-9, "the odds of every pair move by the same nats: {moved}");
}
