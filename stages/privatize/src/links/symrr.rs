//! Symmetric randomized response: each pair is reported once.

use serde::{Deserialize, Serialize};
use veilgraph_contract::{Release, Streamed, Subject};
use veilgraph_privacy::composition::releases_of_lists;
use veilgraph_privacy::{DegreeNoise, Epsilon, NoisyLinks};

use super::{Conduct, RANDOMIZED_RESPONSE, facts_of_lists, ideal_list, noisy_lists};
use crate::{Error, EveryNode, Ideal, LocalMechanism, NodeView};

/// Each node sends the bits of its list about nodes of smaller numbers, under randomized response.
///
/// # Privacy
/// `epsilon`-differentially private for one bit of one list. A link is reported by one of its ends, so it costs
/// `epsilon` too; with [`Triangle::PublishedCode`] some pairs are reported by both ends and cost `2 epsilon`.
///
/// # Source
/// Zhu, Tan, Xiao (2023), Blink, section 5.1.
pub struct SymRr;

/// What symmetric randomized response reads of `[privatize.links]`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Params {
    /// Budget of each node, in nats per bit of its list.
    pub epsilon: Epsilon,
    /// Which pairs a node reports.
    #[serde(default)]
    pub triangle: Triangle,
}

/// Which pairs a node reports.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Triangle {
    /// The pairs with nodes of smaller numbers, so that each pair is reported once.
    #[default]
    Strict,
    /// Also the pair `(i, i + 1)`, as the published code does by mistake. Both ends then report that pair, so it costs
    /// `2 epsilon`.
    PublishedCode,
}

impl Triangle {
    /// Whether `node` reports its pair with `other`.
    fn holds(self, node: u32, other: u32) -> bool {
        other < node || (self == Self::PublishedCode && other == node + 1)
    }

    /// In how many of the reported lists a link stands, at most.
    fn lists_per_link(self) -> f64 {
        match self {
            Self::Strict => 1.0,
            Self::PublishedCode => 2.0,
        }
    }
}

impl LocalMechanism for SymRr {
    const NAME: &'static str = "symrr";
    type Params = Params;
    type Question = ();
    type Reports = (Streamed<NoisyLinks>,);

    fn releases(params: &Params) -> Vec<Release> {
        let lists_per_link = params.triangle.lists_per_link();
        releases_of_lists(Subject::Links, RANDOMIZED_RESPONSE, params.epsilon.nats(), true, lists_per_link)
    }

    fn ideal(node: NodeView, (): &(), params: &Params) -> Vec<Ideal> {
        ideal_list(node, params.epsilon.nats(), |node, other| params.triangle.holds(node, other))
    }

    fn report(nodes: EveryNode, (): (), params: &Params) -> Result<Self::Reports, Error> {
        let (noise, triangle) = (DegreeNoise::default(), params.triangle);
        let facts = facts_of_lists(Self::NAME, &nodes, params.epsilon.nats(), triangle.lists_per_link(), noise);
        Ok((noisy_lists(nodes, &facts, move |node, other| triangle.holds(node, other), |_| Conduct::Honest),))
    }
}

#[cfg(test)]
mod tests;
