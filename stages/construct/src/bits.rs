//! Graphs of reported links: all of them, in their direction or mirrored, or as many as the degrees say.

use rand::RngExt;
use serde::{Deserialize, Serialize};
use veilgraph_contract::{Draws, Invalid, Progress, Server, Stage, StageRng};
use veilgraph_graph::{Construction, Links, WeightedGraph};
use veilgraph_privacy::randomized_response::flip_probability;
use veilgraph_privacy::{NoisyDegrees, NoisyLinks};

use crate::Error;

/// Turns reported links into a graph.
pub struct ConstructFromBits;

/// What to do with the reported links. The wiring of a mechanism says it; no config table does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Params {
    /// Which of the reported links the graph has.
    pub keep: Keep,
    /// Whether a network learns weights of the links while it trains.
    pub learned: bool,
}

/// Which of the reported links a graph has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Keep {
    /// Every one, from the node that reported it.
    Directed,
    /// Every one, in both directions.
    Mirrored,
    /// As many of each node as its noisy degree says.
    Thinned,
}

impl Stage for ConstructFromBits {
    const STAGE: &'static str = "construct";
    const TASK: &'static str = "bits";
    const DRAWS: Draws = Draws::EveryTrial;
    type Side = Server;
    type Params = Params;
    /// Degrees are given where the mechanism asks for them.
    type Inputs = (NoisyLinks, Option<NoisyDegrees>);
    type Outputs = (WeightedGraph,);
    type Error = Error;

    fn run(
        (reported, degrees): Self::Inputs,
        params: &Params,
        rng: &StageRng,
        _: &Progress,
    ) -> Result<Self::Outputs, Error> {
        let n_nodes = reported.n_nodes();
        if degrees.as_ref().is_some_and(|degrees| reported.facts != degrees.facts || n_nodes != degrees.n_nodes) {
            return Err(Invalid("noisy_links and noisy_degrees come from different releases".to_owned()).into());
        }
        let directed = params.keep != Keep::Mirrored;
        let links = match (params.keep, degrees) {
            (Keep::Thinned, Some(degrees)) if !degrees.were_sent() => {
                return Err(Invalid("links are thinned by degrees, and none were reported".to_owned()).into());
            }
            (Keep::Thinned, Some(degrees)) => Links::Listed(thinned(&reported, &degrees, rng)),
            (Keep::Thinned, None) => {
                return Err(Invalid("links are thinned by noisy_degrees, which are absent".to_owned()).into());
            }
            (Keep::Directed | Keep::Mirrored, _) => as_reported(reported, directed),
        };
        let construction = if params.learned { Construction::Learned } else { Construction::Given };
        Ok((WeightedGraph { construction, n_nodes, directed, links },))
    }
}

/// Every reported link; in an undirected graph both ends have it if one reported it.
fn as_reported(links: NoisyLinks, directed: bool) -> Links {
    match links.into_bits() {
        Ok(bits) if directed => Links::Bits(bits),
        Ok(mut bits) => {
            bits.symmetrize();
            Links::Bits(bits)
        }
        Err(links) => {
            let all = (0..links.n_nodes()).flat_map(|node| links.ones(node).map(move |one| (node as u32, one)));
            let mut listed: Vec<(u32, u32, f32)> = if directed {
                all.map(|(source, target)| (source, target, 1.0)).collect()
            } else {
                all.map(|(i, j)| (i.min(j), i.max(j), 1.0)).collect()
            };
            listed.sort_unstable_by_key(|&(i, j, _)| (i, j));
            listed.dedup_by_key(|&mut (i, j, _)| (i, j));
            Links::Listed(listed)
        }
    }
}

/// Keeps each reported link of a node with a probability that leaves as many as its noisy degree says.
///
/// # Source
/// Hidano, Murakami (2022), Degree-preserving randomized response.
fn thinned(links: &NoisyLinks, degrees: &NoisyDegrees, rng: &StageRng) -> Vec<(u32, u32, f32)> {
    let n_others = links.n_nodes() as f64 - 1.0;
    let flip = flip_probability(links.facts.budget.links);
    let mut degree = vec![0.0; links.n_nodes()];
    for (&node, &sent) in degrees.senders.iter().zip(&degrees.degrees) {
        degree[node as usize] = sent;
    }
    let mut kept = Vec::new();
    for (node, &degree) in degree.iter().enumerate() {
        let share = sampling_rate(degree, flip, n_others);
        let mut stream = rng.fast_stream("thinning", node as u64);
        kept.extend(
            links.ones(node).filter(|_| stream.random::<f64>() < share).map(|target| (node as u32, target, 1.0)),
        );
    }
    kept
}

/// Share of a node's reported links that is kept, so that `degree` of them are expected: in `[0, 1]`.
pub(crate) fn sampling_rate(degree: f64, flip: f64, n_others: f64) -> f64 {
    let expected = degree * (1.0 - 2.0 * flip) + n_others * flip;
    // A negative degree keeps nothing, even where it makes the expected number negative too.
    if degree <= 0.0 || expected <= 0.0 { 0.0 } else { (degree / expected).min(1.0) }
}
