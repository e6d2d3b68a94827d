//! The graph of nodes without any link: what networks make of features alone.

use veilgraph_contract::{Draws, Invalid, NoParams, Progress, Server, Stage, StageRng};
use veilgraph_graph::{Construction, Links, Nodes, WeightedGraph};

/// Builds the graph that has no link. Nothing about links is read, so nothing is released.
pub struct ConstructWithoutLinks;

impl Stage for ConstructWithoutLinks {
    const STAGE: &'static str = "construct";
    const TASK: &'static str = "no-links";
    const DRAWS: Draws = Draws::Never;
    type Side = Server;
    type Params = NoParams;
    type Inputs = (Nodes,);
    type Outputs = (WeightedGraph,);
    type Error = Invalid;

    fn run((nodes,): Self::Inputs, _: &NoParams, _: &StageRng, _: &Progress) -> Result<Self::Outputs, Invalid> {
        let (n_nodes, links) = (nodes.splits.len(), Links::Listed(Vec::new()));
        Ok((WeightedGraph { construction: Construction::Given, n_nodes, directed: true, links },))
    }
}
