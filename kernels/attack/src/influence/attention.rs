//! Layers in which nodes attend (GAT).

use super::network::{Layer, Matrix};
use super::passing::{Passing, Receivers};
use super::{Changed, Scratch};

/// How nodes attend without any perturbation.
///
/// The attention of a node to a sender is in proportion to `w exp(LeakyReLU(s + t))`, with `w` the weight of the link,
/// `s` the score of who sends and `t` that of who attends (Blink, equations 23 and 24).
pub(super) struct AtRest {
    heads: usize,
    /// Of who sends, and of who attends: row-major `[n, heads]` each.
    scores: [Vec<f64>; 2],
    /// Before the bias, row-major `[n, outputs]`.
    pub output: Vec<f64>,
}

impl AtRest {
    /// None for a layer without attention.
    pub(super) fn new(layer: &Layer, passing: &Passing, sent: &[f64]) -> Option<Self> {
        let [source, target] = layer.attention.as_ref()?;
        let heads = source.columns;
        let scores = [source, target]
            .map(|vectors| sent.chunks_exact(layer.outputs()).flat_map(|row| scores(vectors, row)).collect());
        let mut at_rest = Self { heads, scores, output: Vec::new() };
        let unchanged = Overlay { sent, changed: None, scores: [Vec::new(), Vec::new()] };
        at_rest.output =
            (0..passing.n_nodes() as u32).flat_map(|node| at_rest.row(passing, layer, node, &unchanged, &[])).collect();
        Some(at_rest)
    }

    /// How the output changes, when what nodes send changes.
    pub(super) fn changed(
        &self,
        passing: &Passing,
        receivers: &Receivers,
        layer: &Layer,
        at_rest: &super::AtRest,
        changed: &Changed,
        scratch: &mut Scratch,
    ) -> Changed {
        let width = layer.outputs();
        let nodes = receivers.reached(&changed.nodes);
        (1..).zip(&changed.nodes).for_each(|(place, &node)| scratch.place[node as usize] = place);
        let rows = changed.nodes.iter().zip(changed.by.chunks_exact(width));
        let sent: Vec<f64> = rows
            .flat_map(|(&node, by)| {
                let before = &at_rest.sent[node as usize * width..(node as usize + 1) * width];
                before.iter().zip(by).map(|(before, by)| before + by).collect::<Vec<_>>()
            })
            .collect();
        let scores = layer.attention.as_ref().map(|vectors| {
            vectors.each_ref().map(|vectors| sent.chunks_exact(width).flat_map(|row| scores(vectors, row)).collect())
        });
        let overlay = Overlay { sent: &at_rest.sent, changed: Some(&sent), scores: scores.unwrap_or_default() };
        let by = nodes
            .iter()
            .flat_map(|&node| {
                let after = self.row(passing, layer, node, &overlay, &scratch.place);
                let before = &self.output[node as usize * width..(node as usize + 1) * width];
                after.into_iter().zip(before).map(|(after, before)| after - before).collect::<Vec<_>>()
            })
            .collect();
        changed.nodes.iter().for_each(|&node| scratch.place[node as usize] = 0);
        Changed { nodes, by }
    }

    /// What one node receives; `place` says which nodes changed.
    fn row(&self, passing: &Passing, layer: &Layer, node: u32, overlay: &Overlay, place: &[u32]) -> Vec<f64> {
        let (outputs, heads) = (layer.outputs(), self.heads);
        let width = outputs / heads;
        let senders = passing.senders(node);
        let changed = |node: u32| place.get(node as usize).filter(|&&place| place > 0).map(|place| *place as usize - 1);
        let score = |side: usize, node: u32, head: usize| match changed(node) {
            Some(at) => overlay.scores[side][at * heads + head],
            None => self.scores[side][node as usize * heads + head],
        };
        let mut row = vec![0.0; outputs];
        for (head, out) in row.chunks_exact_mut(width).enumerate() {
            let own = score(1, node, head);
            let mut shares: Vec<f64> = senders.iter().map(|&(sender, _)| leaky(score(0, sender, head) + own)).collect();
            let most = shares.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            shares.iter_mut().zip(senders).for_each(|(share, sender)| *share = sender.1 * libm::exp(*share - most));
            let total: f64 = shares.iter().sum();
            for (share, &(sender, weight)) in shares.iter().zip(senders) {
                let factor = share / total * if passing.double_weight { weight } else { 1.0 };
                let values = match (changed(sender), overlay.changed) {
                    (Some(at), Some(sent)) => &sent[at * outputs..(at + 1) * outputs],
                    _ => &overlay.sent[sender as usize * outputs..(sender as usize + 1) * outputs],
                };
                let values = &values[head * width..(head + 1) * width];
                out.iter_mut().zip(values).for_each(|(sum, value)| *sum += factor * value);
            }
        }
        row
    }
}

/// What nodes send: as at rest, with some rows replaced.
struct Overlay<'a> {
    sent: &'a [f64],
    /// Row-major `[changed nodes, outputs]`.
    changed: Option<&'a [f64]>,
    /// Row-major `[changed nodes, heads]` each.
    scores: [Vec<f64>; 2],
}

/// Scores of one node: for every head, its part of the row times its vector.
fn scores(vectors: &Matrix, row: &[f64]) -> Vec<f64> {
    let heads = row.chunks_exact(vectors.rows).enumerate();
    heads.map(|(head, part)| part.iter().enumerate().map(|(at, value)| value * vectors.at(at, head)).sum()).collect()
}

/// LeakyReLU, with the slope of training (Veličković et al. 2018, section 2.1).
fn leaky(score: f64) -> f64 {
    if score > 0.0 { score } else { 0.2 * score }
}
