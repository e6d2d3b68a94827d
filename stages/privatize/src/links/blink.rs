//! Blink: randomized response on the list, noise on the degree.

use rand::RngExt;
use serde::{Deserialize, Serialize};
use veilgraph_contract::{Release, Streamed, Subject};
use veilgraph_privacy::composition::releases_of_lists;
use veilgraph_privacy::{Budget, DegreeFraction, DegreeNoise, Epsilon, NoisyDegrees, NoisyLinks, ReportFacts};

use super::{RANDOMIZED_RESPONSE, ideal_degree, ideal_list, noisy_degrees, noisy_lists};
use crate::{Error, EveryNode, Ideal, LocalMechanism, NodeNoise, NodeView};

/// Each node sends every bit of its list under randomized response, and its degree with Laplace noise.
///
/// # Privacy
/// `epsilon`-differentially private for one bit of one list, by sequential composition of its two parts: the list costs
/// `(1 - degree_fraction) epsilon` and the degree `degree_fraction epsilon`. A link stands in two lists, so it costs
/// `2 epsilon`.
///
/// # Source
/// Zhu, Tan, Xiao (2023), Blink, algorithm 1.
pub struct Blink;

/// What Blink reads of `[privatize.links]`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Params {
    /// Whole budget of each node, in nats per bit of its list.
    pub epsilon: Epsilon,
    /// Share of the budget spent on the degree: 0 sends no degree, 1 sends no list, `"auto"` decides by the budget
    /// alone.
    #[serde(default = "default_degree_fraction")]
    pub degree_fraction: DegreeFraction,
    /// Law of the noise on degrees.
    #[serde(default)]
    pub degree_noise: DegreeNoise,
    /// Share of nodes, in `[0, 1)`, that send nothing: a simulation of devices that are out of reach.
    #[serde(default)]
    pub missing_share: f64,
}

pub(super) fn default_degree_fraction() -> DegreeFraction {
    DegreeFraction::try_from(0.1).unwrap_or_else(|_| unreachable!("0.1 lies in [0, 1]"))
}

/// In how many lists an undirected link stands that both its ends report.
pub(super) const LISTS_PER_LINK: f64 = 2.0;

/// The rows of the ledger for a list and a degree.
pub(super) fn releases_of_list_and_degree(budget: Budget, noise: DegreeNoise) -> Vec<Release> {
    let list = releases_of_lists(Subject::Links, RANDOMIZED_RESPONSE, budget.links, true, LISTS_PER_LINK);
    let noise_in_words = format!("{} noise", noise.name());
    let degree = releases_of_lists(Subject::Degrees, &noise_in_words, budget.degree, noise.is_sound(), LISTS_PER_LINK);
    [list, degree].concat()
}

/// A node's list and degree, as they are before noise.
pub(super) fn ideal_list_and_degree(node: NodeView, budget: Budget) -> Vec<Ideal> {
    ideal_list(node, budget.links, |_, _| true).into_iter().chain(ideal_degree(node, budget.degree)).collect()
}

/// Facts of reports that hold a list and a degree.
pub(super) fn facts_of_list_and_degree(
    mechanism: &str,
    nodes: &EveryNode,
    epsilon: Epsilon,
    fraction: DegreeFraction,
    noise: DegreeNoise,
) -> ReportFacts {
    ReportFacts {
        mechanism: mechanism.to_owned(),
        epsilon: epsilon.nats(),
        epsilon_edge: LISTS_PER_LINK * epsilon.nats(),
        degree_fraction: fraction.share(epsilon),
        budget: epsilon.split(fraction),
        degree_noise: noise,
        randomness: nodes.randomness(),
    }
}

impl Params {
    /// Both parts of a node's budget.
    #[must_use]
    pub fn budget(&self) -> Budget {
        self.epsilon.split(self.degree_fraction)
    }

    /// Which nodes send nothing, as the nodes themselves find out.
    fn silence(&self) -> impl Fn(NodeNoise) -> bool + Send + Sync + use<> {
        let share = self.missing_share;
        move |noise: NodeNoise| share > 0.0 && noise.simulated("missing").random::<f64>() < share
    }
}

impl LocalMechanism for Blink {
    const NAME: &'static str = "blink";
    type Params = Params;
    type Question = ();
    /// Lists are drawn while they are written: all together they may exceed the memory.
    type Reports = (Streamed<NoisyLinks>, NoisyDegrees);

    fn releases(params: &Params) -> Vec<Release> {
        releases_of_list_and_degree(params.budget(), params.degree_noise)
    }

    fn ideal(node: NodeView, (): &(), params: &Params) -> Vec<Ideal> {
        ideal_list_and_degree(node, params.budget())
    }

    fn report(nodes: EveryNode, (): (), params: &Params) -> Result<Self::Reports, Error> {
        let share = params.missing_share;
        // Only a node that owes a degree can be missed.
        if !(0.0..1.0).contains(&share) || (share > 0.0 && params.budget().degree == 0.0) {
            return Err(Error::MissingShare(share));
        }
        let facts =
            facts_of_list_and_degree(Self::NAME, &nodes, params.epsilon, params.degree_fraction, params.degree_noise);
        let degrees = noisy_degrees(&nodes, &facts, params.silence())?;
        Ok((noisy_lists(nodes, &facts, |_, _| true, params.silence()), degrees))
    }
}

#[cfg(test)]
mod tests;
