//! EdgeRand: a curator randomizes every pair of nodes once.

use serde::{Deserialize, Serialize};
use veilgraph_contract::{Draws, Owner, Private, Progress, Release, Stage, StageRng};
use veilgraph_graph::{AdjacencyList, BitMatrix, Construction, Links, WeightedGraph};
use veilgraph_privacy::composition::releases_of_graph;
use veilgraph_privacy::randomized_response::RandomizedResponse;
use veilgraph_privacy::{Epsilon, NoisyLinks};

use super::ONE_BIT_PER_LINK;
use crate::Error;

/// A curator releases every pair's bit under randomized response.
///
/// The published mechanism replaces the bit by a fair coin with probability `s = 2 / (e^ε + 1)`, which flips it with
/// probability `s / 2 = 1 / (1 + e^ε)`: randomized response.
///
/// # Privacy
/// `epsilon`-differentially private for one link. The curator sees the links and has to be trusted. The graph is drawn
/// once and serves everything that comes after it, so nothing is paid for twice.
///
/// # Source
/// Wu, Long, Zhang, Li (2022), LinkTeller, section V.
pub struct EdgeRand;

/// What EdgeRand reads of `[privatize.links]`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Params {
    /// Budget of the release, in nats per link.
    pub epsilon: Epsilon,
}

impl Stage for EdgeRand {
    const STAGE: &'static str = "privatize";
    const TASK: &'static str = "edgerand";
    const DRAWS: Draws = Draws::EveryTrial;
    type Side = Owner;
    type Params = Params;
    type Inputs = (Private<AdjacencyList>,);
    type Outputs = (WeightedGraph,);
    type Error = Error;

    fn releases(params: &Params) -> Vec<Release> {
        releases_of_graph("randomized response", params.epsilon.nats(), ONE_BIT_PER_LINK)
    }

    fn run(
        (Private(links),): Self::Inputs,
        params: &Params,
        rng: &StageRng,
        _: &Progress,
    ) -> Result<Self::Outputs, Error> {
        let (n_nodes, epsilon) = (links.n_nodes(), params.epsilon.nats());
        let response = RandomizedResponse::new(epsilon, n_nodes);
        let purpose = format!("edgerand {epsilon:?}");
        let stream = |node: usize| rng.stream(&purpose, node as u64);
        // A pair is drawn in the row of its larger node.
        let smaller = |node: usize| {
            let neighbours = links.neighbours(node);
            &neighbours[..neighbours.partition_point(|&other| (other as usize) < node)]
        };
        let graph = if NoisyLinks::are_dense(epsilon) {
            let mut bits = BitMatrix::from_rows(n_nodes, |node, row| {
                response.noisy_bits(node as u32, smaller(node), &mut stream(node), row);
                row[node / 64] &= (1 << (node % 64)) - 1;
                row[node / 64 + 1..].fill(0);
            });
            bits.symmetrize();
            let links = Links::Bits(bits);
            WeightedGraph { construction: Construction::Given, n_nodes, directed: false, links }
        } else {
            let mut listed = Vec::with_capacity(links.n_links());
            for node in 0..n_nodes {
                let list = response.noisy_list(node as u32, smaller(node), &mut stream(node));
                let pairs = list.into_iter().take_while(|&other| (other as usize) < node);
                listed.extend(pairs.map(|other| (other, node as u32, 1.0)));
            }
            listed.sort_unstable_by_key(|&(i, j, _)| (i, j));
            WeightedGraph::undirected(Construction::Given, n_nodes, listed)
        };
        Ok((graph,))
    }
}

#[cfg(test)]
mod tests;
