//! The links themselves, where they are declared public.

use std::convert::Infallible;

use veilgraph_contract::{Draws, NoParams, Owner, Private, Progress, Stage, StageRng};
use veilgraph_graph::{AdjacencyList, Construction, LinkSample, WeightedGraph};

/// Publishes the links, and the pairs of nodes that help to choose a model of links.
///
/// # Privacy
/// None, and none is claimed: whoever chooses this function declares that the links are public, as PGC and LPGNN do.
/// They are no protected data then, so it releases nothing and no row of the ledger is written.
pub struct PublishLinks;

impl Stage for PublishLinks {
    const STAGE: &'static str = "privatize";
    const TASK: &'static str = "public";
    const DRAWS: Draws = Draws::Never;
    type Side = Owner;
    type Params = NoParams;
    type Inputs = (Private<AdjacencyList>, Option<Private<LinkSample>>);
    type Outputs = (WeightedGraph, Option<LinkSample>);
    type Error = Infallible;

    fn run(
        (Private(links), sample): Self::Inputs,
        _: &NoParams,
        _: &StageRng,
        _: &Progress,
    ) -> Result<Self::Outputs, Infallible> {
        let listed = links.links().map(|(i, j)| (i, j, 1.0)).collect();
        let graph = WeightedGraph::undirected(Construction::Given, links.n_nodes(), listed);
        Ok((graph, sample.map(|Private(sample)| sample)))
    }
}

#[cfg(test)]
mod tests;
