//! Propagated features, computed once, some columns at a time.

use std::borrow::Cow;
use std::ops::Range;

use rayon::prelude::*;
use veilgraph_contract::Invalid;
use veilgraph_graph::{DenseMatrix, FeatureMatrix, Propagation, SparseMatrix};

use crate::propagation_step::PropagationStep;

/// Blocks of columns are copied to their place after this many of them, so that few are held at a time.
const BLOCKS_AT_ONCE: usize = 32;

/// Features with the step that propagates them, ready to be computed block by block.
struct Blocks<'a> {
    features: Columns<'a>,
    step: &'a PropagationStep,
    propagation: Propagation,
}

/// Features by their columns.
enum Columns<'a> {
    Dense(&'a DenseMatrix),
    /// Rows of `entries` are features.
    Sparse {
        fill: f32,
        entries: SparseMatrix,
    },
}

/// Computes the features after all steps of `propagation`, before they are rescaled.
///
/// # Complexity
/// Blocks of columns run in parallel. Beside the result, one copy of sparse features and a few blocks are held.
///
/// # Errors
/// Fails when an entry is not finite afterwards.
pub fn propagated(
    features: &FeatureMatrix,
    step: &PropagationStep,
    propagation: Propagation,
) -> Result<DenseMatrix, Invalid> {
    let (n_nodes, n_features) = (features.n_nodes(), features.n_features());
    let blocks = Blocks::new(features, step, propagation);
    let mut values = vec![0.0; n_nodes * n_features];
    let ranges = blocks.ranges(n_features);
    for ranges in ranges.chunks(BLOCKS_AT_ONCE) {
        let computed: Vec<Vec<f32>> = ranges.par_iter().map(|range| blocks.compute(range.clone())).collect();
        values.par_chunks_mut(n_features).enumerate().for_each(|(node, row)| {
            for (range, block) in ranges.iter().zip(&computed) {
                let width = range.len();
                row[range.clone()].copy_from_slice(&block[node * width..(node + 1) * width]);
            }
        });
    }
    DenseMatrix::new(n_nodes, n_features, values)
}

/// Computes the root of the mean square over all entries of the propagated features, without keeping them.
#[must_use]
pub fn root_mean_square(features: &FeatureMatrix, step: &PropagationStep, propagation: Propagation) -> f64 {
    let (n_nodes, n_features) = (features.n_nodes(), features.n_features());
    let blocks = Blocks::new(features, step, propagation);
    let sum_of = |range: &Range<usize>| -> f64 {
        blocks.compute(range.clone()).into_iter().map(|value| f64::from(value) * f64::from(value)).sum()
    };
    // The sums of the blocks are added in their order, whichever was ready first.
    let sums: Vec<f64> = blocks.ranges(n_features).par_iter().map(sum_of).collect();
    (sums.iter().sum::<f64>() / (n_nodes * n_features).max(1) as f64).sqrt()
}

impl<'a> Blocks<'a> {
    fn new(features: &'a FeatureMatrix, step: &'a PropagationStep, propagation: Propagation) -> Self {
        let features = match features {
            FeatureMatrix::Dense(matrix) => Columns::Dense(matrix),
            FeatureMatrix::Sparse { fill, entries } => Columns::Sparse { fill: *fill, entries: entries.transposed() },
        };
        Self { features, step, propagation }
    }

    /// Returns the columns of every block.
    fn ranges(&self, n_features: usize) -> Vec<Range<usize>> {
        let width = self.step.columns_at_once();
        (0..n_features).step_by(width).map(|first| first..(first + width).min(n_features)).collect()
    }

    /// Computes the propagated columns of one block, row-major `[n_nodes, width of the block]`.
    fn compute(&self, columns: Range<usize>) -> Vec<f32> {
        let Propagation { hops, aggregator, .. } = self.propagation;
        let width = columns.len();
        self.step.propagate(self.features.block(columns, self.step.n_nodes()), width, hops, aggregator, false)
    }
}

impl Columns<'_> {
    /// Returns the columns of one block, row-major `[n_nodes, width of the block]`.
    fn block(&self, columns: Range<usize>, n_nodes: usize) -> Vec<f32> {
        let width = columns.len();
        match self {
            Self::Dense(matrix) => (0..n_nodes).flat_map(|node| &matrix.row(node)[columns.clone()]).copied().collect(),
            Self::Sparse { fill, entries } => {
                let mut block = vec![*fill; n_nodes * width];
                for (at, column) in columns.enumerate() {
                    let (nodes, values) = entries.row(column);
                    nodes.iter().zip(values).for_each(|(&node, value)| block[node as usize * width + at] += value);
                }
                block
            }
        }
    }
}

/// Divides propagated features by the root of their mean square; features that are all zero stay so.
pub(crate) fn divisor(root_mean_square: f64) -> f64 {
    if root_mean_square > 0.0 { root_mean_square } else { 1.0 }
}

/// Returns the features with all steps of `propagation`, borrowed where there is none.
///
/// # Errors
/// Fails when an entry is not finite afterwards.
pub(crate) fn after_hops<'a>(
    features: &'a FeatureMatrix,
    step: &PropagationStep,
    propagation: Propagation,
) -> Result<Cow<'a, FeatureMatrix>, Invalid> {
    if propagation.hops == 0 {
        return Ok(Cow::Borrowed(features));
    }
    Ok(Cow::Owned(FeatureMatrix::Dense(propagated(features, step, propagation)?)))
}
