use veilgraph_contract::Relation;
use veilgraph_privacy::composition::total_epsilon;
use veilgraph_privacy::randomized_response::flip_probability;

use super::*;
use crate::tests::{nats, ring};

fn release(links: &AdjacencyList, epsilon: f64, seed: u64) -> WeightedGraph {
    let rng = StageRng::new(seed, "privatize", 0);
    let params = Params { epsilon: nats(epsilon) };
    EdgeRand::run((Private(links.clone()),), &params, &rng, &Progress::none()).expect("valid").0
}

/// Numbers of kept links and of added pairs against their binomial laws, for graphs of bits and of lists. 5 standard
/// deviations are passed by chance in one of 1.7 million draws; the seeds are fixed.
#[test]
fn links_and_other_pairs_are_flipped_as_often_as_the_budget_says() {
    let links = ring(700);
    for epsilon in [0.5, 2.0, 5.0, 8.0] {
        let graph = release(&links, epsilon, 3);
        assert!(graph.links().all(|(i, j, weight)| i < j && j < 700 && weight == 1.0));
        let kept = graph.links().filter(|&(i, j, _)| links.contains(i as usize, j)).count() as f64;
        let added = graph.links().count() as f64 - kept;
        let flip = flip_probability(epsilon);
        let n_others = 700.0 * 699.0 / 2.0 - 700.0;
        let spread = |n: f64| (n * flip * (1.0 - flip)).sqrt();
        assert!((kept - 700.0 * (1.0 - flip)).abs() < 5.0 * spread(700.0), "{epsilon}: {kept}");
        assert!((added - n_others * flip).abs() < 5.0 * spread(n_others), "{epsilon}: {added}");
    }
}

#[test]
fn an_infinite_budget_releases_the_graph() {
    let links = ring(70);
    let found: Vec<(u32, u32)> = release(&links, f64::INFINITY, 1).links().map(|(i, j, _)| (i, j)).collect();
    assert_eq!(found, links.links().collect::<Vec<_>>());
}

#[test]
fn the_cost_is_stated_for_a_link_and_for_a_bit_of_a_list() {
    let releases = EdgeRand::releases(&Params { epsilon: nats(2.0) });
    for relation in [Relation::Edge, Relation::ListBit] {
        assert_eq!(total_epsilon(&releases, relation), 2.0);
    }
}
