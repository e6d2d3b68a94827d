//! LDPGen: noisy numbers of neighbours in groups that the server names, asked for in two rounds.

use serde::{Deserialize, Serialize};
use veilgraph_contract::{Release, Subject};
use veilgraph_privacy::composition::releases_of_lists;
use veilgraph_privacy::count_noise::CountNoise;
use veilgraph_privacy::{DegreeNoise, Epsilon, Groups, NoisyCounts};

use super::blink::LISTS_PER_LINK;
use super::facts_of_lists;
use crate::{Error, EveryNode, Ideal, LocalMechanism, NodeView};

/// Round `ROUND` of two: each node sends its noisy number of neighbours in every group.
///
/// # Privacy
/// Each round is `epsilon / 2`-differentially private for one bit of one list, because one bit moves one count by one;
/// both rounds together cost `epsilon`, and `2 epsilon` for a link.
///
/// # Source
/// Qin et al. (2017), LDPGen, phases 1 and 2.
pub struct LdpGen<const ROUND: u8>;

/// What LDPGen reads of `[privatize.links]`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Params {
    /// Budget of each node for both rounds, in nats per bit of its list.
    pub epsilon: Epsilon,
    /// Law of the noise on counts.
    #[serde(default)]
    pub degree_noise: DegreeNoise,
}

impl Params {
    /// Budget of one round.
    fn epsilon_of_round(&self) -> f64 {
        self.epsilon.nats() / 2.0
    }
}

/// Numbers of neighbours by group.
fn counts(node: NodeView, groups: &Groups) -> Vec<usize> {
    let mut counts = vec![0; groups.n_groups];
    node.neighbours().iter().for_each(|&other| counts[groups.of[other as usize] as usize] += 1);
    counts
}

impl<const ROUND: u8> LocalMechanism for LdpGen<ROUND> {
    const NAME: &'static str = if ROUND == 1 { "ldpgen-round-1" } else { "ldpgen-round-2" };
    type Params = Params;
    type Question = Groups;
    type Reports = (NoisyCounts,);

    fn releases(params: &Params) -> Vec<Release> {
        let (epsilon, noise) = (params.epsilon_of_round(), params.degree_noise);
        // Without noise nothing can leak through the bits of the noise.
        let is_sound = noise.is_sound() || epsilon.is_infinite();
        let noise_in_words = format!("{} noise on counts of neighbours", noise.name());
        releases_of_lists(Subject::Links, &noise_in_words, epsilon, is_sound, LISTS_PER_LINK)
    }

    fn check(params: &Params) -> Result<(), Error> {
        CountNoise::new(params.epsilon_of_round(), params.degree_noise, 1)?;
        Ok(())
    }

    fn ideal(node: NodeView, groups: &Groups, params: &Params) -> Vec<Ideal> {
        let epsilon = params.epsilon_of_round();
        counts(node, groups).into_iter().map(|count| Ideal::Count { count, epsilon, steps: 1 }).collect()
    }

    fn report(nodes: EveryNode, groups: Groups, params: &Params) -> Result<Self::Reports, Error> {
        let n_nodes = nodes.n_nodes();
        if groups.of.len() != n_nodes {
            return Err(Error::Groups(groups.of.len(), n_nodes));
        }
        let epsilon = params.epsilon_of_round();
        let count_noise = CountNoise::new(epsilon, params.degree_noise, 1)?;
        let purpose = format!("counts {ROUND} {epsilon:?}");
        let rows: Vec<Vec<f64>> = nodes.ask(|view, noise| {
            let mut stream = noise.stream(&purpose);
            counts(view, &groups).into_iter().map(|count| count_noise.add(count, &mut stream)).collect()
        });
        let facts = facts_of_lists("ldpgen", &nodes, params.epsilon.nats(), LISTS_PER_LINK, params.degree_noise);
        Ok((NoisyCounts { facts, n_groups: groups.n_groups, counts: rows.concat() },))
    }
}

#[cfg(test)]
mod tests;
