//! Degree-preserving randomized response.

use serde::{Deserialize, Serialize};
use veilgraph_contract::{Release, Streamed};
use veilgraph_privacy::{Budget, DegreeFraction, DegreeNoise, Epsilon, NoisyDegrees, NoisyLinks};

use super::blink::{
    check_degree_noise, default_degree_fraction, facts_of_list_and_degree, ideal_list_and_degree,
    releases_of_list_and_degree,
};
use super::{Conduct, noisy_degrees, noisy_lists};
use crate::{Error, EveryNode, Ideal, LocalMechanism, NodeView};

/// Each node sends what a node of [`Blink`](super::blink::Blink) sends; the server then keeps as many of the reported
/// links of a node as its noisy degree says.
///
/// # Privacy
/// That of Blink: `epsilon` for one bit of one list, `2 epsilon` for a link. Thinning the links afterwards costs
/// nothing, because it reads the reports alone (post-processing).
///
/// # Source
/// Hidano, Murakami (2022), Degree-preserving randomized response.
pub struct Dprr;

/// What DPRR reads of `[privatize.links]`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Params {
    /// Whole budget of each node, in nats per bit of its list.
    pub epsilon: Epsilon,
    /// Share of the budget spent on the degree.
    #[serde(default = "default_degree_fraction")]
    pub degree_fraction: DegreeFraction,
    /// Law of the noise on degrees.
    #[serde(default)]
    pub degree_noise: DegreeNoise,
}

impl Params {
    /// Both parts of a node's budget.
    #[must_use]
    pub fn budget(&self) -> Budget {
        self.epsilon.split(self.degree_fraction)
    }
}

impl LocalMechanism for Dprr {
    const NAME: &'static str = "dprr";
    type Params = Params;
    type Question = ();
    type Reports = (Streamed<NoisyLinks>, NoisyDegrees);

    fn releases(params: &Params) -> Vec<Release> {
        releases_of_list_and_degree(params.budget(), params.degree_noise)
    }

    fn check(params: &Params) -> Result<(), Error> {
        check_degree_noise(params.budget(), params.degree_noise)
    }

    fn ideal(node: NodeView, (): &(), params: &Params) -> Vec<Ideal> {
        ideal_list_and_degree(node, params.budget())
    }

    fn report(nodes: EveryNode, (): (), params: &Params) -> Result<Self::Reports, Error> {
        let Params { epsilon, degree_fraction, degree_noise } = *params;
        let facts = facts_of_list_and_degree(Self::NAME, &nodes, epsilon, degree_fraction, degree_noise);
        let degrees = noisy_degrees(&nodes, &facts, |_| Conduct::Honest)?;
        Ok((noisy_lists(nodes, &facts, |_, _| true, |_| Conduct::Honest), degrees))
    }
}
