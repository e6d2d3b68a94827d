//! Every node perturbs its own list and degree, and sends one noisy report.

mod counts;
mod entries;
mod params;

use rand::RngExt;
use rayon::prelude::*;
use veilgraph_contract::{Owner, Private, Progress, Stage, StageRng, Streamed};
use veilgraph_graph::AdjacencyList;
use veilgraph_privacy::degree_noise::{DegreeBudgetError, noisy_degree};
use veilgraph_privacy::randomized_response::RandomizedResponse;
use veilgraph_privacy::{Mechanism, NoisyDegrees, NoisyLinks};

pub use counts::{CountParams, PrivatizeCounts};
pub use entries::PrivatizeEntries;
pub use params::{Params, Triangle};

/// Turns private links into noisy lists and degrees.
pub struct Privatize;

/// Why no report can be made.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Blink clips degrees to `[1, n - 2]`, which is empty below three nodes.
    #[error("the graph has {0} nodes; link-local privacy needs at least 3")]
    TooSmall(usize),
    /// The groups are those of another graph.
    #[error("the server grouped {0} nodes and the graph has {1}; run again from the first round")]
    Groups(usize, usize),
    /// A budget is out of reach for integer noise.
    #[error(transparent)]
    DegreeBudget(#[from] DegreeBudgetError),
    /// Missing nodes make no sense as asked for.
    #[error(
        "missing_share = {0} must lie in [0, 1), and needs mechanism = \"blink\" and a degree_fraction above 0: \
         a missing node is one that sends no degree"
    )]
    MissingShare(f64),
}

impl Stage for Privatize {
    const NAME: &'static str = "privatize";
    const RANDOM: bool = true;
    type Side = Owner;
    type Params = Params;
    type Inputs = (Private<AdjacencyList>,);
    /// Lists are drawn while they are written: all together they may exceed the memory.
    type Outputs = (Streamed<NoisyLinks>, NoisyDegrees);
    type Error = Error;

    fn run(
        (Private(graph),): Self::Inputs,
        params: &Params,
        rng: &StageRng,
        _: &Progress,
    ) -> Result<Self::Outputs, Error> {
        let n_nodes = at_least_three(&graph)?;
        let budget = params.budget();
        let missing = missing(params, n_nodes, rng)?;
        // The budget is part of the purpose: no random word ever serves at two budgets.
        let purpose = |part: &str, epsilon: f64| format!("{part} {epsilon:?}");
        let (for_links, for_degrees) = (purpose("links", budget.links), purpose("degree", budget.degree));
        let facts = params.facts(rng.randomness());
        let degrees = if budget.degree > 0.0 {
            let send = |node: usize| {
                let mut stream = rng.stream(&for_degrees, node as u64);
                let degree = noisy_degree(graph.degree(node), budget.degree, params.degree_noise, &mut stream);
                if missing[node] { Ok(None) } else { degree.map(Some) }
            };
            let degrees: Vec<_> = (0..n_nodes).into_par_iter().map(send).collect::<Result<_, _>>()?;
            NoisyDegrees::from_nodes(facts.clone(), &degrees)
        } else {
            NoisyDegrees::none(facts.clone(), n_nodes)
        };
        let (rng, response) = (rng.clone(), RandomizedResponse::new(budget.links, n_nodes));
        let is_symmetric = params.mechanism == Mechanism::SymmetricRandomizedResponse;
        let triangle = params.triangle;
        let links = NoisyLinks::streamed(&facts, n_nodes, move |node| {
            if budget.links == 0.0 || missing[node] {
                return Vec::new();
            }
            let mut stream = rng.stream(&for_links, node as u64);
            let mut list = response.noisy_list(node as u32, graph.neighbours(node), &mut stream);
            if is_symmetric {
                list.retain(|&other| triangle.holds(node as u32, other));
            }
            list
        });
        Ok((links, degrees))
    }
}

/// Number of nodes.
fn at_least_three(graph: &AdjacencyList) -> Result<usize, Error> {
    if graph.n_nodes() < 3 { Err(Error::TooSmall(graph.n_nodes())) } else { Ok(graph.n_nodes()) }
}

/// Who sends nothing.
fn missing(params: &Params, n_nodes: usize, rng: &StageRng) -> Result<Vec<bool>, Error> {
    let share = params.missing_share;
    let is_noticed = params.mechanism == Mechanism::Blink && params.budget().degree > 0.0;
    if !(0.0..1.0).contains(&share) || (share > 0.0 && !is_noticed) {
        return Err(Error::MissingShare(share));
    }
    let is_missing = |node: usize| share > 0.0 && rng.fast_stream("missing", node as u64).random::<f64>() < share;
    Ok((0..n_nodes).map(is_missing).collect())
}

#[cfg(test)]
mod tests;
