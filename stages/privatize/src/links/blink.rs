//! Blink: randomized response on the list, noise on the degree.

use rand::RngExt;
use serde::{Deserialize, Serialize};
use veilgraph_contract::{Release, Streamed, Subject};
use veilgraph_privacy::composition::releases_of_lists;
use veilgraph_privacy::count_noise::CountNoise;
use veilgraph_privacy::{Budget, DegreeFraction, DegreeNoise, Epsilon, NoisyDegrees, NoisyLinks, ReportFacts};

use super::nested::ListNoise;
use super::{Conduct, Lie, Nested, RANDOMIZED_RESPONSE, degrees_below, facts_of, ideal_degree, ideal_list, lists_with};
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
    /// Share of nodes, in `[0, 1)`, that send whatever they like: a simulation of nodes that lie. It is left out of keys
    /// where it is 0.
    #[serde(default, skip_serializing_if = "is_default")]
    pub lying_share: f64,
    /// What the lying nodes send: lists of ones where this does not say it.
    #[serde(default, skip_serializing_if = "is_default")]
    pub lie: Option<Lie>,
    /// Whether the reports at a budget are those at the next larger one with further noise: a simulation. It is left out of
    /// keys where they are not.
    #[serde(default, skip_serializing_if = "is_default")]
    pub nested: Nested,
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
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

/// Refuses a budget of the degree that is out of reach for this noise.
pub(super) fn check_degree_noise(budget: Budget, noise: DegreeNoise) -> Result<(), Error> {
    if budget.degree > 0.0 {
        CountNoise::new(budget.degree, noise, 1)?;
    }
    Ok(())
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
    let parts = (epsilon.nats(), fraction.share(epsilon, None), epsilon.split(fraction));
    facts_of(mechanism, nodes, parts, LISTS_PER_LINK, noise)
}

impl Params {
    /// Both parts of a node's budget.
    #[must_use]
    pub fn budget(&self) -> Budget {
        self.epsilon.split(self.degree_fraction)
    }

    /// The same parameters with only what is read: where no node lies, no lie is told.
    #[must_use]
    pub fn with_what_is_read(mut self) -> Self {
        self.lie = (self.lying_share > 0.0).then(|| self.lie.unwrap_or_default());
        self
    }

    /// What each node does, as the nodes themselves find out. A node that is out of reach cannot lie.
    fn conduct(&self) -> impl Fn(NodeNoise) -> Conduct + Send + Sync + use<> {
        let (missing, lying, lie) = (self.missing_share, self.lying_share, self.lie.unwrap_or_default());
        let is_drawn = |noise: NodeNoise, purpose: &str, share: f64| {
            share > 0.0 && noise.simulated(purpose).random::<f64>() < share
        };
        move |noise: NodeNoise| {
            if is_drawn(noise, "missing", missing) {
                Conduct::Silent
            } else if is_drawn(noise, "lying", lying) {
                Conduct::Lying(lie)
            } else {
                Conduct::Honest
            }
        }
    }
}

impl LocalMechanism for Blink {
    const NAME: &'static str = "blink";
    type Params = Params;
    type Question = ();
    /// Lists are drawn while they are written: all together they may exceed the memory.
    type Reports = (Streamed<NoisyLinks>, NoisyDegrees);

    fn releases(params: &Params) -> Vec<Release> {
        let mut releases = releases_of_list_and_degree(params.budget(), params.degree_noise);
        if params.nested != Nested::default() {
            for release in &mut releases {
                release.sound = false;
                "nested reports are drawn in double precision".clone_into(&mut release.why);
            }
        }
        releases
    }

    fn ideal(node: NodeView, (): &(), params: &Params) -> Vec<Ideal> {
        ideal_list_and_degree(node, params.budget())
    }

    fn check(params: &Params) -> Result<(), Error> {
        let share = params.missing_share;
        // Only a node that owes a degree can be missed.
        if !(0.0..1.0).contains(&share) || (share > 0.0 && params.budget().degree == 0.0) {
            return Err(Error::MissingShare(share));
        }
        if !(0.0..1.0).contains(&params.lying_share) {
            return Err(Error::LyingShare(params.lying_share));
        }
        check_degree_noise(params.budget(), params.degree_noise)
    }

    fn report(nodes: EveryNode, (): (), params: &Params) -> Result<Self::Reports, Error> {
        Self::check(params)?;
        let Params { epsilon, degree_fraction, degree_noise, lying_share, .. } = *params;
        let honest = facts_of_list_and_degree(Self::NAME, &nodes, epsilon, degree_fraction, degree_noise);
        let facts = ReportFacts { lying_share, ..honest };
        let Budget { links, degree } = facts.budget;
        let degrees = degrees_below(&params.nested.of_degrees(degree), &nodes, &facts, params.conduct())?;
        let list_noise = ListNoise::new(links, &params.nested.of_lists(links), nodes.n_nodes());
        Ok((lists_with(list_noise, nodes, &facts, |_, _| true, params.conduct()), degrees))
    }
}

#[cfg(test)]
mod tests;
