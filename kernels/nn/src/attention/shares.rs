//! The shares by which a node attends to its neighbours.
//!
//! The order of every sum is fixed, whatever the width of the processor's vectors.

#![expect(clippy::inline_always, reason = "what `dispatch` calls takes its vector width only where it is inlined")]

use super::lanes::{largest, sum};
use super::{AttentionGraph, NEGATIVE_SLOPE};
use crate::exponential::exp;

/// A row whose shares, before their sum divides them, sum to less than this is worked out again link by link. A share that became
/// zero by mistake is less than 1e-37 times the weight of its link, so beside such a sum nothing is lost.
const LEAST_TOTAL: f32 = 1e-20;

/// What the shares of a link take from its source. It is read at once.
#[derive(Clone, Copy, Default)]
#[repr(align(16))]
struct Source {
    /// `exp(s)` and `exp(0.2 s)`, with `s` the score minus the largest one.
    above_zero: f32,
    below_zero: f32,
    score: f32,
}

/// The attention of every node, whose exponentials are worked out once for each node and not for each link.
///
/// LeakyReLU is the larger one of `z` and `0.2 z`, so `exp(LeakyReLU(s + t)) = max(exp(s) exp(t), exp(0.2 s) exp(0.2 t))`. From the
/// score of a source the largest one is subtracted, and from that of a target what then makes the largest share 1, so that nothing
/// overflows.
pub(super) struct AttentionOfNodes<'a> {
    graph: &'a AttentionGraph,
    /// Scores of targets.
    targets: &'a [f32],
    of_sources: Vec<Source>,
    /// What both exponentials of a source are multiplied by, for every target.
    of_targets: Vec<[f32; 2]>,
    /// `of_sources` of the neighbours of one node. This and the next two have room for the longest row.
    gathered: Vec<Source>,
    shares: Vec<f32>,
    slopes: Vec<f32>,
}

/// What a node's attention is made of, `[links of the node]` each.
pub(super) struct Attention<'s> {
    /// The share of each link; they sum to 1.
    pub shares: &'s [f32],
    /// The slope of LeakyReLU at the score of each link.
    pub slopes: &'s [f32],
}

impl<'a> AttentionOfNodes<'a> {
    /// # Shapes
    /// `scores`, of sources and of targets: `[n]` each.
    #[inline(always)]
    pub(super) fn new(graph: &'a AttentionGraph, scores: [&'a [f32]; 2]) -> Self {
        let [sources, targets] = scores;
        let largest = largest(sources);
        let mut of_sources = vec![Source::default(); sources.len()];
        for (source, &score) in of_sources.iter_mut().zip(sources) {
            let above_zero = exp(score - largest);
            *source = Source { above_zero, below_zero: exp(NEGATIVE_SLOPE * (score - largest)), score };
        }
        let mut of_targets = vec![[0.0; 2]; targets.len()];
        for (factors, &score) in of_targets.iter_mut().zip(targets) {
            let most = largest + score;
            *factors = [exp(most - leaky(most)), exp(NEGATIVE_SLOPE * most - leaky(most))];
        }
        let [shares, slopes] = [(); 2].map(|()| vec![0.0; graph.longest_row]);
        Self {
            graph,
            targets,
            of_sources,
            of_targets,
            gathered: vec![Source::default(); graph.longest_row],
            shares,
            slopes,
        }
    }

    /// The attention of a node.
    #[inline(always)]
    pub(super) fn of_node(&mut self, node: usize) -> Attention<'_> {
        let (neighbours, weights) = self.graph.links.row(node);
        let gathered = &mut self.gathered[..neighbours.len()];
        let shares = &mut self.shares[..neighbours.len()];
        let slopes = &mut self.slopes[..neighbours.len()];
        for (gathered, &j) in gathered.iter_mut().zip(neighbours) {
            *gathered = self.of_sources[j as usize];
        }
        let [above_zero, below_zero] = self.of_targets[node];
        let target = self.targets[node];
        let found = shares.iter_mut().zip(&mut *slopes);
        for (((share, slope), gathered), &weight) in found.zip(&*gathered).zip(weights) {
            *share = weight * (gathered.above_zero * above_zero).max(gathered.below_zero * below_zero);
            *slope = if gathered.score + target > 0.0 { 1.0 } else { NEGATIVE_SLOPE };
        }
        let mut total = sum(shares);
        if total < LEAST_TOTAL || total.is_nan() {
            self.share_by_link(node);
            total = sum(&self.shares[..neighbours.len()]);
        }
        let shares = &mut self.shares[..neighbours.len()];
        for share in shares.iter_mut() {
            *share /= total;
        }
        Attention { shares, slopes: &self.slopes[..neighbours.len()] }
    }

    /// Writes the shares of a node whose neighbours were gathered, up to a factor that they have in common, by an exponential for
    /// each link. The largest score of the neighbours is subtracted, which may be far below that of all nodes.
    #[inline(always)]
    fn share_by_link(&mut self, node: usize) {
        let (_, weights) = self.graph.links.row(node);
        let shares = &mut self.shares[..weights.len()];
        for (share, source) in shares.iter_mut().zip(&self.gathered) {
            *share = leaky(source.score + self.targets[node]);
        }
        let most = largest(shares);
        for (share, &weight) in shares.iter_mut().zip(weights) {
            *share = weight * exp(*share - most);
        }
    }
}

/// LeakyReLU.
#[inline(always)]
fn leaky(score: f32) -> f32 {
    if score > 0.0 { score } else { NEGATIVE_SLOPE * score }
}
