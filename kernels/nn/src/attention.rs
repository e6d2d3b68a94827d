//! Attention over the links of a graph, with its gradient.

#![expect(clippy::inline_always, reason = "what `dispatch` calls takes its vector width only where it is inlined")]

use pulp::{Arch, Simd, WithSimd};
use veilgraph_graph::SparseMatrix;

use crate::exponential::exp;
use crate::lanes::for_lanes;
#[cfg(any(feature = "cuda", feature = "vulkan"))]
use crate::rows::entries;
use crate::rows::{matrix, with_loop};

/// Links (with self-loops) over which a node attends, and their weights.
#[derive(Debug)]
pub struct AttentionGraph {
    links: SparseMatrix,
    /// Whether the weight also multiplies the message (Blink, equation 24, as printed).
    double_weight: bool,
}

/// The result of attending, and what its gradient needs.
pub(crate) struct Attended {
    /// Row-major, `[n_nodes, width]`.
    pub output: Vec<f32>,
    /// Attention of each link; sums to 1 over the links of a node.
    pub attention: Vec<f32>,
}

pub(crate) const NEGATIVE_SLOPE: f32 = 0.2;

struct Attend<'a> {
    graph: &'a AttentionGraph,
    x: &'a [f32],
    scores: [&'a [f32]; 2],
    width: usize,
}

impl WithSimd for Attend<'_> {
    type Output = Attended;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> Attended {
        let Self { graph, x, scores: [sources, targets], width } = self;
        for_lanes!(width, LANES => graph.attend_lanes::<LANES>(x, sources, targets, width))
    }
}

struct Gradient<'a> {
    graph: &'a AttentionGraph,
    inputs: [&'a [f32]; 3],
    attention: &'a [f32],
    g: &'a [f32],
    width: usize,
}

impl WithSimd for Gradient<'_> {
    type Output = [Vec<f32>; 3];

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> [Vec<f32>; 3] {
        let Self { graph, inputs, attention, g, width } = self;
        for_lanes!(width, LANES => graph.gradient_lanes::<LANES>(inputs, attention, g, width))
    }
}

impl AttentionGraph {
    /// Attention over the links of `weights` (row, who attends; without loops) and a self-loop of weight 1.
    #[must_use]
    pub fn new(weights: &SparseMatrix, double_weight: bool) -> Self {
        let links = matrix(weights.n_rows(), (0..weights.n_rows()).map(|node| with_loop(weights, node)));
        Self { links, double_weight }
    }

    /// `out_i = Σ_j c_ij x_j` with `α_ij ∝ w_ij exp(LeakyReLU(s_j + t_i))` over the links of `i`, and
    /// `c_ij = w_ij α_ij` (double weight) or `α_ij`.
    ///
    /// # Shapes
    /// `x`: `[n, width]`; `source_scores`, `target_scores`: `[n]`.
    ///
    /// # Source
    /// Veličković et al. (2018), equations 1 to 4; Blink, equations 23 and 24.
    pub(crate) fn attend(&self, x: &[f32], source_scores: &[f32], target_scores: &[f32], width: usize) -> Attended {
        Arch::new().dispatch(Attend { graph: self, x, scores: [source_scores, target_scores], width })
    }

    /// Gradients of the three inputs of [`Self::attend`] for the gradient `g` of its output, `[n, width]`.
    pub(crate) fn gradient(&self, inputs: [&[f32]; 3], attention: &[f32], g: &[f32], width: usize) -> [Vec<f32>; 3] {
        Arch::new().dispatch(Gradient { graph: self, inputs, attention, g, width })
    }

    #[inline(always)]
    fn attend_lanes<const LANES: usize>(
        &self,
        x: &[f32],
        source_scores: &[f32],
        target_scores: &[f32],
        width: usize,
    ) -> Attended {
        let width = if LANES == 0 { width } else { LANES };
        let mut attended = Attended { output: vec![0.0; x.len()], attention: vec![0.0; self.links.n_entries()] };
        let mut rest = attended.attention.as_mut_slice();
        for (node, out) in attended.output.chunks_exact_mut(width).enumerate() {
            let (neighbours, weights) = self.links.row(node);
            let (shares, after) = rest.split_at_mut(neighbours.len());
            rest = after;
            for (share, &j) in shares.iter_mut().zip(neighbours) {
                *share = leaky(source_scores[j as usize] + target_scores[node]);
            }
            let most = shares.iter().fold(f32::NEG_INFINITY, |most, &score| most.max(score));
            shares.iter_mut().zip(weights).for_each(|(share, &weight)| *share = weight * exp(*share - most));
            let total: f32 = shares.iter().sum();
            let mut add = |sums: &mut [f32]| {
                for ((share, &j), &weight) in shares.iter_mut().zip(neighbours).zip(weights) {
                    *share /= total;
                    let coefficient = *share * self.factor(weight);
                    for (sum, &value) in sums.iter_mut().zip(&x[j as usize * width..(j as usize + 1) * width]) {
                        *sum += coefficient * value;
                    }
                }
            };
            if LANES == 0 {
                add(out);
            } else {
                // Known to be apart from the features, hence in registers.
                let mut sums = [0.0; LANES];
                add(&mut sums);
                out.copy_from_slice(&sums);
            }
        }
        attended
    }

