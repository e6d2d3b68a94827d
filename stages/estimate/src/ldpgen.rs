//! LDPGen: the server groups the nodes before each round of reports.

use rand::RngExt;
use veilgraph_contract::{Draws, NoParams, Progress, Server, Stage, StageRng};
use veilgraph_graph::Nodes;
use veilgraph_privacy::{Groups, NoisyCounts};

use crate::Error;
use crate::k_means::k_means;

/// Tosses a coin for every node: the two groups of the first round.
pub struct GroupAtRandom;

/// Groups nodes with similar counts.
///
/// # Source
/// Qin et al. (2017), LDPGen, phase 1; the number of groups as in Blink's published code.
pub struct GroupByCounts;

impl Stage for GroupAtRandom {
    const STAGE: &'static str = "estimate";
    const TASK: &'static str = "group-at-random";
    const DRAWS: Draws = Draws::EveryTrial;
    type Side = Server;
    type Params = NoParams;
    type Inputs = (Nodes,);
    type Outputs = (Groups,);
    type Error = Error;

    fn run((nodes,): Self::Inputs, _: &NoParams, rng: &StageRng, _: &Progress) -> Result<Self::Outputs, Error> {
        let mut coins = rng.fast_stream("coins", 0);
        let of = (0..nodes.splits.len()).map(|_| u32::from(coins.random::<bool>())).collect();
        Ok((Groups { of, n_groups: 2 },))
    }
}

impl Stage for GroupByCounts {
    const STAGE: &'static str = "estimate";
    const TASK: &'static str = "group-by-counts";
    const DRAWS: Draws = Draws::EveryTrial;
    type Side = Server;
    type Params = NoParams;
    /// Counts of this round; before them, in the second, the groups of the first: their number stays.
    type Inputs = (NoisyCounts, Option<Groups>);
    type Outputs = (Groups,);
    type Error = Error;

    fn run(
        (counts, earlier): Self::Inputs,
        _: &NoParams,
        rng: &StageRng,
        _: &Progress,
    ) -> Result<Self::Outputs, Error> {
        let n_groups = earlier.map_or_else(|| number_of_groups(&counts), |groups| groups.n_groups);
        let of = k_means(&counts.counts, counts.n_groups, n_groups, &mut rng.fast_stream("k-means", 0));
        Ok((Groups { of, n_groups },))
    }
}

/// How many groups the second round asks about.
fn number_of_groups(counts: &NoisyCounts) -> usize {
    let n = counts.n_nodes();
    let epsilon = counts.facts.budget.links / 2.0;
    let optimal = |t: f64| t + (t * t - 2.0 * (1.0 + 5.0_f64.sqrt()) * t + 1.0) / epsilon;
    let degree = |node: usize| counts.of(node).iter().sum::<f64>().round().clamp(1.0, n as f64 - 1.0);
    let mean = (0..n).map(|node| optimal(degree(node) / 2.0)).sum::<f64>() / n as f64;
    mean.ceil().clamp(1.0, n as f64) as usize
}
