use super::*;

#[test]
fn loops_and_repetitions_are_counted_and_dropped() {
    let graph = AdjacencyList::from_pairs(5, [(0, 1), (1, 0), (2, 2), (1, 3), (0, 1)]).expect("valid");
    assert_eq!(graph.links().collect::<Vec<_>>(), [(0, 1), (1, 3)]);
    assert_eq!(graph.counts(), LinkCounts { rows: 5, self_loops: 1, duplicates: 2, isolated: 2 });
    assert_eq!((graph.degree(1), graph.degree(4)), (2, 0));
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
}
