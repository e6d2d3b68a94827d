//! Every node perturbs its own list and degree, and sends one noisy report.

use rand::RngExt;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use veilgraph_contract::{Owner, Private, Progress, Stage, StageRng, Streamed};
use veilgraph_graph::AdjacencyList;
use veilgraph_privacy::degree_noise::{DegreeBudgetError, noisy_degree};
use veilgraph_privacy::randomized_response::RandomizedResponse;
use veilgraph_privacy::{
    Budget, DegreeFraction, DegreeNoise, Epsilon, NoisyDegrees, NoisyLinks, Relation, Release, ReportFacts,
};

/// Turns private links into noisy reports.
pub struct Privatize;

/// The `[privatize.links]` table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Params {
    /// How links are protected.
    #[serde(default)]
    pub mechanism: Mechanism,
    /// Whole budget of each node, in nats per bit of its list.
    pub epsilon: Epsilon,
    /// Share of the budget spent on the degree; 0 sends no degree, 1 sends no list; `"auto"`: by the budget alone.
    #[serde(default = "default_degree_fraction")]
    pub degree_fraction: DegreeFraction,
    /// Noise on the degree.
    #[serde(default)]
    pub degree_noise: DegreeNoise,
    /// Share of nodes, in `[0, 1)`, that send nothing: a simulation of devices that are out of reach.
    #[serde(default)]
    pub missing_share: f64,
}

/// How links are protected.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mechanism {
    /// Randomized response on the list, Laplace noise on the degree (Zhu, Tan, Xiao 2023, algorithm 1).
    #[default]
    Blink,
}

fn default_degree_fraction() -> DegreeFraction {
    DegreeFraction::try_from(0.1).unwrap_or_else(|_| unreachable!("0.1 lies in [0, 1]"))
}

/// Why no report can be made.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Blink clips degrees to `[1, n - 2]`, which is empty below three nodes.
    #[error("the graph has {0} nodes; link-local privacy needs at least 3")]
    TooSmall(usize),
    /// The budget of the degree is out of reach for integer noise.
    #[error(transparent)]
    DegreeBudget(#[from] DegreeBudgetError),
    /// Missing nodes make no sense as asked for.
    #[error(
        "missing_share = {0} must lie in [0, 1), and needs a degree_fraction above 0: \
         a missing node is one that sends no degree"
    )]
    MissingShare(f64),
}

impl Params {
    /// Both parts of a node's budget.
    #[must_use]
    pub fn budget(&self) -> Budget {
        self.epsilon.split(self.degree_fraction)
    }

    /// Why no deployment may use these parameters, if so.
    #[must_use]
    pub fn refused_in_deployment(&self) -> Option<&'static str> {
        if !self.degree_noise.is_sound() {
            Some("degree_noise = \"laplace\" leaks through its floating-point bits; use \"discrete-laplace\"")
        } else if self.epsilon.nats().is_infinite() {
            Some("epsilon = inf releases the links themselves; choose a finite budget")
        } else if self.missing_share > 0.0 {
            Some("missing_share simulates missing nodes; remove it")
        } else {
            None
        }
    }

    /// What one run of this stage releases: its rows in the ledger. No data is needed to know it.
    #[must_use]
    pub fn releases(&self) -> Vec<Release> {
        let budget = self.budget();
        let degree_mechanism = format!("{} noise", self.degree_noise.name());
        let parts = [
            ("link", "randomized response", budget.links, true),
            ("degree", &degree_mechanism, budget.degree, self.degree_noise.is_sound()),
        ];
        let rows = parts.into_iter().filter(|&(_, _, epsilon, _)| epsilon > 0.0);
        rows.flat_map(|(target, mechanism, epsilon, sound)| {
            // Both ends of a link report it, so removing the link changes one bit in each of two lists.
            [(Relation::ListBit, 1.0), (Relation::Edge, 2.0)].map(|(relation, lists)| Release {
                mechanism: mechanism.to_owned(),
                target: target.to_owned(),
                model: "local".to_owned(),
                relation,
                epsilon: lists * epsilon,
                dp_delta: 0.0,
                sound,
            })
        })
        .collect()
    }
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
        let n_nodes = graph.n_nodes();
        if n_nodes < 3 {
            return Err(Error::TooSmall(n_nodes));
        }
        let budget = params.budget();
        let missing = missing(params, n_nodes, rng)?;
        // The budget is part of the purpose: no random word ever serves at two budgets.
        let purpose = |part: &str, epsilon: f64| format!("{part} {epsilon:?}");
        let (for_links, for_degrees) = (purpose("links", budget.links), purpose("degree", budget.degree));
        let facts = ReportFacts {
            mechanism: "blink".to_owned(),
            epsilon: params.epsilon.nats(),
            degree_fraction: params.degree_fraction.share(params.epsilon),
            budget,
            degree_noise: params.degree_noise,
            randomness: rng.randomness(),
        };
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
        let links = NoisyLinks::streamed(&facts, n_nodes, move |node| {
            if budget.links == 0.0 || missing[node] {
                return Vec::new();
            }
            let mut stream = rng.stream(&for_links, node as u64);
            response.noisy_list(node as u32, graph.neighbours(node), &mut stream)
        });
        Ok((links, degrees))
    }
}

/// Who sends nothing.
fn missing(params: &Params, n_nodes: usize, rng: &StageRng) -> Result<Vec<bool>, Error> {
    let share = params.missing_share;
    if !(0.0..1.0).contains(&share) || (share > 0.0 && params.budget().degree == 0.0) {
        return Err(Error::MissingShare(share));
    }
    let is_missing = |node: usize| share > 0.0 && rng.fast_stream("missing", node as u64).random::<f64>() < share;
    Ok((0..n_nodes).map(is_missing).collect())
}

#[cfg(test)]
mod tests;
