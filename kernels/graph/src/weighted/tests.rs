use super::*;

fn read(links: Vec<(u32, u32, f32)>, directed: bool) -> Result<WeightedGraph, Invalid> {
    let graph = WeightedGraph { directed, ..WeightedGraph::undirected(Construction::Hybrid, 4, links) };
    WeightedGraph::from_blocks(&graph.facts(), &mut graph.blocks())
}

#[test]
fn links_that_are_none_of_a_graph_are_refused() {
    for directed in [false, true] {
        assert!(read(vec![(0, 1, 0.5), (0, 3, 1.0), (1, 2, 0.1)], directed).is_ok());
        let twice = read(vec![(0, 1, 0.5), (0, 1, 0.5)], directed).expect_err("twice");
        assert!(twice.to_string().contains("comes twice"), "{twice}");
        assert!(read(vec![(1, 2, 0.5), (0, 1, 0.5)], directed).is_err(), "out of order");
        assert!(read(vec![(1, 1, 0.5)], directed).is_err(), "a link to itself");
        assert!(read(vec![(1, 4, 0.5)], directed).is_err(), "no such node");
        assert!(read(vec![(0, 1, f32::NAN)], directed).is_err(), "no weight");
    }
    assert!(read(vec![(1, 0, 0.5)], false).is_err(), "the wrong way round");
    assert!(read(vec![(1, 0, 0.5)], true).is_ok());
}
