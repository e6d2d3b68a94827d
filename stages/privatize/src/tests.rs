use super::*;

fn run(graph: &AdjacencyList, epsilon: f64, fraction: f64, seed: u64) -> (NoisyLinks, NoisyDegrees) {
    let params = Params {
        mechanism: Mechanism::Blink,
        epsilon: Epsilon::try_from(epsilon).expect("epsilon"),
        degree_fraction: DegreeFraction::try_from(fraction).expect("fraction"),
        degree_noise: DegreeNoise::DiscreteLaplace,
    };
    let rng = StageRng::new(seed, "privatize", 0);
    Privatize::run((Private(graph.clone()),), &params, &rng, &Progress::none()).expect("valid graph")
}

/// Ones of a node's report.
fn ones(links: &NoisyLinks, node: usize) -> Vec<u32> {
    links.ones(node).collect()
}

fn ring(n_nodes: u32) -> AdjacencyList {
    AdjacencyList::from_pairs(n_nodes as usize, (0..n_nodes).map(|i| (i, (i + 1) % n_nodes))).expect("a ring")
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
    for (epsilon, dense) in [(1.0, true), (3.3, true), (3.6, false), (6.0, false)] {
        let (links, _) = run(&ring(300), epsilon, 0.0, 5);
        assert_eq!(links.bits().is_some(), dense, "ε {epsilon}");
        let again = NoisyLinks::from_blocks(&links.facts(), &mut links.blocks()).expect("round trip");
        assert_eq!(again, links, "ε {epsilon}");
        let lists = (0..300).map(|node| ones(&links, node)).collect();
        let listed = NoisyLinks::from_lists(links.facts.clone(), lists).expect("valid");
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
    let params: Params = Params { epsilon: Epsilon::try_from(4.0).expect("4"), ..serde_params() };
    let total = |relation| -> f64 {
        params.releases().iter().filter(|row| row.relation == relation).map(|row| row.epsilon).sum()
    };
    assert!((total(Relation::ListBit) - 4.0).abs() < 1e-12 && (total(Relation::Edge) - 8.0).abs() < 1e-12);
}

fn serde_params() -> Params {
    Params {
        mechanism: Mechanism::Blink,
        epsilon: Epsilon::try_from(1.0).expect("1"),
        degree_fraction: default_degree_fraction(),
        degree_noise: DegreeNoise::default(),
    }
}

#[test]
fn two_nodes_are_refused() {
    let graph = AdjacencyList::from_pairs(2, [(0, 1)]).expect("graph");
    let rng = StageRng::new(1, "privatize", 0);
    let error = Privatize::run((Private(graph),), &serde_params(), &rng, &Progress::none()).expect_err("too small");
    assert!(error.to_string().contains("at least 3"), "{error}");
}
