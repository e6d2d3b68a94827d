//! This module links every node to the nodes whose features are most like its own.

use rayon::prelude::*;
use veilgraph_graph::{Construction, WeightedGraph};

use crate::cosine::Directions;

/// Links every node to the `k` other nodes with the largest positive cosines; of equal ones, to those with the lowest
/// numbers. A link counts for both of its nodes, so a node may have more than `k`.
///
/// # Complexity
/// It takes one pass over all pairs.
pub(crate) fn nearest_neighbours(directions: &Directions, n_nodes: usize, k: usize) -> WeightedGraph {
    let nearest = |cosines: &mut Vec<f32>, node: usize| -> Vec<(u32, u32, f32)> {
        directions.cosines_from(node, 0, cosines);
        cosines[node] = 0.0;
        let mut others: Vec<u32> = (0..n_nodes as u32).filter(|&other| cosines[other as usize] > 0.0).collect();
        let by_cosine = |a: &u32, b: &u32| cosines[*b as usize].total_cmp(&cosines[*a as usize]).then_with(|| a.cmp(b));
        if others.len() > k && k > 0 {
            others.select_nth_unstable_by(k - 1, by_cosine);
        }
        others.truncate(k);
        let node = node as u32;
        others.into_iter().map(|other| (node.min(other), node.max(other), 1.0)).collect()
    };
    let rows: Vec<Vec<(u32, u32, f32)>> = (0..n_nodes).into_par_iter().map_init(Vec::new, nearest).collect();
    let mut links = rows.concat();
    links.sort_unstable_by_key(|&(i, j, _)| (i, j));
    links.dedup_by_key(|&mut (i, j, _)| (i, j));
    WeightedGraph::undirected(Construction::Hard, n_nodes, links)
}
