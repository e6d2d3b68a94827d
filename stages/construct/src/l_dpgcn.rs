//! The pairs with the largest noisy entries (L-DpGCN).

use veilgraph_contract::{Draws, Invalid, NoParams, Progress, Server, Stage, StageRng};
use veilgraph_graph::{Construction, WeightedGraph};
use veilgraph_privacy::NoisyEntries;

use crate::Error;

/// Links the pairs with the largest `a_ij + a_ji`, as many as half the sum of all entries says; ties are kept.
///
/// # Source
/// Blink, section 5.1; Wu et al. (2022), `LapGraph`.
pub struct ConstructFromEntries;

impl Stage for ConstructFromEntries {
    const STAGE: &'static str = "construct";
    const TASK: &'static str = "l-dpgcn";
    const DRAWS: Draws = Draws::Never;
    type Side = Server;
    type Params = NoParams;
    type Inputs = (NoisyEntries,);
    type Outputs = (WeightedGraph,);
    type Error = Error;

    fn run((entries,): Self::Inputs, _: &NoParams, _: &StageRng, _: &Progress) -> Result<Self::Outputs, Error> {
        let NoisyEntries { n_nodes, sum, ref pairs, .. } = entries;
        let n_pairs = n_nodes * (n_nodes - 1) / 2;
        let n_links = (sum / 2.0).round().clamp(0.0, n_pairs as f64) as usize;
        if n_links > pairs.len() {
            return Err(Error::TooManyLinks(n_links, pairs.len()));
        }
        let score = |&(_, _, from_i, from_j): &(u32, u32, f32, f32)| from_i + from_j;
        // Ranks descend, so ties with the last one follow it.
        let least = n_links.checked_sub(1).map(|last| score(&pairs[last]));
        let chosen = pairs.iter().take_while(|pair| least.is_some_and(|least| score(pair) >= least));
        let mut links: Vec<(u32, u32, f32)> = chosen.map(|&(i, j, ..)| (i, j, 1.0)).collect();
        links.sort_unstable_by_key(|&(i, j, _)| (i, j));
        if let Some(two) = links.windows(2).find(|two| two[0] == two[1]) {
            return Err(
                Invalid(format!("the pair of {} and {} stands twice in noisy_entries", two[0].0, two[0].1)).into()
            );
        }
        Ok((WeightedGraph::undirected(Construction::Given, n_nodes, links),))
    }
}
