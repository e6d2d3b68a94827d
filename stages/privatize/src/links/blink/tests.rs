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
        lying_share: 0.0,
        lie: None,
        nested: Nested::default(),
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

#[test]
fn a_lying_node_sends_what_it_likes_and_leaves_the_others_as_they_are() {
    let missing = |lying_share, lie| Params { missing_share: 0.2, lying_share, lie, ..params(2.0, 0.1) };
    let all = run_with(&ring(400), &missing(0.0, Some(Lie::AllOnes)), 6);
    let silent = all.1.missing();
    let mut liars_by_lie = Vec::new();
    for lie in [Lie::AllOnes, Lie::RandomList] {
        let (links, degrees) = run_with(&ring(400), &missing(0.25, Some(lie)), 6);
        assert_eq!(degrees.missing(), silent, "a node that is out of reach cannot lie");
        let before = |node: u32| all.1.degrees[all.1.senders.binary_search(&node).expect("it sent one")];
        let mut liars = Vec::new();
        for (&node, &degree) in degrees.senders.iter().zip(&degrees.degrees) {
            let list = ones(&links, node as usize);
            if list == ones(&all.0, node as usize) {
                assert_eq!(degree, before(node), "node {node} is honest");
                continue;
            }
            assert!(degree.fract() == 0.0 && (0.0..=399.0).contains(&degree), "{lie:?}: {degree}");
            match lie {
                Lie::AllOnes => assert!(list.len() == 399 && degree == 399.0),
                // 399 fair bits: 60 from the mean are six standard deviations.
                Lie::RandomList => assert!((140..260).contains(&list.len()), "{}", list.len()),
            }
            liars.push(node);
        }
        // A quarter of some 320 nodes, and five standard deviations.
        assert!((40..120).contains(&liars.len()), "{} of 400", liars.len());
        assert_eq!((links.facts.lying_share, degrees.facts.lying_share), (0.25, 0.25));
        liars_by_lie.push(liars);
    }
    assert_eq!(liars_by_lie[0], liars_by_lie[1], "who lies does not depend on the lie");
}

/// Ones in a list of 2,000 nodes and degrees of all liars have the means of fair draws, within five deviations.
#[test]
fn random_lies_are_uniform() {
    let params = Params { lying_share: 0.999, lie: Some(Lie::RandomList), ..params(6.0, 0.1) };
    let (links, degrees) = run_with(&ring(2000), &params, 3);
    let n_liars = 0.999 * 2000.0_f64;
    let ones: usize = (0..2000).map(|node| links.ones(node).count()).sum();
    let (bits, mean) = (n_liars * 1999.0, degrees.degrees.iter().sum::<f64>() / 2000.0);
    assert!((ones as f64 / bits - 0.5).abs() < 5.0 * 0.5 / bits.sqrt() + 1e-3, "{ones} of {bits}");
    // A uniform degree of 2,000 values has the deviation 577; two honest nodes have the degree 2.
    assert!((mean - 999.5).abs() < 5.0 * 577.0 / n_liars.sqrt() + 2.0, "{mean}");
}

#[test]
fn a_part_without_budget_is_lied_about_by_nobody() {
    let lying = |fraction| run_with(&ring(50), &Params { lying_share: 0.5, ..params(1.0, fraction) }, 1);
    let (links, degrees) = lying(1.0);
    assert!((0..50).all(|node| ones(&links, node).is_empty()) && degrees.degrees.len() == 50);
    let (links, degrees) = lying(0.0);
    assert!((0..50).any(|node| ones(&links, node).len() == 49) && degrees.degrees.is_empty());
}

#[test]
fn a_share_of_lying_nodes_lies_below_one() {
    for share in [1.0, -0.1, f64::NAN, f64::INFINITY] {
        let params = Params { lying_share: share, ..params(1.0, 0.1) };
        let error = crate::tests::run::<Blink>(&ring(9), &params, 1).err().expect("refused");
        assert!(error.to_string().contains(&format!("lying_share = {share} must lie in [0, 1)")), "{error}");
    }
}

/// Keys of releases hold the parameters as they are written here, so what is not asked for must not be there.
#[test]
fn lies_stand_in_the_parameters_only_where_somebody_lies() {
    let written = |params: Params| serde_json::to_string(&params.with_what_is_read()).expect("JSON");
    let plain = written(params(4.0, 0.1));
    assert_eq!(plain, r#"{"epsilon":4.0,"degree_fraction":0.1,"degree_noise":"discrete-laplace","missing_share":0.0}"#);
    assert_eq!(written(Params { lie: Some(Lie::RandomList), ..params(4.0, 0.1) }), plain, "nobody tells this lie");
    let lying = written(Params { lying_share: 0.1, lie: Some(Lie::RandomList), ..params(4.0, 0.1) });
    assert!(lying.ends_with(r#""missing_share":0.0,"lying_share":0.1,"lie":"random-list"}"#), "{lying}");
    let read: Params = serde_json::from_str(&lying).expect("valid");
    assert_eq!((read.lying_share, read.lie), (0.1, Some(Lie::RandomList)));
}
