//! Links drawn from numbers of neighbours in groups (LDPGen).

use std::collections::BTreeMap;

use rand::RngExt;
use serde::{Deserialize, Serialize};
use veilgraph_contract::{Draws, Invalid, Progress, Server, Stage, StageRng};
use veilgraph_graph::{Construction, Links, WeightedGraph};
use veilgraph_privacy::{Groups, NoisyCounts};

use crate::Error;

/// Draws links from the counts of the second round.
///
/// # Source
/// Qin et al. (2017), LDPGen, phase 3, in the two readings of [`EdgeModel`].
pub struct ConstructFromCounts;

/// What this function reads of `[construct]`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Params {
    /// How counts become probabilities of links.
    #[serde(default)]
    pub edge_model: EdgeModel,
}

/// How LDPGen turns counts into probabilities of links.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EdgeModel {
    /// A node's count times a weight of the two groups, each direction drawn apart: Blink's published code.
    #[default]
    PublishedCode,
    /// In proportion to the counts of both ends, each pair drawn once (Chung, Lu 2002): as LDPGen is published.
    ChungLu,
}

impl Stage for ConstructFromCounts {
    const STAGE: &'static str = "construct";
    const TASK: &'static str = "ldpgen";
    const DRAWS: Draws = Draws::EveryTrial;
    type Side = Server;
    type Params = Params;
    /// The groups that were counted, the counts, and the groups that they gave.
    type Inputs = (Vec<Groups>, NoisyCounts);
    type Outputs = (WeightedGraph,);
    type Error = Error;

    fn run(
        (groups, counts): Self::Inputs,
        params: &Params,
        rng: &StageRng,
        _: &Progress,
    ) -> Result<Self::Outputs, Error> {
        let [counted, groups] = groups.as_slice() else {
            return Err(Invalid(format!("{} groupings where two were expected", groups.len())).into());
        };
        let n_nodes = counts.n_nodes();
        if counted.of.len() != n_nodes || groups.of.len() != n_nodes || counted.n_groups != counts.n_groups {
            return Err(Invalid("groups and noisy_counts come from different releases".to_owned()).into());
        }
        let regrouped = regrouped(&counts, counted, groups);
        let model = Model::new(&regrouped, groups);
        let directed = params.edge_model == EdgeModel::PublishedCode;
        let mut links = Vec::new();
        for source in 0..n_nodes {
            let mut stream = rng.fast_stream("links", source as u64);
            let first = if directed { 0 } else { source + 1 };
            for target in (first..n_nodes).filter(|&target| target != source) {
                let probability = match params.edge_model {
                    EdgeModel::PublishedCode => model.published(source, target),
                    EdgeModel::ChungLu => model.chung_lu(source, target),
                };
                if stream.random::<f64>() < probability {
                    links.push((source as u32, target as u32, 1.0));
                }
            }
        }
        let links = Links::Listed(links);
        Ok((WeightedGraph { construction: Construction::Given, n_nodes, directed, links },))
    }
}

/// Counts by the groups `to`, row-major, when they were made by the groups `from`: in proportion to what both share.
fn regrouped(counts: &NoisyCounts, from: &Groups, to: &Groups) -> Vec<f64> {
    let most = counts.n_nodes() as f64 - 1.0;
    // Of groups that are nearly as many as nodes, hardly any two share a node.
    let mut shared: Vec<BTreeMap<usize, f64>> = vec![BTreeMap::new(); from.n_groups];
    for (&a, &b) in from.of.iter().zip(&to.of) {
        *shared[a as usize].entry(b as usize).or_default() += 1.0;
    }
    let sizes = from.sizes();
    let mut all = vec![0.0; counts.n_nodes() * to.n_groups];
    for (node, row) in all.chunks_exact_mut(to.n_groups).enumerate() {
        for (a, &count) in counts.of(node).iter().enumerate().filter(|&(a, _)| sizes[a] > 0) {
            let per_node = count.round().clamp(0.0, most) / sizes[a] as f64;
            shared[a].iter().for_each(|(&b, both)| row[b] += per_node * both);
        }
    }
    all
}

/// Counts of nodes and groups.
struct Model<'a> {
    groups: &'a Groups,
    /// Row-major, `[n_nodes, n_groups]`.
    counts: &'a [f64],
    /// `[a, b]`: links of all nodes of group `a` to group `b`.
    between: Vec<f64>,
    /// Links of all nodes to each group.
    into: Vec<f64>,
    sizes: Vec<usize>,
}

impl<'a> Model<'a> {
    fn new(counts: &'a [f64], groups: &'a Groups) -> Self {
        let n_groups = groups.n_groups;
        let (mut between, mut into) = (vec![0.0; n_groups * n_groups], vec![0.0; n_groups]);
        for (row, &own) in counts.chunks_exact(n_groups).zip(&groups.of) {
            for (b, &count) in row.iter().enumerate() {
                between[own as usize * n_groups + b] += count;
                into[b] += count;
            }
        }
        Self { groups, counts, between, into, sizes: groups.sizes() }
    }

    fn count(&self, node: usize, group: usize) -> f64 {
        self.counts[node * self.groups.n_groups + group]
    }

    /// `d_u[b] (S_b / |b|) / (S_b + Σ_{w in a} d_w[b])` for `u` in group `a` and `v` in `b`, `S_b` all links into `b`.
    fn published(&self, u: usize, v: usize) -> f64 {
        let (a, b) = (self.groups.of[u] as usize, self.groups.of[v] as usize);
        let all = self.into[b] + self.between[a * self.groups.n_groups + b];
        if all == 0.0 { 0.0 } else { (self.count(u, b) * self.into[b] / self.sizes[b] as f64 / all).clamp(0.0, 1.0) }
    }

    /// `d_u[b] d_v[a] / Σ_{w in a} d_w[b]`.
    fn chung_lu(&self, u: usize, v: usize) -> f64 {
        let (a, b) = (self.groups.of[u] as usize, self.groups.of[v] as usize);
        let all = self.between[a * self.groups.n_groups + b];
        if all == 0.0 { 0.0 } else { (self.count(u, b) * self.count(v, a) / all).clamp(0.0, 1.0) }
    }
}
