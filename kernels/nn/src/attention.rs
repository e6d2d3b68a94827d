//! Attention over the links of a graph, with its gradient.

mod lanes;
mod passes;
mod shares;

use veilgraph_graph::SparseMatrix;
use veilgraph_graph::vectors::dispatch;

use passes::{Attend, Gradient};
#[cfg(any(feature = "cuda", feature = "vulkan"))]
use veilgraph_operator::rows::entries;
use veilgraph_operator::rows::{matrix, with_loop};

/// Links over which nodes attend, self-loops among them, and their weights.
#[derive(Debug)]
pub struct AttentionGraph {
    /// Row: who attends; column: to whom.
    links: SparseMatrix,
    /// The number of links of the node that has most of them.
    longest_row: usize,
    /// Whether the weight of a link also multiplies its message (Blink, equation 24, as printed).
    double_weight: bool,
}

/// Slope of LeakyReLU below zero (Veličković et al. 2018, section 2.1).
pub(crate) const NEGATIVE_SLOPE: f32 = 0.2;

impl AttentionGraph {
    /// Attention over the links of `weights`, which has no loops, and over a loop of weight 1 at every node. A row
    /// lists to whom its node attends.
    #[must_use]
    pub fn new(weights: &SparseMatrix, double_weight: bool) -> Self {
        let links = matrix(weights.n_rows(), (0..weights.n_rows()).map(|node| with_loop(weights, node)));
        Self::over(links, double_weight)
    }

    fn over(links: SparseMatrix, double_weight: bool) -> Self {
        let longest_row = (0..links.n_rows()).map(|node| links.row(node).0.len()).max().unwrap_or(0);
        Self { links, longest_row, double_weight }
    }

    /// `out_i = Σ_j c_ij x_j` with `α_ij ∝ w_ij exp(LeakyReLU(s_j + t_i))` over the links of `i`, and `c_ij = w_ij α_ij`
    /// (double weight) or `α_ij`. `read` are the nodes whose output is read, in strictly ascending order, or all nodes; the
    /// others have zeros.
    ///
    /// # Shapes
    /// The inputs are `x`, row-major `[n, width]`, and the scores of sources (`s`) and of targets (`t`), `[n]` each. Returns
    /// row-major `[n, width]`.
    ///
    /// # Source
    /// Veličković et al. (2018), equations 1 to 4; Blink, equations 23 and 24.
    pub(crate) fn attend(&self, [x, sources, targets]: [&[f32]; 3], width: usize, read: Option<&[u32]>) -> Vec<f32> {
        dispatch(Attend { graph: self, x, scores: [sources, targets], width, read })
    }

    /// Gradients of the loss by features, scores of sources and scores of targets, given the gradient `g` by the
    /// output.
    ///
    /// With `c_ij = f_ij α_ij`, and `p_ij = f_ij x_j · g_i` the gradient by `α_ij`: that by `x_j` is `Σ_i c_ij g_i`,
    /// and that by `s_j + t_i` is `α_ij (p_ij − Σ_k α_ik p_ik)`, by the rule for softmax, times the slope of LeakyReLU.
    ///
    /// # Shapes
    /// `inputs`: as in [`Self::attend`]; `g`: row-major `[n, width]`. Returns the shapes of the inputs.
    pub(crate) fn gradient(&self, inputs: [&[f32]; 3], g: &[f32], width: usize) -> [Vec<f32>; 3] {
        dispatch(Gradient { graph: self, inputs, g, width })
    }

    /// The same attention over links in both directions, for devices that gather gradients along reverse links.
    ///
    /// An added link has a negative weight, by which a device tells that it has no share of the attention. A weight of 0 would not
    /// be kept.
    #[cfg(any(feature = "cuda", feature = "vulkan"))]
    pub(crate) fn both_ways(&self) -> Self {
        let reversed = self.links.transposed();
        let rows = (0..self.links.n_rows()).map(|node| {
            let mut row = entries(&self.links, node);
            row.extend(reversed.row(node).0.iter().map(|&other| (other, -f32::MIN_POSITIVE)));
            // The sort is stable, so that of two links to one node the original comes first and is kept.
            row.sort_by_key(|&(other, _)| other);
            row.dedup_by_key(|&mut (other, _)| other);
            row
        });
        Self::over(matrix(self.links.n_rows(), rows), self.double_weight)
    }

    /// The links, self-loops among them.
    #[cfg(any(feature = "cuda", feature = "vulkan"))]
    pub(crate) fn links(&self) -> &SparseMatrix {
        &self.links
    }

    /// Whether every node attends to every node, and each has a share of its attention.
    #[cfg(any(feature = "cuda", feature = "vulkan"))]
    pub(crate) fn is_complete(&self) -> bool {
        let n_nodes = self.links.n_rows();
        let is_positive = |node| self.links.row(node).1.iter().all(|&weight| weight > 0.0);
        self.links.n_entries() == n_nodes * n_nodes && (0..n_nodes).all(is_positive)
    }

    /// Whether the weight of a link also multiplies its message.
    #[cfg(any(feature = "cuda", feature = "vulkan"))]
    pub(crate) fn double_weight(&self) -> bool {
        self.double_weight
    }

    /// What every link multiplies its message by, beside the attention: `[links]`.
    #[cfg(any(feature = "cuda", feature = "vulkan"))]
    pub(crate) fn factors(&self) -> Vec<f32> {
        let weights = (0..self.links.n_rows()).flat_map(|node| self.links.row(node).1);
        weights.map(|&weight| self.factor(weight)).collect()
    }

    /// For every link, the number of the link in the other direction. There must be one, as after [`Self::both_ways`].
    #[cfg(any(feature = "cuda", feature = "vulkan"))]
    pub(crate) fn reverse(&self) -> Vec<u32> {
        // A link (i, j) has its reverse in row j. Rows i are visited in ascending order, and row j is ascending too, so
        // the reverse links of a row come up one after the other: `next[j]` is the first that has not come up yet.
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

    /// What a link of this weight multiplies its message by, beside the attention.
    fn factor(&self, weight: f32) -> f32 {
        if self.double_weight { weight } else { 1.0 }
    }
}
