//! How learned weights become one step of aggregation: each row, divided by its sum.

use veilgraph_operator::Scaling;

/// How weights `A` become one step of aggregation `M`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rule {
    /// `D^{-1/2} (A + I) D^{-1/2}` with `D` the row sums of `A + I`, at least 1.
    Symmetric,
    /// `D^{-1} A` with `D` the row sums of `A`, at least 1.
    Mean,
}

/// What a row of weights is divided by: an entry of `D`.
#[derive(Clone, Copy, Debug)]
pub(super) struct RowSum {
    /// The sum of the row, at least 1.
    pub sum: f32,
    /// Whether the sum is above 1, so that it moves with the weights; else its gradient is zero.
    pub is_free: bool,
}

impl Rule {
    /// What a row with this sum of weights is divided by; with the loop that [`Rule::Symmetric`] adds to every node.
    pub(super) fn row_sum(self, weights: f32) -> RowSum {
        let sum = if self == Self::Symmetric { 1.0 + weights } else { weights };
        RowSum { sum: sum.max(1.0), is_free: sum > 1.0 }
    }

    /// The diagonal matrices around the weights, for these row sums, `[n]`.
    pub(super) fn scaling(self, sums: &[RowSum]) -> Scaling {
        match self {
            Self::Symmetric => {
                let scale: Vec<f32> = sums.iter().map(|row| 1.0 / row.sum.sqrt()).collect();
                Scaling { left: scale.clone(), right: scale, loops: true }
            }
            Self::Mean => {
                let left = sums.iter().map(|row| 1.0 / row.sum).collect();
                Scaling { left, right: vec![1.0; sums.len()], loops: false }
            }
        }
    }
}
