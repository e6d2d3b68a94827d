//! L-DpGCN: noise on every entry of every list.

use serde::{Deserialize, Serialize};
use veilgraph_contract::{Release, Streamed, Subject};
use veilgraph_privacy::composition::releases_of_lists;
use veilgraph_privacy::count_noise::CountNoise;
use veilgraph_privacy::{DegreeNoise, Epsilon, NoisyEntries};

use super::blink::LISTS_PER_LINK;
use super::facts_of_lists;
use crate::{Error, EveryNode, Ideal, LocalMechanism, NodeView};

/// Each node sends every entry of its list with Laplace noise of scale `1 / epsilon`.
///
/// # Privacy
/// `epsilon`-differentially private for one bit of one list, because one bit moves one entry by one; `2 epsilon` for a
/// link. Integer noise stands on a grid of [`NoisyEntries::STEPS`] steps to one.
///
/// # Source
/// Zhu, Tan, Xiao (2023), Blink, section 5.1: `DpGCN` of Wu et al. (2022) with `LapGraph`, made local.
pub struct LDpGcn;

/// What L-DpGCN reads of `[privatize.links]`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Params {
    /// Budget of each node, in nats per bit of its list.
    pub epsilon: Epsilon,
    /// Law of the noise on entries.
    #[serde(default)]
    pub degree_noise: DegreeNoise,
}

impl LocalMechanism for LDpGcn {
    const NAME: &'static str = "l-dpgcn";
    type Params = Params;
    type Question = ();
    /// The entries of all pairs, drawn while they are written.
    type Reports = (Streamed<NoisyEntries>,);

    fn releases(params: &Params) -> Vec<Release> {
        let (epsilon, noise) = (params.epsilon.nats(), params.degree_noise);
        // Without noise nothing can leak through the bits of the noise.
        let is_sound = noise.is_sound() || epsilon.is_infinite();
        releases_of_lists(
            Subject::Links,
            &format!("{} noise on entries", noise.name()),
            epsilon,
            is_sound,
            LISTS_PER_LINK,
        )
    }

    fn check(params: &Params) -> Result<(), Error> {
        CountNoise::new(params.epsilon.nats(), params.degree_noise, NoisyEntries::STEPS)?;
        Ok(())
    }

    fn ideal(node: NodeView, (): &(), params: &Params) -> Vec<Ideal> {
        let entry = |other| Ideal::Count {
            count: usize::from(node.has_link_to(other)),
            epsilon: params.epsilon.nats(),
            steps: NoisyEntries::STEPS,
        };
        node.others().map(entry).collect()
    }

    fn report(nodes: EveryNode, (): (), params: &Params) -> Result<Self::Reports, Error> {
        let (n_nodes, epsilon) = (nodes.n_nodes(), params.epsilon.nats());
        let facts = facts_of_lists(Self::NAME, &nodes, epsilon, LISTS_PER_LINK, params.degree_noise);
        let count_noise = CountNoise::new(epsilon, params.degree_noise, NoisyEntries::STEPS)?;
        let purpose = format!("entries {epsilon:?}");
        // Noise belongs to a node and a range of others: any block can be drawn without those before it.
        let entries = nodes.on_demand(move |view, noise, (tile, others): (usize, std::ops::Range<usize>)| {
            let mut stream = noise.stream_of_part(&purpose, tile);
            let entry = |other| count_noise.add(usize::from(view.has_link_to(other as u32)), &mut stream) as f32;
            others.map(entry).collect()
        });
        let draw = move |node, tile, others| entries(node, (tile, others));
        Ok((NoisyEntries::streamed(&facts, n_nodes, draw),))
    }
}

#[cfg(test)]
mod tests;