    #[inline(always)]
    fn gradient_lanes<const LANES: usize>(
        &self,
        [x, source_scores, target_scores]: [&[f32]; 3],
        attention: &[f32],
        g: &[f32],
        width: usize,
    ) -> [Vec<f32>; 3] {
        let width = if LANES == 0 { width } else { LANES };
        let n_nodes = self.links.n_rows();
        let [mut on_features, mut on_sources, mut on_targets] = [x.len(), n_nodes, n_nodes].map(|size| vec![0.0; size]);
        let mut start = 0;
        let mut pulls = Vec::new();
        for node in 0..n_nodes {
            let (neighbours, weights) = self.links.row(node);
            let shares = &attention[start..start + neighbours.len()];
            start += neighbours.len();
            let own = &g[node * width..(node + 1) * width];
            pulls.clear();
            for ((&j, &weight), &share) in neighbours.iter().zip(weights).zip(shares) {
                let range = j as usize * width..(j as usize + 1) * width;
                let factor = self.factor(weight);
                for (sum, &g) in on_features[range.clone()].iter_mut().zip(own) {
                    *sum += share * factor * g;
                }
                let pull: f32 = x[range].iter().zip(own).map(|(value, g)| value * g).sum();
                pulls.push(factor * pull);
            }
            let mean: f32 = pulls.iter().zip(shares).map(|(pull, share)| pull * share).sum();
            let mut on_target = 0.0;
            for ((&j, &share), &pull) in neighbours.iter().zip(shares).zip(&pulls) {
                let raw = source_scores[j as usize] + target_scores[node];
                let slope = if raw > 0.0 { 1.0 } else { NEGATIVE_SLOPE };
                let change = share * (pull - mean) * slope;
                on_sources[j as usize] += change;
                on_target += change;
            }
            on_targets[node] = on_target;
        }
        [on_features, on_sources, on_targets]
    }

    /// The same attention over links in both directions, for devices that gather gradients along the reverse
    /// link: what is added has no weight to speak of.
    #[cfg(any(feature = "cuda", feature = "vulkan"))]
    pub(crate) fn both_ways(&self) -> Self {
        let reversed = self.links.transposed();
        let rows = (0..self.links.n_rows()).map(|node| {
            let mut row = entries(&self.links, node);
            row.extend(reversed.row(node).0.iter().map(|&other| (other, f32::MIN_POSITIVE)));
            // The sort is stable: a link's own weight comes first and stays.
            row.sort_by_key(|&(other, _)| other);
            row.dedup_by_key(|&mut (other, _)| other);
            row
        });
        Self { links: matrix(self.links.n_rows(), rows), double_weight: self.double_weight }
    }

    /// Links with their loops.
    #[cfg(any(feature = "cuda", feature = "vulkan"))]
    pub(crate) fn links(&self) -> &SparseMatrix {
        &self.links
    }

    /// What every link multiplies its message by, beside the attention.
    #[cfg(any(feature = "cuda", feature = "vulkan"))]
    pub(crate) fn factors(&self) -> Vec<f32> {
        let weights = (0..self.links.n_rows()).flat_map(|node| self.links.row(node).1);
        weights.map(|&weight| self.factor(weight)).collect()
    }

    /// For every link the number of the one in the other direction: the pattern must be symmetric ([`Self::both_ways`]).
    #[cfg(any(feature = "cuda", feature = "vulkan"))]
    pub(crate) fn reverse(&self) -> Vec<u32> {
        // Rows are met in ascending order, so each column's own links come up one after the other.
        let mut next: Vec<u32> = Vec::with_capacity(self.links.n_rows());
        let mut start = 0;
        for node in 0..self.links.n_rows() {
            next.push(start);
            start += self.links.row(node).0.len() as u32;
        }
        let columns = (0..self.links.n_rows()).flat_map(|node| self.links.row(node).0);
        columns
            .map(|&column| {
                let next = &mut next[column as usize];
                *next += 1;
                *next - 1
            })
            .collect()
    }

    fn factor(&self, weight: f32) -> f32 {
        if self.double_weight { weight } else { 1.0 }
    }
}

#[inline(always)]
fn leaky(score: f32) -> f32 {
    if score > 0.0 { score } else { NEGATIVE_SLOPE * score }
}
