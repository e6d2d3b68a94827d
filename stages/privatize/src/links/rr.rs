//! Randomized response on the whole list.

use serde::{Deserialize, Serialize};
use veilgraph_contract::{Release, Streamed, Subject};
use veilgraph_privacy::composition::releases_of_lists;
use veilgraph_privacy::{DegreeNoise, Epsilon, NoisyLinks};

use super::blink::LISTS_PER_LINK;
use super::{Conduct, RANDOMIZED_RESPONSE, facts_of_lists, ideal_list, noisy_lists};
use crate::{Error, EveryNode, Ideal, LocalMechanism, NodeView};

/// Each node sends every bit of its list under randomized response.
///
/// The server may take the noisy links as they are (RR), or learn weights for them while it trains (Solitude: Lin, Li,
/// Wang 2022). Both ask the nodes for the same reports, so both are served by one release.
///
/// # Privacy
/// `epsilon`-differentially private for one bit of one list; `2 epsilon` for a link, which stands in two lists.
///
/// # Source
/// Warner (1965), Randomized response; on lists as in Zhu, Tan, Xiao (2023), Blink, section 5.1.
pub struct Rr;

/// What randomized response reads of `[privatize.links]`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Params {
    /// Budget of each node, in nats per bit of its list.
    pub epsilon: Epsilon,
}

impl LocalMechanism for Rr {
    const NAME: &'static str = "rr";
    type Params = Params;
    type Question = ();
    type Reports = (Streamed<NoisyLinks>,);

    fn releases(params: &Params) -> Vec<Release> {
        releases_of_lists(Subject::Links, RANDOMIZED_RESPONSE, params.epsilon.nats(), true, LISTS_PER_LINK)
    }

    fn ideal(node: NodeView, (): &(), params: &Params) -> Vec<Ideal> {
        ideal_list(node, params.epsilon.nats(), |_, _| true)
    }

    fn report(nodes: EveryNode, (): (), params: &Params) -> Result<Self::Reports, Error> {
        let noise = DegreeNoise::default();
        let facts = facts_of_lists(Self::NAME, &nodes, params.epsilon.nats(), LISTS_PER_LINK, noise);
        Ok((noisy_lists(nodes, &facts, |_, _| true, |_| Conduct::Honest),))
    }
}
