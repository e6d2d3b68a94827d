//! The links to learn from, and pairs without a link beside them.

use rand::RngExt;
use rand::rngs::ChaCha8Rng;
use veilgraph_graph::WeightedGraph;

use crate::failure::Failure;

/// Links of a graph as unordered pairs.
pub(super) struct Sampler {
    n_nodes: u32,
    /// Ascending, with `i < j`.
    links: Vec<(u32, u32)>,
}

impl Sampler {
    /// Lists the links of `graph`.
    ///
    /// # Errors
    /// When there are none, or fewer other pairs than links.
    pub(super) fn new(graph: &WeightedGraph) -> Result<Self, Failure> {
        let mut links: Vec<(u32, u32)> = graph.links().map(|(i, j, _)| (i.min(j), i.max(j))).collect();
        links.sort_unstable();
        links.dedup();
        let pairs = graph.n_nodes * graph.n_nodes.saturating_sub(1) / 2;
        if links.is_empty() || 2 * links.len() > pairs {
            return Err(Failure::NothingToTellApart(links.len(), pairs));
        }
        Ok(Self { n_nodes: graph.n_nodes as u32, links })
    }

    pub(super) fn links(&self) -> &[(u32, u32)] {
        &self.links
    }

    /// Draws as many pairs without a link as there are links, each independently and uniformly.
    pub(super) fn others(&self, rng: &mut ChaCha8Rng) -> Vec<(u32, u32)> {
        let mut others = Vec::with_capacity(self.links.len());
        while others.len() < self.links.len() {
            let (i, j) = (rng.random_range(0..self.n_nodes), rng.random_range(0..self.n_nodes));
            let pair = (i.min(j), i.max(j));
            if i != j && self.links.binary_search(&pair).is_err() {
                others.push(pair);
            }
        }
        others
    }
}

/// Draws standard normal numbers.
///
/// # Source
/// Box, Muller (1958).
pub(super) fn normal(n: usize, rng: &mut ChaCha8Rng) -> Vec<f32> {
    let mut numbers = Vec::with_capacity(n + 1);
    while numbers.len() < n {
        // The first number lies in (0, 1], so that its logarithm is finite.
        let (radius, angle) = (1.0 - rng.random::<f32>(), rng.random::<f32>());
        let radius = (-2.0 * libm::logf(radius)).sqrt();
        let (sine, cosine) = libm::sincosf(std::f32::consts::TAU * angle);
        numbers.extend([radius * cosine, radius * sine]);
    }
    numbers.truncate(n);
    numbers
}
