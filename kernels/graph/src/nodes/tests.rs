use super::*;

fn nodes(nodes_from_links: bool) -> Nodes {
    Nodes {
        dataset: "tiny".to_owned(),
        n_classes: 2,
        splits: vec![Split::Train, Split::None],
        nodes_from_links,
        class_names: Vec::new(),
    }
}

/// The bytes of a dataset whose nodes are an input stay what they always were.
#[test]
fn the_origin_of_the_nodes_is_a_fact_only_where_it_is_the_links() {
    for (is_derived, n_facts) in [(false, 2), (true, 3)] {
        let nodes = nodes(is_derived);
        let facts = nodes.facts();
        assert_eq!(facts.0.len(), n_facts, "{facts:?}");
        assert_eq!(Nodes::from_blocks(&facts, &mut nodes.blocks()).expect("round trip"), nodes);
    }
    let forged = nodes(false).facts().with("nodes_from_links", "perhaps");
    assert!(Nodes::from_blocks(&forged, &mut nodes(false).blocks()).is_err());
}
