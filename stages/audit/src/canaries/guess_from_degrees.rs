//! Guesses about links from what nodes say about the number of their links.

use veilgraph_attack::{Canaries, PairScores, Record};
use veilgraph_contract::{Auditor, Draws, NoParams, Private, Progress, Stage, StageRng};
use veilgraph_graph::AdjacencyList;
use veilgraph_privacy::NoisyDegrees;

use super::{about, same_size, scored};
use crate::Error;

/// What the reported degrees say about each coin, as log odds of a link.
///
/// The attacker knows all links but the canaries: the degree of a node, less its other links, is the coin and the noise.
pub struct GuessFromDegrees;

impl Stage for GuessFromDegrees {
    const STAGE: &'static str = "audit";
    const TASK: &'static str = "guess-from-degrees";
    const DRAWS: Draws = Draws::Never;
    type Side = Auditor;
    type Params = NoParams;
    type Inputs = (Canaries, NoisyDegrees, Private<AdjacencyList>);
    type Outputs = (PairScores,);
    type Error = Error;

    fn run(
        (canaries, reported, Private(links)): Self::Inputs,
        _: &NoParams,
        _: &StageRng,
        _: &Progress,
    ) -> Result<Self::Outputs, Error> {
        about(&canaries, Record::Link)?;
        same_size(reported.n_nodes, &canaries)?;
        same_size(links.n_nodes(), &canaries)?;
        let mut known: Vec<f64> = (0..links.n_nodes()).map(|node| links.degree(node) as f64).collect();
        let mut coins = vec![0_u32; links.n_nodes()];
        for &(i, j, is_link) in &canaries.coins {
            for end in [i, j] {
                // The attacker does not know this link.
                known[end as usize] -= if is_link { 1.0 } else { 0.0 };
                coins[end as usize] += 1;
            }
        }
        let mut odds = vec![0.0; links.n_nodes()];
        for (&node, degree) in reported.senders.iter().zip(&reported.degrees) {
            let node = node as usize;
            let n_coins = f64::from(coins[node].max(1));
            let beyond_half = 2.0 * (degree - known[node] - n_coins / 2.0);
            // Log odds under Laplace noise; several coins share what is said about their sum.
            odds[node] = reported.facts.budget.degree.min(f64::from(f32::MAX)) * beyond_half.clamp(-1.0, 1.0) / n_coins;
        }
        Ok((scored(&canaries, |i, j| odds[i as usize] + odds[j as usize]),))
    }
}
