//! Links that fair coins decide.

use std::collections::BTreeSet;

use rand::RngExt;
use rand::seq::SliceRandom;
use veilgraph_attack::{Canaries, Record};
use veilgraph_contract::{Draws, Owner, Private, Progress, Stage, StageRng};
use veilgraph_graph::AdjacencyList;

use super::PlantParams;
use crate::Error;

/// Decides some pairs of nodes by fair coins, before anything is released: a pair is linked afterwards if its coin says
/// so, whatever it was before.
///
/// No node is in two of the pairs where there are enough nodes, so that what a node reports depends on one coin. All
/// other links stay. A simulation alone does so, because the graph is no longer the true one.
pub struct PlantLinks;

impl Stage for PlantLinks {
    const STAGE: &'static str = "audit";
    const TASK: &'static str = "plant-links";
    const DRAWS: Draws = Draws::EveryTrial;
    type Side = Owner;
    type Params = PlantParams;
    type Inputs = (Private<AdjacencyList>,);
    type Outputs = (Private<AdjacencyList>, Canaries);
    type Error = Error;

    fn run(
        (Private(links),): Self::Inputs,
        params: &PlantParams,
        rng: &StageRng,
        _: &Progress,
    ) -> Result<Self::Outputs, Error> {
        let n_nodes = links.n_nodes();
        let n_pairs = n_nodes * n_nodes.saturating_sub(1) / 2;
        if params.canaries == 0 || 2 * params.canaries > n_pairs {
            let what = "half of the pairs of nodes";
            return Err(Error::Canaries { canaries: params.canaries, most: n_pairs / 2, what });
        }
        let chosen = pairs(n_nodes, params.canaries, rng);
        let mut stream = rng.fast_stream("coins of canaries", 0);
        let coins: Vec<(u32, u32, bool)> = chosen.iter().map(|&(i, j)| (i, j, stream.random())).collect();
        let others = links.links().filter(|pair| !chosen.contains(pair));
        let planted = coins.iter().filter(|coin| coin.2).map(|&(i, j, _)| (i, j));
        let graph = AdjacencyList::from_pairs(n_nodes, others.chain(planted))?;
        let graph = graph.with_nodes_from_links(links.nodes_from_links());
        Ok((Private(graph), Canaries { record: Record::Link, n_nodes, coins }))
    }
}

/// So many pairs `(i, j)` with `i < j`; of distinct nodes where there are enough.
fn pairs(n_nodes: usize, canaries: usize, rng: &StageRng) -> BTreeSet<(u32, u32)> {
    let mut stream = rng.fast_stream("canaries", 0);
    let ordered = |a: u32, b: u32| (a.min(b), a.max(b));
    if 2 * canaries <= n_nodes {
        let mut nodes: Vec<u32> = (0..n_nodes as u32).collect();
        nodes.shuffle(&mut stream);
        return nodes.chunks_exact(2).take(canaries).map(|pair| ordered(pair[0], pair[1])).collect();
    }
    let mut chosen = BTreeSet::new();
    while chosen.len() < canaries {
        let (a, b) = (stream.random_range(0..n_nodes as u32), stream.random_range(0..n_nodes as u32));
        if a != b {
            chosen.insert(ordered(a, b));
        }
    }
    chosen
}
