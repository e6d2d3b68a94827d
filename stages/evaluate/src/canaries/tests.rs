use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};
use veilgraph_bounds::Tail;

use super::*;
use crate::Cell;

fn params(epsilon_edge: f64) -> CanaryParams {
    CanaryParams { cell: Cell { epsilon_edge, ..Cell::default() }, trial: 0, epsilon_read: None }
}

/// `m` coins that are told by two independent bits, each right with probability `e^ε / (1 + e^ε)`: both ends of a link
/// report it, as in randomized response. A fault flips bits half as often.
fn reported(seed: u64, m: usize, epsilon: f64, fault: f64) -> (PairScores, Canaries) {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let flip = fault / (1.0 + epsilon.exp());
    let coins: Vec<bool> = (0..m).map(|_| rng.random()).collect();
    let odds = |coin: bool, rng: &mut ChaCha8Rng| {
        (0..2).map(|_| if rng.random_bool(flip) == coin { -epsilon } else { epsilon }).sum::<f64>()
    };
    let pairs = coins.iter().enumerate().map(|(k, &coin)| (0, k as u32 + 1, odds(coin, &mut rng))).collect();
    let canaries = coins.iter().enumerate().map(|(k, &coin)| (0, k as u32 + 1, coin)).collect();
    let (record, n_nodes) = (Record::Link, m + 1);
    (PairScores { record, n_nodes, pairs }, Canaries { record, n_nodes, coins: canaries })
}

fn run(inputs: (PairScores, Canaries), claimed: f64) -> Result<Metrics, Error> {
    EvaluateCanaries::run(inputs, &params(claimed), &StageRng::new(1, "evaluate", 0), &Progress::none())
        .map(|(metrics,)| metrics)
}

fn bound(metrics: &Metrics) -> f64 {
    metrics.rows.iter().find(|row| row.metric == metric::EPSILON_LOWER_BOUND.name).expect("a bound").value
}

/// At 99 %, one bound in a hundred may exceed the true cost; the seeds are fixed.
#[test]
fn bounds_are_close_to_the_cost_and_hardly_ever_above_it() {
    for (epsilon, m, least) in [(0.5, 1_000, 0.75), (1.0, 1_000, 0.85), (2.0, 1_000, 0.85), (2.0, 100_000, 0.95)] {
        let cost = 2.0 * epsilon;
        let bounds: Vec<f64> =
            (0..100).map(|seed| bound(&run(reported(seed, m, epsilon, 1.0), cost).expect("holds"))).collect();
        let above = bounds.iter().filter(|&&bound| bound > cost).count();
        let mean = bounds.iter().sum::<f64>() / 100.0;
        assert!(above <= 3 && mean >= least * cost, "{epsilon} {m}: {above} above, {mean} of {cost}");
    }
}

#[test]
fn flips_that_are_half_as_frequent_are_caught() {
    for seed in 0..20 {
        let error = run(reported(seed, 1_000, 1.0, 0.5), 2.0).expect_err("caught").to_string();
        assert!(error.contains("the ledger states 2") && error.contains("does not hold"), "{error}");
        assert!(run(reported(seed, 1_000, 1.0, 1.0), 2.0).is_ok());
    }
}

/// A training label costs what its node does, under whichever relation that is stated; where links alone are protected, nothing
/// bounds it.
#[test]
fn a_training_label_costs_what_its_node_does() {
    use veilgraph_contract::Relation;
    let coins = (0..1_000).map(|node| (node, 0, true)).collect();
    let canaries = Canaries { record: Record::TrainingLabel, n_nodes: 1_000, coins };
    let judged = |relation, right| {
        let costs =
            vec![crate::RelationCost { relation, epsilon: 1.0, dp_delta: 1e-9, sound: true, claimed_epsilon: None }];
        let params = CanaryParams { cell: Cell { costs, ..params(0.0).cell }, ..params(0.0) };
        judged(Guesses { made: 1_000, right }, &canaries, &params)
    };
    for relation in [Relation::Node, Relation::OwnData] {
        assert!(judged(relation, 880).is_ok(), "22 in 25 are what twice a nat allows");
        let error = judged(relation, 950).map(|_| ()).expect_err("caught").to_string();
        assert!(error.contains("the ledger states 1") && error.contains("a training label"), "{error}");
    }
    assert!(judged(Relation::Edge, 1_000).is_ok());
}

