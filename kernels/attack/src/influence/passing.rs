//! Who receives from whom, and with which weight.

use veilgraph_graph::{Construction, WeightedGraph};
use veilgraph_nn::{Architecture, SageNorm, SavedModel};
use veilgraph_posterior::Posterior;

use super::{Changed, InfluenceError, Scratch};

/// Links as a network reads them.
pub(super) struct Passing {
    n_nodes: usize,
    /// By receiver: who sends, ascending, and the weight.
    senders: Vec<Vec<(u32, f64)>>,
    receivers: Receivers,
    /// Whether the weight of a link also multiplies its message, where nodes attend.
    pub double_weight: bool,
}

/// By sender: who receives, ascending, and the weight.
pub(super) struct Receivers(Vec<Vec<(u32, f64)>>);

/// Most entries that are ever listed, some gibibyte.
const MOST_ENTRIES: usize = 64_000_000;

/// The weights of a graph by receiver, without self-loops, ascending.
///
/// # Errors
/// When a soft graph comes without its posterior, links are learned with the model, or there are too many.
pub(super) fn incoming(
    graph: &WeightedGraph,
    posterior: Option<&Posterior>,
) -> Result<Vec<Vec<(u32, f64)>>, InfluenceError> {
    let n = graph.n_nodes;
    let n_entries = if graph.construction == Construction::Soft { n * n } else { graph.n_entries() };
    if n_entries > MOST_ENTRIES {
        return Err(InfluenceError::Links(format!(
            "the graph has {n_entries} weights, and linkteller lists at most {MOST_ENTRIES}; attack a smaller graph, or \
             one of another construction"
        )));
    }
    let mut rows = vec![Vec::new(); n];
    match (graph.construction, posterior) {
        (Construction::Soft, Some(posterior)) => {
            for (i, row) in rows.iter_mut().enumerate() {
                let others = (0..n as u32).filter(|&j| j as usize != i);
                row.extend(others.map(|j| (j, posterior.probability(i as u32, j))));
            }
        }
        (Construction::Soft, None) => {
            return Err(InfluenceError::Links("a soft graph needs its posterior, which is absent".into()));
        }
        (Construction::Learned, _) => {
            return Err(InfluenceError::Links(
                "the links of this graph were learned with a model, which does not hold them; leave solitude out"
                    .into(),
            ));
        }
        _ => {
            let both_listed = !graph.directed;
            for (source, target, weight) in graph.links() {
                rows[target as usize].push((source, f64::from(weight)));
                if both_listed {
                    rows[source as usize].push((target, f64::from(weight)));
                }
            }
            rows.iter_mut().for_each(|row| row.sort_unstable_by_key(|entry| entry.0));
        }
    }
    Ok(rows)
}

impl Passing {
    /// Links with the weights of one step of the network's aggregation.
    ///
    /// # Source
    /// Blink, equations 20, 22 to 24, as in training.
    pub(super) fn of(saved: &SavedModel, weights: &[Vec<(u32, f64)>]) -> Self {
        let options = saved.grid.options;
        let n_nodes = weights.len();
        let sums: Vec<f64> = weights.iter().map(|row| row.iter().map(|entry| entry.1).sum()).collect();
        let with_loops = || {
            let rows = weights.iter().enumerate();
            rows.map(|(node, row)| {
                let mut row = row.clone();
                row.insert(row.partition_point(|entry| (entry.0 as usize) < node), (node as u32, 1.0));
                row
            })
        };
        let senders: Vec<Vec<(u32, f64)>> = match saved.grid.architecture {
            Architecture::Gcn => {
                let scale: Vec<f64> = sums.iter().map(|sum| 1.0 / libm::sqrt(1.0 + sum)).collect();
                let scaled = |(node, row): (usize, Vec<(u32, f64)>)| {
                    row.into_iter().map(|(j, weight)| (j, weight * scale[node] * scale[j as usize])).collect()
                };
                with_loops().enumerate().map(scaled).collect()
            }
            Architecture::GraphSage => {
                let least = if options.sage_norm == SageNorm::Clamp1 { 1.0 } else { 0.0 };
                let scaled = |(row, sum): (&Vec<(u32, f64)>, &f64)| {
                    let sum = sum.max(least);
                    row.iter().map(|&(j, weight)| (j, if sum > 0.0 { weight / sum } else { 0.0 })).collect()
                };
                weights.iter().zip(&sums).map(scaled).collect()
            }
            Architecture::Gat => with_loops().collect(),
            Architecture::Mlp => (0..n_nodes as u32).map(|node| vec![(node, 1.0)]).collect(),
        };
        let mut receivers = vec![Vec::new(); n_nodes];
        for (node, row) in senders.iter().enumerate() {
            row.iter().for_each(|&(sender, weight)| receivers[sender as usize].push((node as u32, weight)));
        }
        Self { n_nodes, senders, receivers: Receivers(receivers), double_weight: options.gat_double_weight }
    }

