use std::collections::BTreeSet;

use super::*;
use crate::tests::facts;

const N_NODES: u32 = 41;

/// What nodes of a graph with some triangles report, and by chance. Every bit is of a pair's node of the larger number.
fn lists() -> Vec<Vec<u32>> {
    let is_reported = |i: u32, j: u32| {
        (i / 5 == j / 5 && !(i + j).is_multiple_of(3)) || (i * 7 + j * j * 3 + i * j).is_multiple_of(11)
    };
    (0..N_NODES).map(|i| (0..i).filter(|&j| is_reported(i, j)).collect()).collect()
}

/// The links by the definition, from sets of neighbours and sorted similarities.
fn by_definition(lists: &[Vec<u32>], flip: f64, edge_multiple: f64) -> Vec<(u32, u32)> {
    let is_reported = |i: u32, j: u32| lists[j as usize].contains(&i);
    let neighbours =
        |i: u32| -> BTreeSet<u32> { (0..N_NODES).filter(|&j| i != j && is_reported(i.min(j), i.max(j))).collect() };
    let similarity = |i: u32, j: u32| {
        let (a, b) = (neighbours(i), neighbours(j));
        let either = a.union(&b).count();
        if either == 0 { 0.0 } else { a.intersection(&b).count() as f64 / either as f64 }
    };
    let pairs: Vec<(u32, u32)> = (0..N_NODES).flat_map(|i| (i + 1..N_NODES).map(move |j| (i, j))).collect();
    let similarities: Vec<f64> = pairs.iter().map(|&(i, j)| similarity(i, j)).collect();
    let mut sorted = similarities.clone();
    sorted.sort_by(f64::total_cmp);
    let deciles: Vec<f64> = (1..10).map(|decile| sorted[decile * (sorted.len() - 1) / 10]).collect();
    let bins: Vec<usize> =
        similarities.iter().map(|value| deciles.iter().filter(|&decile| decile <= value).count()).collect();
    let share = |bin: usize| {
        let inside = || pairs.iter().zip(&bins).filter(move |&(_, &other)| other == bin);
        inside().filter(|&(&(i, j), _)| is_reported(i, j)).count() as f64 / inside().count().max(1) as f64
    };
    let shares: Vec<f64> = (0..10).map(share).collect();
    let mut ranked: Vec<usize> = (0..pairs.len()).collect();
    ranked.sort_by(|&a, &b| shares[bins[b]].total_cmp(&shares[bins[a]]).then(bins[a].cmp(&bins[b])).then(a.cmp(&b)));
    let n_reported = pairs.iter().filter(|&&(i, j)| is_reported(i, j)).count();
    let links = (n_reported as f64 - pairs.len() as f64 * flip) / (1.0 - 2.0 * flip);
    let target = (links * edge_multiple).floor() as usize;
    let n_true = (target as f64 * (1.0 - flip)).round() as usize;
    let of = |wanted: bool, most: usize| {
        let is_wanted = |&&place: &&usize| is_reported(pairs[place].0, pairs[place].1) == wanted;
        ranked.iter().filter(is_wanted).take(most).map(|&place| pairs[place]).collect::<Vec<_>>()
    };
    let mut kept = [of(true, n_true), of(false, target - n_true)].concat();
    kept.sort_unstable();
    kept
}

#[test]
fn the_graph_equals_its_definition() {
    let lists = lists();
    for epsilon in [2.0, 3.0] {
        let facts = facts(epsilon, false);
        let flip = flip_probability(facts.budget.links);
        for edge_multiple in [0.2, 1.0, 2.0] {
            let links = NoisyLinks::from_lists(facts.clone(), &lists).expect("valid");
            let params = Params { edge_multiple };
            let rng = StageRng::new(0, "construct", 0);
            let (graph,) = ConstructRefined::run((links,), &params, &rng, &Progress::none()).expect("valid");
            let found: Vec<(u32, u32)> = graph.links().map(|(i, j, _)| (i, j)).collect();
            let expected = by_definition(&lists, flip, edge_multiple);
            assert!(!expected.is_empty(), "the reports speak of links at {epsilon}");
            assert_eq!(found, expected, "ε {epsilon}, multiple {edge_multiple}");
        }
    }
}

/// 100 links among 1,000 pairs, of which a quarter is flipped: 75 links and 225 other pairs are reported.
#[test]
fn the_number_of_links_is_read_off_the_reports() {
    assert_eq!(wanted(1000, 300, 0.25, 1.0), [25, 75]);
    assert_eq!(wanted(1000, 300, 0.25, 0.01), [0, 1]);
    assert_eq!(wanted(1000, 200, 0.25, 1.0), [0, 0], "fewer are reported than flips make");
    assert_eq!(wanted(1000, 30, 0.0, 50.0), [0, 30], "no more than there are");
    assert_eq!(wanted(0, 0, 0.25, 1.0), [0, 0]);
    assert_eq!(wanted(10, 5, 0.5, 1.0), [0, 0], "fair coins");
}

#[test]
fn a_multiple_that_is_no_positive_number_is_refused() {
    for edge_multiple in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(Params { edge_multiple }.check().is_err(), "{edge_multiple}");
    }
}
