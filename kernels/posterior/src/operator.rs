//! The soft graph as an operator: `X -> P X` without the matrix `P`.

mod low_rank;
mod on_the_fly;

use low_rank::LowRank;
use on_the_fly::OnTheFly;

use crate::model::Posterior;

/// `P` as a symmetric operator, in the form that costs less.
pub enum SoftOperator {
    /// Few claims: a smooth part of low rank, corrected at the claimed pairs.
    LowRank(LowRank),
    /// Many claims: entries are formed from planes of bits when they are needed and never kept.
    OnTheFly(OnTheFly),
}

impl SoftOperator {
    /// The operator of this posterior, for single-precision products.
    #[must_use]
    pub fn new(posterior: &Posterior) -> Self {
        match posterior.evidence().planes() {
            Some((any, both)) if Self::pays_on_the_fly(posterior) => {
                Self::OnTheFly(OnTheFly::new(posterior, any.clone(), both.clone()))
            }
            _ => Self::LowRank(LowRank::new(posterior)),
        }
    }

    /// Whether forming every entry is cheaper than correcting at the claimed pairs.
    ///
    /// Measured at width 16 (docs/benchmarks/links.md): 1.1 ns for an entry on the fly, 1.85 ns for a
    /// correction. Corrections also take 8 bytes each, which are kept within half a gibibyte.
    fn pays_on_the_fly(posterior: &Posterior) -> bool {
        const MOST_CORRECTIONS: usize = 1 << 26;
        let entries = posterior.n_nodes() * posterior.n_nodes();
        let corrections = 2 * posterior.evidence().n_pairs();
        corrections > MOST_CORRECTIONS || 1.85 * corrections as f64 > 1.1 * entries as f64
    }

    /// Number of nodes.
    #[must_use]
    pub fn n_nodes(&self) -> usize {
        match self {
            Self::LowRank(operator) => operator.n_nodes(),
            Self::OnTheFly(operator) => operator.n_nodes(),
        }
    }

    /// `P x` for a row-major `x` of shape `[n_nodes, width]`; `P` is symmetric, so this is its adjoint too.
    ///
    /// # Complexity
    /// `O((n · rank + claimed pairs) · width)`, or `O(n² · width)` on the fly.
    #[must_use]
    pub fn apply(&self, x: &[f32], width: usize) -> Vec<f32> {
        match self {
            Self::LowRank(operator) => operator.apply(x, width),
            Self::OnTheFly(operator) => operator.apply(x, width),
        }
    }
}

#[cfg(test)]
mod tests;
