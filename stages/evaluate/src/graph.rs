//! How well the links of a graph are the true ones.

use veilgraph_graph::{AdjacencyList, WeightedGraph};

use crate::metric::{self, Metric};

/// Links that a graph keeps, counted in both directions as the paper does; and how far its weights are from the
/// true links, as mean absolute error over all n² entries.
pub(crate) fn graph_scores(graph: &WeightedGraph, truth: &AdjacencyList) -> Vec<(&'static Metric, f64)> {
    let (n, directions) = (truth.n_nodes() as f64, if graph.directed { 1.0 } else { 2.0 });
    let links = 2.0 * truth.n_links() as f64;
    let kept = graph.n_entries() as f64;
    let (mut true_positives, mut error) = (0.0, links);
    for (i, j, weight) in graph.links() {
        let weight = f64::from(weight);
        if truth.contains(i as usize, j) {
            true_positives += directions;
            error += directions * ((1.0 - weight).abs() - 1.0);
        } else {
            error += directions * weight.abs();
        }
    }
    let mut scores = vec![
        (&metric::GRAPH_ENTRIES, kept),
        (&metric::GRAPH_TRUE_POSITIVES, true_positives),
        (&metric::GRAPH_RECALL, true_positives / links),
        (&metric::GRAPH_MAE, error / (n * n)),
    ];
    if kept > 0.0 {
        scores.push((&metric::GRAPH_PRECISION, true_positives / kept));
    }
    scores
}
