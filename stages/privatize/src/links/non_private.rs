//! The lists themselves: a reference, not a protection.

use veilgraph_contract::{NoParams, Release, Streamed, Subject};
use veilgraph_privacy::composition::releases_of_lists;
use veilgraph_privacy::{DegreeNoise, NoisyLinks};

use super::blink::LISTS_PER_LINK;
use super::{Conduct, facts_of_lists, noisy_lists};
use crate::{Error, EveryNode, Ideal, LocalMechanism, NodeView};

/// Each node sends its list as it is.
///
/// # Privacy
/// None: the budget is infinite, and no deployment accepts this mechanism.
pub struct NonPrivate;

impl LocalMechanism for NonPrivate {
    const NAME: &'static str = "non-private";
    type Params = NoParams;
    type Question = ();
    type Reports = (Streamed<NoisyLinks>,);

    fn releases(_: &NoParams) -> Vec<Release> {
        releases_of_lists(Subject::Links, "none", f64::INFINITY, true, LISTS_PER_LINK)
    }

    fn ideal(node: NodeView, (): &(), _: &NoParams) -> Vec<Ideal> {
        super::ideal_list(node, f64::INFINITY, |_, _| true)
    }

    fn report(nodes: EveryNode, (): (), _: &NoParams) -> Result<Self::Reports, Error> {
        let facts = facts_of_lists(Self::NAME, &nodes, f64::INFINITY, LISTS_PER_LINK, DegreeNoise::default());
        Ok((noisy_lists(nodes, &facts, |_, _| true, |_| Conduct::Honest),))
    }
}