/// A link costs 4 nats, half of them in lists and half in degrees. Lists that tell 4 nats of it tell no more than the whole may,
/// and twice of what they may.
#[test]
fn a_part_of_a_release_is_held_against_its_own_cost() {
    let run = |epsilon_read| {
        let params = CanaryParams { epsilon_read, ..params(4.0) };
        EvaluateCanaries::run(
            reported(1, 1_000, 2.0, 1.0),
            &params,
            &StageRng::new(1, "evaluate", 0),
            &Progress::none(),
        )
    };
    assert!(run(None).is_ok() && run(Some(4.0)).is_ok());
    let error = run(Some(2.0)).expect_err("caught").to_string();
    assert!(error.contains("the ledger states 2"), "{error}");
}

#[test]
fn guesses_that_say_nothing_bound_nothing() {
    let (scores, canaries) = reported(1, 500, 1.0, 1.0);
    let silent = PairScores { pairs: scores.pairs.iter().map(|&(i, j, _)| (i, j, 0.0)).collect(), ..scores.clone() };
    assert_eq!(bound(&run((silent, canaries.clone()), 0.0).expect("nothing is known")), 0.0);
    let other = PairScores { pairs: scores.pairs.into_iter().rev().collect(), ..scores };
    assert!(run((other, canaries), 1.0).expect_err("another order").to_string().contains("other facts"));
}

#[test]
fn ranks_above_the_median_are_guessed() {
    let scores = |values: [(f64, bool); 6]| guesses_by_rank(&values);
    let told = scores([(0.9, true), (0.8, true), (0.7, true), (0.3, false), (0.2, false), (0.1, false)]);
    assert_eq!((told.made, told.right), (6, 6));
    let mostly_none = scores([(0.9, true), (0.0, true), (0.0, true), (0.0, false), (0.0, false), (0.0, false)]);
    assert_eq!((mostly_none.made, mostly_none.right), (6, 4));
    let guesses = Guesses { made: 60, right: 60 };
    let least = veilgraph_bounds::clopper_pearson(60, 60, ALPHA, Tail::Lower);
    assert!((guesses.epsilon_lower_bound(ALPHA) - (least / (1.0 - least)).ln()).abs() < 1e-9);
}

/// A delta takes something off the bound, and all of it where twice the canaries times delta is far above the chance of a false alarm.
#[test]
fn a_delta_weakens_the_bound() {
    let (scores, canaries) = reported(3, 1_000, 2.0, 1.0);
    let with = |dp_delta: f64| {
        let relation = veilgraph_contract::Relation::Edge;
        let costs = vec![crate::RelationCost { relation, epsilon: 4.0, dp_delta, sound: true, claimed_epsilon: None }];
        let params = CanaryParams { cell: Cell { costs, ..params(4.0).cell }, ..params(4.0) };
        let inputs = (scores.clone(), canaries.clone());
        let run = EvaluateCanaries::run(inputs, &params, &StageRng::new(1, "evaluate", 0), &Progress::none());
        bound(&run.expect("holds").0)
    };
    assert!(with(0.0) > with(1e-5) && with(1e-5) > with(1e-4), "{} {} {}", with(0.0), with(1e-5), with(1e-4));
    assert_eq!(with(1e-1), 0.0);
    let odds: Vec<(f64, bool)> = scores.pairs.iter().map(|&(_, _, odds)| (odds, true)).collect();
    assert_eq!(guesses_by_sign(&odds).made, 1_000, "how many coins are guessed does not follow from the reports");
}
