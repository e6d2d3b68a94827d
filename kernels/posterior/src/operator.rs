//! The soft graph as an operator: `X -> P X` without the matrix `P`.

mod corrections;
mod low_rank;
mod on_the_fly;
mod real;

use low_rank::LowRank;
use on_the_fly::OnTheFly;

pub use on_the_fly::dense_sums;
pub use real::Real;

use crate::model::Posterior;

/// `P` as a symmetric operator in the precision `T`, in the form that costs less.
pub enum SoftOperator<T: Real = f32> {
    /// Few claims: a smooth part of low rank, corrected at the known pairs.
    LowRank(LowRank<T>),
    /// Many claims: entries are formed from planes of bits when they are needed and never kept; similar pairs
    /// are corrected.
    OnTheFly(OnTheFly<T>),
}

impl<T: Real> SoftOperator<T> {
    /// The operator of this posterior.
    #[must_use]
    pub fn new(posterior: &Posterior) -> Self {
        match posterior.evidence().planes() {
            Some((any, both)) if Self::pays_on_the_fly(posterior) => {
                Self::OnTheFly(OnTheFly::new(posterior, any.clone(), both.clone()))
            }
            _ => Self::LowRank(LowRank::new(posterior)),
        }
    }

    /// Whether forming every entry is cheaper than correcting at the known pairs.
    ///
    /// Corrections are also kept within half a gibibyte.
    fn pays_on_the_fly(posterior: &Posterior) -> bool {
        const MOST_BYTES: usize = 1 << 29;
        let entries = posterior.n_nodes() * posterior.n_nodes();
        let corrections = 2 * posterior.evidence().n_known_at_most();
        let bytes = corrections * (size_of::<u32>() + size_of::<T>());
        bytes > MOST_BYTES || T::CORRECTION_COST * corrections as f64 > T::ENTRY_COST * entries as f64
    }

    /// Number of nodes.
    #[must_use]
    pub fn n_nodes(&self) -> usize {
        match self {
            Self::LowRank(operator) => operator.n_nodes(),
            Self::OnTheFly(operator) => operator.n_nodes(),
        }
    }

    /// Multiplications per column of `x` in [`Self::apply`], in units of one with a sparse matrix.
    #[must_use]
    pub fn cost(&self) -> f64 {
        let n = self.n_nodes() as f64;
        match self {
            Self::LowRank(operator) => operator.n_terms() as f64,
            Self::OnTheFly(_) => T::ENTRY_COST / T::CORRECTION_COST * n * n,
        }
    }

    /// `P x` for a row-major `x` of shape `[n_nodes, width]`; `P` is symmetric, so this is its adjoint too.
    ///
    /// Entries are within 1e-6 (single precision) or 1e-12 (double) of the sum of their absolute terms.
    ///
    /// # Complexity
    /// `O((n · rank + known pairs) · width)`, or `O(n² · width)` on the fly.
    #[must_use]
    pub fn apply(&self, x: &[T], width: usize) -> Vec<T> {
        match self {
            Self::LowRank(operator) => operator.apply(x, width),
            Self::OnTheFly(operator) => operator.apply(x, width),
        }
    }
}

#[cfg(test)]
mod tests;
