//! The diagonal matrices around the weights of a graph in one step of aggregation.

/// `L (W + loops · I) R` for weights `W` of `n` nodes, with diagonal `L` and `R`.
#[derive(Clone)]
pub struct Scaling {
    /// Diagonal of `L`, `[n]`: multiplies what a node receives.
    pub left: Vec<f32>,
    /// Diagonal of `R`, `[n]`: multiplies what a node sends.
    pub right: Vec<f32>,
    /// Whether every node also receives from itself, with weight 1.
    pub loops: bool,
}

impl Scaling {
    /// `L (W + loops · I) R x`, given `product(y) = W y`; or its adjoint, given `product(y) = Wᵀ y`.
    ///
    /// # Shapes
    /// `x` and the result: row-major `[n, width]`, as are the argument and the result of `product`.
    #[must_use]
    pub fn apply(&self, x: &[f32], width: usize, adjoint: bool, product: impl FnOnce(&[f32]) -> Vec<f32>) -> Vec<f32> {
        let Self { left, right, loops } = self;
        let (before, after) = if adjoint { (left, right) } else { (right, left) };
        let mut x = x.to_vec();
        scale_rows(&mut x, before, width);
        let mut sum = product(&x);
        if *loops {
            sum.iter_mut().zip(&x).for_each(|(sum, &own)| *sum += own);
        }
        scale_rows(&mut sum, after, width);
        sum
    }
}

/// Multiplies every row of `x`, row-major `[n, width]`, by its entry of `scale`, `[n]`.
fn scale_rows(x: &mut [f32], scale: &[f32], width: usize) {
    // A width of zero has no rows to cut; `chunks_exact` would panic on it.
    for (row, &factor) in x.chunks_exact_mut(width.max(1)).zip(scale) {
        row.iter_mut().for_each(|value| *value *= factor);
    }
}
