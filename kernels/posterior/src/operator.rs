//! This module applies the soft graph as an operator, `X → P X`, without the matrix `P` of probabilities.

mod claim_entries;
mod columns;
mod corrections;
mod dense_sums;
mod every_entry;
mod low_rank;
mod real;
mod smooth_part;

use every_entry::EveryEntry;
use low_rank::LowRank;

pub use dense_sums::dense_sums;
pub use real::Real;

use veilgraph_graph::ProductRows;

use crate::model::Posterior;

/// Multiplying one entry of a sparse matrix with a row of width 16 takes this many nanoseconds; it does so on one core, since
/// models train side by side.
const SPARSE_ENTRY_COST: f64 = 1.8;

/// Represents the symmetric operator `P` in the precision `T`, in the form with which less time passes.
pub enum SoftOperator<T: Real = f32> {
    /// Where few pairs are known, `P` is a smooth part of low rank that is corrected at the known pairs.
    LowRank(LowRank<T>),
    /// Where many pairs are known and claims lie in planes of bits, every entry of `P` is taken. The entries of large graphs are not
    /// kept, but formed from the planes whenever they are needed, and the similar pairs are corrected.
    EveryEntry(EveryEntry<T>),
}

impl<T: Real> SoftOperator<T> {
    /// Builds the operator of this posterior.
    #[must_use]
    pub fn new(posterior: &Posterior) -> Self {
        match posterior.evidence().planes() {
            Some(planes) if Self::costs_less_with_every_entry(posterior) => {
                Self::EveryEntry(EveryEntry::new(posterior, planes.clone()))
            }
            _ => Self::LowRank(LowRank::new(posterior)),
        }
    }

    /// Returns whether less time passes with every entry than with corrections at the known pairs.
    ///
    /// It is also preferred where the corrections would take more than half a gibibyte.
    fn costs_less_with_every_entry(posterior: &Posterior) -> bool {
        const MOST_BYTES: usize = 1 << 29;
        /// Kept entries are preferred where more than this share of them would be corrected. This was measured in whole trainings
        /// (docs/benchmarks/speed-changes.md): single products would say 36 %, but they were timed with all rows, and without the
        /// product of graph and features, which a network keeps where it pays.
        const LEAST_SHARE: f64 = 0.2;
        let entries = posterior.n_nodes() * posterior.n_nodes();
        let corrections = 2 * posterior.evidence().n_known_at_most();
        let bytes = corrections * (size_of::<u32>() + size_of::<T>());
        let most_corrections = if EveryEntry::<T>::are_kept(posterior.n_nodes()) {
            LEAST_SHARE * entries as f64
        } else {
            T::ENTRY_COST / T::CORRECTION_COST * entries as f64
        };
        bytes > MOST_BYTES || corrections as f64 > most_corrections
    }

    /// Returns what an entry that follows from claims costs, in nanoseconds.
    fn entry_cost(n_nodes: usize) -> f64 {
        T::KEPT_ENTRY_COST.filter(|_| EveryEntry::<T>::are_kept(n_nodes)).unwrap_or(T::ENTRY_COST)
    }

    /// Returns the number of nodes.
    #[must_use]
    pub fn n_nodes(&self) -> usize {
        match self {
            Self::LowRank(operator) => operator.n_nodes(),
            Self::EveryEntry(operator) => operator.n_nodes(),
        }
    }

    /// Returns what [`Self::apply`] costs per column of `x`, in units of one multiplication with an entry of a sparse
    /// matrix.
    #[must_use]
    pub fn cost(&self) -> f64 {
        let n = self.n_nodes() as f64;
        match self {
            Self::LowRank(operator) => T::CORRECTION_COST / SPARSE_ENTRY_COST * operator.n_terms() as f64,
            Self::EveryEntry(_) => Self::entry_cost(self.n_nodes()) / SPARSE_ENTRY_COST * n * n,
        }
    }

    /// Returns `P x`. Since `P` is symmetric, this is also the product with the adjoint.
    ///
    /// Every entry of the product is within 1e-6 (single precision) or 1e-12 (double precision) of the exact one,
    /// relative to the sum of the absolute values of its terms.
    ///
    /// # Shapes
    /// `x`: `[n_nodes, width]`, row-major. Returns `[n_nodes, width]`, row-major.
    ///
    /// # Complexity
    /// `O((n · rank + known pairs) · width)`, or `O(n² · width)` with every entry.
    #[must_use]
    pub fn apply(&self, x: &[T], width: usize) -> Vec<T> {
        self.apply_rows(x, width, ProductRows::All)
    }

    /// Returns `P x`, where `rows` says which rows matter; shapes and precision are those of [`Self::apply`].
    #[must_use]
    pub fn apply_rows(&self, x: &[T], width: usize, rows: ProductRows) -> Vec<T> {
        match self {
            Self::LowRank(operator) => operator.apply(x, width, rows),
            Self::EveryEntry(operator) => operator.apply(x, width, rows),
        }
    }
}

#[cfg(test)]
mod tests;
