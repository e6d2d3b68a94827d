use veilgraph_contract::Relation;
use veilgraph_graph::AdjacencyList;
use veilgraph_privacy::composition::total_epsilon;

use super::*;
use crate::tests::{nats, ring, share};

fn params(epsilon: f64, fraction: f64) -> Params {
    Params {
        epsilon: nats(epsilon),
        degree_fraction: share(fraction),
        degree_noise: DegreeNoise::DiscreteLaplace,
        missing_share: 0.0,
    }
}

fn run_with(graph: &AdjacencyList, params: &Params, seed: u64) -> (NoisyLinks, NoisyDegrees) {
    let (links, degrees) = crate::tests::run::<Blink>(graph, params, seed).expect("valid graph");
    (links.collect().expect("valid reports"), degrees)
}

fn run(graph: &AdjacencyList, epsilon: f64, fraction: f64, seed: u64) -> (NoisyLinks, NoisyDegrees) {
    run_with(graph, &params(epsilon, fraction), seed)
}

/// Ones of a node's report.
fn ones(links: &NoisyLinks, node: usize) -> Vec<u32> {
    links.ones(node).collect()
}

#[test]
fn without_privacy_the_reports_are_the_truth() {
    let graph = ring(200);
    let (links, degrees) = run(&graph, f64::INFINITY, 0.5, 1);
    for node in 0..200 {
        assert_eq!(ones(&links, node), graph.neighbours(node));
    }
    assert!(degrees.degrees.iter().all(|&degree| degree == 2.0));
}

#[test]
fn a_part_without_budget_is_not_sent() {
    let (links, degrees) = run(&ring(100), 1.0, 1.0, 1);
    assert!((0..100).all(|node| ones(&links, node).is_empty()) && degrees.degrees.len() == 100);
    let (links, degrees) = run(&ring(100), 1.0, 0.0, 1);
    assert!((0..100).any(|node| !ones(&links, node).is_empty()) && degrees.degrees.is_empty());
}

#[test]
fn a_report_depends_on_its_own_node_alone() {
    let few = run(&ring(300), 1.0, 0.1, 9);
    let changed = AdjacencyList::from_pairs(300, (0..300).map(|i| (i, (i + 1) % 300)).chain([(7, 90)])).expect("graph");
    let more = run(&changed, 1.0, 0.1, 9);
    for node in (0..300).filter(|&node| node != 7 && node != 90) {
        assert_eq!(ones(&few.0, node), ones(&more.0, node), "node {node}");
        assert_eq!(few.1.degrees[node], more.1.degrees[node], "node {node}");
    }
    assert_ne!(ones(&few.0, 7).contains(&90), ones(&more.0, 7).contains(&90), "the bit of the new link differs");
}

/// The budgets lie on both sides of the rule; the same streams give the same ones.
#[test]
fn bits_and_lists_hold_the_same_reports() {
    use veilgraph_contract::Artifact;
    for (epsilon, dense) in [(1.0, true), (3.3, true), (4.1, true), (4.2, false), (6.0, false)] {
        let (links, _) = run(&ring(300), epsilon, 0.0, 5);
        assert_eq!(links.bits().is_some(), dense, "ε {epsilon}");
        let again = NoisyLinks::from_blocks(&links.facts(), &mut links.blocks()).expect("round trip");
        assert_eq!(again, links, "ε {epsilon}");
        let lists: Vec<_> = (0..300).map(|node| ones(&links, node)).collect();
        let listed = NoisyLinks::from_lists(links.facts.clone(), &lists).expect("valid");
        assert!((0..300).all(|node| ones(&listed, node) == ones(&links, node)));
    }
}

#[test]
fn the_number_of_threads_changes_nothing() {
    let alone = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("pool");
    assert_eq!(alone.install(|| run(&ring(500), 1.0, 0.1, 4)), run(&ring(500), 1.0, 0.1, 4));
}

#[test]
fn another_budget_draws_other_noise() {
    let all = |epsilon| (0..300).map(|node| ones(&run(&ring(300), epsilon, 0.0, 3).0, node)).collect::<Vec<_>>();
    let (one, two) = (all(1.0), all(1.0 + 1e-9));
    assert_ne!(one, two, "almost equal thresholds must not share random words");
}

#[test]
fn a_link_costs_twice_a_list_bit() {
    let params = params(4.0, 0.1);
    let releases = Blink::releases(&params);
    let total = |relation| total_epsilon(&releases, relation);
    assert!((total(Relation::ListBit) - 4.0).abs() < 1e-12 && (total(Relation::Edge) - 8.0).abs() < 1e-12);
}

#[test]
fn a_missing_node_sends_nothing_and_leaves_the_others_as_they_are() {
    let all = run(&ring(400), 2.0, 0.1, 6);
    let (links, degrees) = run_with(&ring(400), &Params { missing_share: 0.25, ..params(2.0, 0.1) }, 6);
    let missing = degrees.missing();
    assert!((60..140).contains(&missing.len()), "{} of 400", missing.len());
    for node in 0..400 {
        let is_missing = missing.contains(&(node as u32));
        assert_eq!(ones(&links, node), if is_missing { Vec::new() } else { ones(&all.0, node) }, "node {node}");
    }
}

#[test]
fn a_share_of_missing_nodes_must_be_one_that_can_be_noticed() {
    for (share, fraction) in [(1.0, 0.1), (-0.1, 0.1), (f64::NAN, 0.1), (0.1, 0.0)] {
        let params = Params { missing_share: share, ..params(1.0, fraction) };
        let error = crate::tests::run::<Blink>(&ring(9), &params, 1).err().expect("refused");
        assert!(error.to_string().contains("missing_share"), "{error}");
    }
}