    pub(super) fn n_nodes(&self) -> usize {
        self.n_nodes
    }

    /// Who sends to `node`, ascending, with weights.
    pub(super) fn senders(&self, node: u32) -> &[(u32, f64)] {
        &self.senders[node as usize]
    }

    pub(super) fn receivers(&self) -> &Receivers {
        &self.receivers
    }

    /// The receivers that have a place among the targets.
    pub(super) fn towards(&self, place: &[Option<usize>]) -> Receivers {
        let is_target = |entry: &&(u32, f64)| place[entry.0 as usize].is_some();
        let rows = self.receivers.0.iter();
        // A node that is no target keeps its row: it may send to one.
        Receivers(rows.map(|row| row.iter().filter(is_target).copied().collect()).collect())
    }

    /// What every node receives, row-major `[n, width]`.
    pub(super) fn received(&self, sent: &[f64], width: usize) -> Vec<f64> {
        let mut received = vec![0.0; self.n_nodes * width];
        for (out, row) in received.chunks_exact_mut(width).zip(&self.senders) {
            for &(sender, weight) in row {
                let sent = &sent[sender as usize * width..(sender as usize + 1) * width];
                out.iter_mut().zip(sent).for_each(|(sum, value)| *sum += weight * value);
            }
        }
        received
    }
}

impl Receivers {
    /// Nodes that receive from any of these, ascending.
    pub(super) fn reached(&self, nodes: &[u32]) -> Vec<u32> {
        let mut reached: Vec<u32> =
            nodes.iter().flat_map(|&node| &self.0[node as usize]).map(|entry| entry.0).collect();
        reached.sort_unstable();
        reached.dedup();
        reached
    }

    /// How the output of a layer without attention changes, when what nodes send and what they keep changes.
    ///
    /// A node that keeps something changes too where it is among these receivers or receives nothing; the last layer
    /// asks for targets alone, and a row more does no harm there.
    pub(super) fn changed(&self, width: usize, sent: &Changed, own: &Changed, scratch: &mut Scratch) -> Changed {
        let mut nodes = self.reached(&sent.nodes);
        if !own.by.is_empty() {
            nodes.extend(&own.nodes);
            nodes.sort_unstable();
            nodes.dedup();
        }
        (1..).zip(&nodes).for_each(|(place, &node)| scratch.place[node as usize] = place);
        let mut by = vec![0.0; nodes.len() * width];
        let mut add = |node: u32, weight: f64, values: &[f64]| {
            let at = (scratch.place[node as usize] - 1) as usize * width;
            by[at..at + width].iter_mut().zip(values).for_each(|(sum, value)| *sum += weight * value);
        };
        for (&sender, values) in sent.nodes.iter().zip(sent.by.chunks_exact(width)) {
            self.0[sender as usize].iter().for_each(|&(receiver, weight)| add(receiver, weight, values));
        }
        own.nodes.iter().zip(own.by.chunks_exact(width)).for_each(|(&node, values)| add(node, 1.0, values));
        nodes.iter().for_each(|&node| scratch.place[node as usize] = 0);
        Changed { nodes, by }
    }
}
