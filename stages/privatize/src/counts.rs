//! Noisy numbers of neighbours in groups that the server named (LDPGen).

use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use veilgraph_contract::{Owner, Private, Progress, Stage, StageRng};
use veilgraph_graph::AdjacencyList;
use veilgraph_privacy::degree_noise::CountNoise;
use veilgraph_privacy::{Groups, NoisyCounts, NoisyDegrees};

use crate::{Error, Params, at_least_three};

/// Counts every node's neighbours in each group, with noise. One round of two; each has half the budget.
///
/// # Source
/// Qin et al. (2017), LDPGen, phases 1 and 2.
pub struct PrivatizeCounts;

/// `[privatize.links]` and the round; filled in by the runner.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CountParams {
    /// The table.
    pub links: Params,
    /// First or second.
    pub round: u8,
}

impl Stage for PrivatizeCounts {
    const NAME: &'static str = "privatize";
    const RANDOM: bool = true;
    type Side = Owner;
    type Params = CountParams;
    type Inputs = (Private<AdjacencyList>, Groups);
    /// The counts, and no degree.
    type Outputs = (NoisyCounts, NoisyDegrees);
    type Error = Error;

    fn run(
        (Private(graph), groups): Self::Inputs,
        params: &CountParams,
        rng: &StageRng,
        _: &Progress,
    ) -> Result<Self::Outputs, Error> {
        let n_nodes = at_least_three(&graph)?;
        if groups.of.len() != n_nodes {
            return Err(Error::Groups(groups.of.len(), n_nodes));
        }
        let facts = params.links.facts(rng.randomness());
        let epsilon = facts.budget.links / 2.0;
        let noise = CountNoise::new(epsilon, params.links.degree_noise, 1)?;
        let purpose = format!("counts {} {epsilon:?}", params.round);
        let rows = (0..n_nodes).into_par_iter().flat_map_iter(|node| {
            let mut counts = vec![0; groups.n_groups];
            graph.neighbours(node).iter().for_each(|&other| counts[groups.of[other as usize] as usize] += 1);
            let mut stream = rng.stream(&purpose, node as u64);
            counts.into_iter().map(move |count| noise.add(count, &mut stream)).collect::<Vec<_>>()
        });
        let counts = NoisyCounts { facts: facts.clone(), n_groups: groups.n_groups, counts: rows.collect() };
        Ok((counts, NoisyDegrees::none(facts, n_nodes)))
    }
}
