//! Attention over the links of a graph, with its gradient.

use veilgraph_graph::SparseMatrix;

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

/// Gradients with respect to the inputs of [`AttentionGraph::attend`].
pub(crate) struct AttentionGradient {
    pub features: Vec<f32>,
    pub source_scores: Vec<f32>,
    pub target_scores: Vec<f32>,
}

const NEGATIVE_SLOPE: f32 = 0.2;

impl AttentionGraph {
    /// Attention over the links of `weights` (symmetric, without loops) and a self-loop of weight 1.
    #[must_use]
    pub fn new(weights: &SparseMatrix, double_weight: bool) -> Self {
        let rows = (0..weights.n_rows()).map(|node| {
            let (columns, values) = weights.row(node);
            let mut row: Vec<(u32, f32)> = columns.iter().copied().zip(values.iter().copied()).collect();
            let at = row.partition_point(|&(column, _)| (column as usize) < node);
            row.insert(at, (node as u32, 1.0));
            row
        });
        let links = SparseMatrix::from_rows(weights.n_rows(), rows);
        let links =
            links.unwrap_or_else(|invalid| unreachable!("a loop per row keeps a valid matrix valid: {invalid}"));
        Self { links, double_weight }
    }

    /// Number of nodes.
    pub(crate) fn n_nodes(&self) -> usize {
        self.links.n_rows()
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
        let mut output = vec![0.0; x.len()];
        let mut attention = Vec::with_capacity(self.links.n_entries());
        for (node, out) in output.chunks_exact_mut(width).enumerate() {
            let (neighbours, weights) = self.links.row(node);
            let score = |j: u32| leaky(source_scores[j as usize] + target_scores[node]);
            let most = neighbours.iter().map(|&j| score(j)).fold(f32::NEG_INFINITY, f32::max);
            let start = attention.len();
            attention.extend(neighbours.iter().zip(weights).map(|(&j, &weight)| weight * (score(j) - most).exp()));
            let total: f32 = attention[start..].iter().sum();
            for ((share, &j), &weight) in attention[start..].iter_mut().zip(neighbours).zip(weights) {
                *share /= total;
                let coefficient = *share * self.factor(weight);
                for (sum, &value) in out.iter_mut().zip(&x[j as usize * width..]) {
                    *sum += coefficient * value;
                }
            }
        }
        Attended { output, attention }
    }

    /// Gradient of [`Self::attend`] for the gradient `g` of its output, `[n, width]`.
    pub(crate) fn gradient(
        &self,
        x: &[f32],
        source_scores: &[f32],
        target_scores: &[f32],
        attention: &[f32],
        g: &[f32],
        width: usize,
    ) -> AttentionGradient {
        let n_nodes = self.n_nodes();
        let mut gradient = AttentionGradient {
            features: vec![0.0; x.len()],
            source_scores: vec![0.0; n_nodes],
            target_scores: vec![0.0; n_nodes],
        };
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
                let (factor, mut pull) = (self.factor(weight), 0.0);
                for ((sum, &value), &g) in gradient.features[range.clone()].iter_mut().zip(&x[range]).zip(own) {
                    *sum += share * factor * g;
                    pull += factor * value * g;
                }
                pulls.push(pull);
            }
            let mean: f32 = pulls.iter().zip(shares).map(|(pull, share)| pull * share).sum();
            for ((&j, &share), &pull) in neighbours.iter().zip(shares).zip(&pulls) {
                let raw = source_scores[j as usize] + target_scores[node];
                let slope = if raw > 0.0 { 1.0 } else { NEGATIVE_SLOPE };
                let change = share * (pull - mean) * slope;
                gradient.source_scores[j as usize] += change;
                gradient.target_scores[node] += change;
            }
        }
        gradient
    }

    fn factor(&self, weight: f32) -> f32 {
        if self.double_weight { weight } else { 1.0 }
    }
}

fn leaky(score: f32) -> f32 {
    if score > 0.0 { score } else { NEGATIVE_SLOPE * score }
}
