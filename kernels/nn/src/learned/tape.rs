//! The products of one forward and one backward pass, and what they say about the gradient of the loss.

use super::rule::{RowSum, Rule};

/// Products of one pass through all layers, and of the pass back.
#[derive(Default)]
pub(super) struct Tape {
    /// `M x` of every layer, the first layer first.
    pub forward: Vec<Pass>,
    /// `Mᵀ g` of every layer, the last layer first; `g` is the gradient of the loss by the layer's `M x`.
    pub backward: Vec<Pass>,
}

/// Input and output of one product, row-major `[n, width]`. An output that nothing depends on is left out.
pub(super) struct Pass {
    pub input: Vec<f32>,
    pub output: Vec<f32>,
    pub width: usize,
}

/// The two products of one layer.
struct LayerPasses<'a> {
    forward: &'a Pass,
    backward: &'a Pass,
}

/// A row-major matrix `[n, width]`.
pub(super) struct Rows {
    pub values: Vec<f32>,
    pub width: usize,
}

impl Tape {
    /// Gradients by `M x` of all layers side by side, `[n, lanes of all layers]`.
    pub(super) fn gradients(&self, n: usize) -> Rows {
        side_by_side(self.layers().map(|layer| layer.backward), n)
    }

    /// Inputs `x` of all layers side by side, in the order of [`Self::gradients`].
    pub(super) fn inputs(&self, n: usize) -> Rows {
        side_by_side(self.layers().map(|layer| layer.forward), n)
    }

    /// Gradient of the loss by the sum of every row, `[n]`.
    ///
    /// A row's sum `d` scales the row of `M` and, where the map is symmetric, the column too. Each factor `d^{-p}`
    /// contributes `−p / d` times what the row (or column) contributes to the loss, which is the sum of `g ∘ M x` over
    /// the node's lanes (or of `x ∘ Mᵀ g`): `p` is 1 for a mean, and 1/2 on both sides of a symmetric map.
    pub(super) fn gradient_by_sums(&self, sums: &[RowSum], rule: Rule) -> Vec<f32> {
        let mut by_sum = vec![0.0; sums.len()];
        for LayerPasses { forward, backward } in self.layers() {
            let by_row = row_products(&backward.input, &forward.output, forward.width);
            let by_column = match rule {
                Rule::Symmetric => row_products(&forward.input, &backward.output, forward.width),
                Rule::Mean => Vec::new(),
            };
            for (node, RowSum { sum, is_free }) in sums.iter().enumerate() {
                if *is_free {
                    by_sum[node] -= match rule {
                        Rule::Symmetric => 0.5 * (by_row[node] + by_column[node]) / sum,
                        Rule::Mean => by_row[node] / sum,
                    };
                }
            }
        }
        by_sum
    }

    /// The layers, the first one first.
    fn layers(&self) -> impl Iterator<Item = LayerPasses<'_>> {
        let pairs = self.forward.iter().zip(self.backward.iter().rev());
        pairs.map(|(forward, backward)| LayerPasses { forward, backward })
    }
}

impl Rows {
    /// One row, `[width]`.
    pub(super) fn row(&self, node: usize) -> &[f32] {
        &self.values[node * self.width..(node + 1) * self.width]
    }
}

/// Inner product of every row of `a` with the same row of `b`, both row-major `[n, width]`.
fn row_products(a: &[f32], b: &[f32], width: usize) -> Vec<f32> {
    let rows = a.chunks_exact(width).zip(b.chunks_exact(width));
    rows.map(|(a, b)| a.iter().zip(b).map(|(a, b)| a * b).sum()).collect()
}

/// The inputs of these products side by side, `[n, sum of widths]`.
fn side_by_side<'a>(passes: impl Iterator<Item = &'a Pass>, n: usize) -> Rows {
    let passes: Vec<_> = passes.collect();
    let width = passes.iter().map(|pass| pass.width).sum();
    let row = |node: usize| passes.iter().flat_map(move |pass| &pass.input[node * pass.width..(node + 1) * pass.width]);
    Rows { values: (0..n).flat_map(row).copied().collect(), width }
}
