//! The server builds a graph from link probabilities.

use serde::{Deserialize, Serialize};
use veilgraph_contract::{Invalid, Progress, Server, Stage, StageRng};
use veilgraph_graph::{Construction, WeightedGraph};
use veilgraph_posterior::{Kernel, LinkEvidence, LinkModel, Posterior, sigmoid};

/// Turns the posterior into a graph.
pub struct Construct;

/// The `[construct]` table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Params {
    /// How probabilities become links.
    #[serde(default = "default_variant")]
    pub variant: Construction,
    /// How many entries a hybrid graph keeps, as a multiple of those expected, ΣP (1 in the paper).
    #[serde(default = "default_edge_multiple")]
    pub edge_multiple: f64,
}

/// Why no graph is built.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The number of edges makes no sense.
    #[error("edge_multiple must be a positive number, not {0}")]
    EdgeMultiple(f64),
    /// Artifacts do not belong together.
    #[error(transparent)]
    Invalid(#[from] Invalid),
}

fn default_edge_multiple() -> f64 {
    1.0
}

fn default_variant() -> Construction {
    Construction::Hybrid
}

impl Stage for Construct {
    const NAME: &'static str = "construct";
    const RANDOM: bool = false;
    type Side = Server;
    type Params = Params;
    type Inputs = (LinkModel, LinkEvidence);
    type Outputs = (WeightedGraph,);
    type Error = Error;

    fn run(
        (model, evidence): Self::Inputs,
        params: &Params,
        _: &StageRng,
        _: &Progress,
    ) -> Result<Self::Outputs, Error> {
        if !(params.edge_multiple > 0.0 && params.edge_multiple.is_finite()) {
            return Err(Error::EdgeMultiple(params.edge_multiple));
        }
        let posterior = Posterior::new(&model, evidence)?;
        let mut links = match params.variant {
            Construction::Hard => hard(&posterior),
            Construction::Soft => Vec::new(),
            Construction::Hybrid => hybrid(&posterior, params.edge_multiple),
        };
        links.sort_unstable_by_key(|&(i, j, _)| (i, j));
        Ok((WeightedGraph { construction: params.variant, n_nodes: posterior.n_nodes(), links },))
    }
}

/// Pairs more likely linked than not: `P > ½`, strictly (Blink, section 4.4).
fn hard(posterior: &Posterior) -> Vec<(u32, u32, f32)> {
    let mut links = Vec::new();
    posterior.visit_pairs(|logit| logit > 0.0, |i, j, _| links.push((i, j, 1.0)));
    links
}

/// The most likely ordered pairs, `⌊multiple · Σ P⌋` of them, with their probabilities; ties are all kept.
fn hybrid(posterior: &Posterior, multiple: f64) -> Vec<(u32, u32, f32)> {
    let expected_links = posterior.pair_sum(Kernel::Logistic);
    let n_pairs = posterior.n_nodes() * posterior.n_nodes().saturating_sub(1) / 2;
    // The rank counts ordered pairs and P is symmetric: unordered, it is half of that, rounded up.
    let rank = ((2.0 * multiple * expected_links).floor() as usize).div_ceil(2).min(n_pairs);
    if rank == 0 {
        return Vec::new();
    }
    let floor = enough(posterior, rank);
    let mut found = Vec::new();
    posterior.visit_pairs(|logit| logit >= floor, |i, j, logit| found.push((i, j, sigmoid(logit))));
    let rank = rank.min(found.len());
    // Ties are decided on the probability itself, which saturates where the logit still grows.
    let (_, &mut (_, _, least), _) = found.select_nth_unstable_by(rank - 1, |a, b| b.2.total_cmp(&a.2));
    found.retain(|&(_, _, probability)| probability >= least);
    found.into_iter().map(|(i, j, probability)| (i, j, probability as f32)).collect()
}

/// A logit that at least `rank` pairs reach, and not many more.
fn enough(posterior: &Posterior, rank: usize) -> f64 {
    let among_claimed = enough_claimed(posterior, rank);
    // Among unclaimed pairs: a threshold that holds even if all claimed pairs were counted with them.
    let sorted = posterior.sorted_beta();
    let needed = (rank + posterior.evidence().n_pairs()) as u64;
    let (mut low, mut high) = (-800.0, 800.0);
    if posterior.count_as_if_unclaimed(&sorted, low) < needed {
        return among_claimed;
    }
    while high - low > 1e-3 {
        let middle = f64::midpoint(low, high);
        if posterior.count_as_if_unclaimed(&sorted, middle) >= needed {
            low = middle;
        } else {
            high = middle;
        }
    }
    among_claimed.max(low)
}

/// A logit that at least `rank` claimed pairs reach, from a histogram; `-∞` if there are fewer.
fn enough_claimed(posterior: &Posterior, rank: usize) -> f64 {
    const CELLS: usize = 1 << 16;
    if posterior.evidence().n_pairs() < rank {
        return f64::NEG_INFINITY;
    }
    let (least, most) = posterior.claimed_logit_bounds();
    let width = ((most - least) / CELLS as f64).max(f64::MIN_POSITIVE);
    let counts = posterior.claimed_histogram(CELLS, |logit| ((logit - least) / width) as usize);
    let mut reached = 0;
    for (cell, count) in counts.into_iter().enumerate().rev() {
        reached += count;
        if reached >= rank as u64 {
            // One cell lower, so that no rounding of a cell's edge loses a pair.
            return least + width * (cell as f64 - 1.0);
        }
    }
    f64::NEG_INFINITY
}

#[cfg(test)]
mod tests;
