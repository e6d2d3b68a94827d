use super::*;

#[test]
fn loops_and_repetitions_are_dropped() {
    let graph = AdjacencyList::from_pairs(5, [(0, 1), (1, 0), (2, 2), (1, 3), (0, 1)]).expect("valid");
    assert_eq!(graph.links().collect::<Vec<_>>(), [(0, 1), (1, 3)]);
    assert_eq!((graph.degree(1), graph.degree(4), graph.n_isolated()), (2, 0, 2));
}

/// One repeated row must not make another artifact, or a release would be drawn again for it.
#[test]
fn the_artifact_holds_nothing_of_the_raw_list() {
    let written = |pairs: &[(u32, u32)]| {
        let graph = AdjacencyList::from_pairs(5, pairs.iter().copied()).expect("valid");
        (graph.facts(), graph.blocks().collect::<Vec<_>>())
    };
    let plain = written(&[(0, 1), (1, 3)]);
    for others in [&[(1, 3), (0, 1)][..], &[(3, 1), (1, 0)], &[(0, 1), (1, 3), (1, 0)], &[(0, 1), (1, 3), (4, 4)]] {
        assert_eq!(written(others), plain, "{others:?}");
    }
    assert_eq!(plain.0.0.keys().collect::<Vec<_>>(), ["n_nodes"]);
}

#[test]
fn an_endpoint_out_of_range_is_named() {
    let error = AdjacencyList::from_pairs(3, [(0, 1), (1, 7)]).expect_err("7 is no node");
    assert!(error.0.contains("row 1") && error.0.contains('7'), "{error}");
}

#[test]
fn blocks_give_the_graph_back() {
    let graph = AdjacencyList::from_pairs(9000, (0..8999).map(|i| (i, i + 1))).expect("valid");
    assert!(graph.blocks().count() > 1, "more than one row group");
    let again = AdjacencyList::from_blocks(&graph.facts(), &mut graph.blocks()).expect("round trip");
    assert_eq!(again, graph);
    let derived = graph.with_nodes_from_links(true);
    let again = AdjacencyList::from_blocks(&derived.facts(), &mut derived.blocks()).expect("round trip");
    assert!(again.nodes_from_links() && again == derived);
}
