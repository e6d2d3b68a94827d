//! Noise on every entry of every list (L-DpGCN).

use veilgraph_contract::{Owner, Private, Progress, Stage, StageRng, Streamed};
use veilgraph_graph::AdjacencyList;
use veilgraph_privacy::degree_noise::CountNoise;
use veilgraph_privacy::{NoisyDegrees, NoisyEntries};

use crate::{Error, Params, at_least_three};

/// Turns private links into lists with noise on every entry.
///
/// # Source
/// Blink, section 5.1: Wu et al. (2022), `DpGCN` with `LapGraph`, made local.
pub struct PrivatizeEntries;

impl Stage for PrivatizeEntries {
    const NAME: &'static str = "privatize";
    const RANDOM: bool = true;
    type Side = Owner;
    type Params = Params;
    type Inputs = (Private<AdjacencyList>,);
    /// The entries of all pairs, drawn while they are written, and no degree.
    type Outputs = (Streamed<NoisyEntries>, NoisyDegrees);
    type Error = Error;

    fn run(
        (Private(graph),): Self::Inputs,
        params: &Params,
        rng: &StageRng,
        _: &Progress,
    ) -> Result<Self::Outputs, Error> {
        let n_nodes = at_least_three(&graph)?;
        let facts = params.facts(rng.randomness());
        let epsilon = facts.budget.links;
        let noise = CountNoise::new(epsilon, params.degree_noise, NoisyEntries::STEPS)?;
        let (rng, purpose) = (rng.clone(), format!("entries {epsilon:?}"));
        // Noise belongs to a node and a range of others: any block can be drawn without those before it.
        let entries = NoisyEntries::streamed(&facts, n_nodes, move |node, tile, others| {
            let mut stream = rng.stream(&purpose, ((tile as u64) << 32) | node as u64);
            let links = graph.neighbours(node);
            others
                .map(|other| {
                    let bit = usize::from(links.binary_search(&(other as u32)).is_ok());
                    noise.add(bit, &mut stream) as f32
                })
                .collect()
        });
        Ok((entries, NoisyDegrees::none(facts, n_nodes)))
    }
}
