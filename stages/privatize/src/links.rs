//! How links are protected: one file for each mechanism, and the parts of reports that several of them send.

pub mod blink;
mod conduct;
pub mod dprr;
pub mod l_dpgcn;
pub mod ldpgen;
mod nested;
pub mod non_private;
pub mod public;
pub mod released;
pub mod rr;
pub mod symrr;

use veilgraph_contract::Streamed;
use veilgraph_privacy::count_noise::CountNoise;
use veilgraph_privacy::{Budget, DegreeNoise, NoisyDegrees, NoisyLinks, ReportFacts};

use crate::{EveryNode, Ideal, NodeNoise, NodeView};
use conduct::Conduct;
use nested::{ListNoise, NestedCount};

pub use conduct::Lie;
pub use nested::{LargerBudget, Nested};

/// What the ledger calls the noise on lists of bits.
const RANDOMIZED_RESPONSE: &str = "randomized response";

/// Facts of the reports of honest nodes. The reports of every mechanism get theirs here, so none leaves out where the
/// noise and the set of nodes come from.
fn facts_of(
    mechanism: &str,
    nodes: &EveryNode,
    (epsilon, degree_fraction, budget): (f64, f64, Budget),
    lists_per_link: f64,
    noise: DegreeNoise,
) -> ReportFacts {
    ReportFacts {
        mechanism: mechanism.to_owned(),
        epsilon,
        epsilon_edge: lists_per_link * epsilon,
        degree_fraction,
        budget,
        degree_noise: noise,
        randomness: nodes.randomness(),
        nodes_from_links: nodes.are_from_links(),
        lying_share: 0.0,
    }
}

/// Facts of reports of which all of the budget is spent on the lists.
fn facts_of_lists(
    mechanism: &str,
    nodes: &EveryNode,
    epsilon: f64,
    lists_per_link: f64,
    noise: DegreeNoise,
) -> ReportFacts {
    let budget = Budget { links: epsilon, degree: 0.0 };
    facts_of(mechanism, nodes, (epsilon, 0.0, budget), lists_per_link, noise)
}

/// Every node's list under randomized response, drawn while it is written; `is_sent(view, other)` tells which of a
/// node's reported links it sends, and may look at nothing but numbers of nodes. `conduct` tells what a node does in a
/// simulation.
///
/// # Privacy
/// Each list is `epsilon`-differentially private for any one of its bits: see
/// [`RandomizedResponse::noisy_list`](veilgraph_privacy::randomized_response::RandomizedResponse::noisy_list).
/// A part without budget is not sent.
fn noisy_lists(
    nodes: EveryNode,
    facts: &ReportFacts,
    is_sent: impl Fn(u32, u32) -> bool + Send + Sync + 'static,
    conduct: impl Fn(NodeNoise) -> Conduct + Send + Sync + 'static,
) -> Streamed<NoisyLinks> {
    let noise = ListNoise::new(facts.budget.links, &[], nodes.n_nodes());
    lists_with(noise, nodes, facts, is_sent, conduct)
}

/// The same with this noise, whose budget is that of the facts.
fn lists_with(
    list_noise: ListNoise,
    nodes: EveryNode,
    facts: &ReportFacts,
    is_sent: impl Fn(u32, u32) -> bool + Send + Sync + 'static,
    conduct: impl Fn(NodeNoise) -> Conduct + Send + Sync + 'static,
) -> Streamed<NoisyLinks> {
    let (n_nodes, epsilon) = (nodes.n_nodes(), facts.budget.links);
    let list = nodes.on_demand(move |view, noise, ()| {
        if epsilon == 0.0 {
            return Vec::new();
        }
        let mut list = match conduct(noise) {
            Conduct::Honest => list_noise.noisy_list(view.node(), view.neighbours(), noise),
            Conduct::Silent => Vec::new(),
            Conduct::Lying(lie) => lie.list(view, noise),
        };
        list.retain(|&other| is_sent(view.node(), other));
        list
    });
    NoisyLinks::streamed(facts, n_nodes, move |node| list(node, ()))
}

/// Every node's noisy degree; nobody sends one where there is no budget for it.
///
/// # Privacy
/// Each degree is `budget.degree`-differentially private for any one bit of the list, which moves the degree by one.
fn noisy_degrees(
    nodes: &EveryNode,
    facts: &ReportFacts,
    conduct: impl Fn(NodeNoise) -> Conduct + Sync,
) -> Result<NoisyDegrees, crate::Error> {
    degrees_below(&[], nodes, facts, conduct)
}

/// The same, where the noise is that of these larger budgets, which descend, and what this one adds to it.
fn degrees_below(
    larger: &[f64],
    nodes: &EveryNode,
    facts: &ReportFacts,
    conduct: impl Fn(NodeNoise) -> Conduct + Sync,
) -> Result<NoisyDegrees, crate::Error> {
    let epsilon = facts.budget.degree;
    if epsilon == 0.0 {
        return Ok(NoisyDegrees::none(facts.clone(), nodes.n_nodes()));
    }
    let at = |epsilon: f64| CountNoise::new(epsilon, facts.degree_noise, 1).map_err(crate::Error::from);
    let count_noise = NestedCount::new(epsilon, larger, at)?;
    let degrees = nodes.ask(|view, noise| match conduct(noise) {
        Conduct::Honest => Some(count_noise.add(view.degree(), noise)),
        Conduct::Silent => None,
        Conduct::Lying(lie) => Some(lie.degree(view, noise)),
    });
    Ok(NoisyDegrees::from_nodes(facts.clone(), &degrees))
}

/// The bits of a node's list about the others for which `is_sent` holds, as they are before noise.
fn ideal_list(node: NodeView, epsilon: f64, is_sent: impl Fn(u32, u32) -> bool) -> Vec<Ideal> {
    let sent = node.others().filter(|&other| is_sent(node.node(), other));
    sent.map(|other| Ideal::Bit { is_set: node.has_link_to(other), epsilon }).collect()
}

/// The degree of a node before noise, if one is sent.
fn ideal_degree(node: NodeView, epsilon: f64) -> Option<Ideal> {
    (epsilon > 0.0).then_some(Ideal::Count { count: node.degree(), epsilon, steps: 1 })
}
