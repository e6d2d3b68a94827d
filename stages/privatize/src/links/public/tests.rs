use super::*;
use crate::tests::ring;

#[test]
fn the_graph_is_that_of_the_links_and_nothing_is_released() {
    let links = ring(6);
    let sample = LinkSample { n_nodes: 6, pairs: vec![(0, 1, true), (0, 3, false)] };
    let rng = StageRng::new(1, "privatize", 0);
    let inputs = (Private(links.clone()), Some(Private(sample.clone())));
    let Ok((graph, published)) = PublishLinks::run(inputs, &NoParams {}, &rng, &Progress::none());
    let expected: Vec<(u32, u32, f32)> = links.links().map(|(i, j)| (i, j, 1.0)).collect();
    assert_eq!(graph, WeightedGraph::undirected(Construction::Given, 6, expected));
    assert_eq!(published, Some(sample));
    let Ok((_, published)) = PublishLinks::run((Private(links), None), &NoParams {}, &rng, &Progress::none());
    assert_eq!(published, None);
    assert!(PublishLinks::releases(&NoParams {}).is_empty());
}
