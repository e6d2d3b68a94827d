//! Approximate personalized page rank by iterative shrinkage.

use std::collections::BTreeMap;

use crate::{Data, Error};

/// The graph of some nodes, each with a link to itself.
pub(crate) struct Graph {
    /// Numbers of the nodes in the whole graph, ascending.
    pub nodes: Vec<u32>,
    /// Neighbours by their position among `nodes`, the node itself included.
    pub neighbours: Vec<Vec<u32>>,
}

/// How much is shrunk, and how exact a vector is, in the published settings.
pub(crate) const SHRINKAGE: f64 = 1e-4;
pub(crate) const TOLERANCE: f64 = 1e-4;

/// Most steps for one vector.
const MOST_STEPS: u32 = 100_000;

impl Graph {
    /// The links among these nodes.
    pub(crate) fn among(data: &Data, nodes: impl Iterator<Item = u32>) -> Self {
        let nodes: Vec<u32> = nodes.collect();
        let positions: BTreeMap<u32, u32> = nodes.iter().copied().zip(0..).collect();
        let neighbours = nodes.iter().map(|&node| {
            let linked = data.links.neighbours(node as usize).iter().filter_map(|other| positions.get(other).copied());
            let mut all: Vec<u32> = linked.chain(positions.get(&node).copied()).collect();
            all.sort_unstable();
            all
        });
        Self { neighbours: neighbours.collect(), nodes }
    }

    fn degree(&self, node: usize) -> f64 {
        self.neighbours[node].len() as f64
    }
}

/// The entries of the page-rank vector of `source` that are not shrunk to zero, by ascending position.
///
/// The vector minimizes `1/2 qᵀ W q - α q_s / √d_s + ρ α |√d q|₁` with `W = (1 + α)/2 - (1 - α)/2 D^-1/2 A D^-1/2`, and
/// `p = √d q`. As the shrinkage ρ goes to 0, `p` is the lazy walk's page rank with teleport α. A step of length 1 moves every
/// coordinate whose gradient is beyond the shrinkage; it visits such nodes and their neighbours alone.
///
/// # Source
/// Fountoulakis et al. (2019), Variational perspective on local graph clustering, section 4; the code of DPAR steps in
/// coordinates of `p`, where steps of nodes with many links are shorter, with the same minimizer.
///
/// # Errors
/// When the gradient does not shrink.
pub(crate) fn page_rank(
    graph: &Graph,
    source: u32,
    teleport: f64,
    shrinkage: f64,
    tolerance: f64,
) -> Result<Vec<(u32, f64)>, Error> {
    let n = graph.nodes.len();
    let (alpha, root) = (teleport, |node: usize| graph.degree(node).sqrt());
    let (mut q, mut gradient) = (vec![0.0; n], vec![0.0; n]);
    let mut open = vec![source as usize];
    gradient[source as usize] = -alpha / root(source as usize);
    let wanted = (1.0 + tolerance) * shrinkage * alpha;
    let mut steps = 0;
    loop {
        let beyond = |node: usize| gradient[node].abs() / root(node);
        let residual = open.iter().map(|&node| beyond(node)).fold(0.0, f64::max);
        if residual <= wanted {
            break;
        }
        if steps == MOST_STEPS {
            return Err(Error::NotConverged { steps });
        }
        steps += 1;
        let moved: Vec<(usize, f64)> = open
            .iter()
            .filter(|&&node| q[node] - gradient[node] >= shrinkage * alpha * root(node))
            .map(|&node| (node, -(gradient[node] + shrinkage * alpha * root(node))))
            .collect();
        for &(node, step) in &moved {
            q[node] += step;
            gradient[node] += f64::midpoint(1.0, alpha) * step;
            for &other in &graph.neighbours[node] {
                let other = other as usize;
                gradient[other] -= (1.0 - alpha) / 2.0 * step / (root(node) * root(other));
                open.push(other);
            }
        }
        open.sort_unstable();
        open.dedup();
    }
    open.sort_unstable();
    open.dedup();
    Ok(open.into_iter().filter(|&node| q[node] != 0.0).map(|node| (node as u32, root(node) * q[node])).collect())
}
