//! Features of which every entry may be set, as a matrix that is multiplied by narrow ones.

use std::fmt;
use std::sync::Arc;

use veilgraph_contract::Invalid;
use veilgraph_graph::{DenseMatrix, EstimatedFeatures, FeatureMatrix, Propagation, Rescale, SparseMatrix};

use crate::graph_operator::GraphOperator;
use crate::propagation::{after_hops, divisor, root_mean_square};
use crate::propagation_step::PropagationStep;

/// Features `X` after propagation over a graph: computed once, or propagated anew with every product, whichever takes
/// less time for each product.
pub struct FeatureMap {
    rows: Rows,
    /// The steps that are applied with every product.
    lazily: Option<(PropagationStep, Propagation)>,
    /// What every product is multiplied by.
    factor: f32,
}

/// Features before the steps that are applied lazily.
enum Rows {
    Dense(DenseMatrix),
    /// Every entry is `fill` plus what is listed.
    Filled {
        fill: f32,
        entries: SparseMatrix,
        transposed: SparseMatrix,
    },
}

/// Time that one entry of a dense matrix takes, in units of one entry of a sparse one. Measured.
pub const DENSE_ENTRY: f64 = 0.3;

/// Most entries of propagated features that are kept: a gibibyte.
const MOST_ENTRIES: usize = 1 << 28;

impl FeatureMap {
    /// Prepares `features` on `graph`, which must have as many nodes.
    ///
    /// # Errors
    /// Fails when an entry is not finite after it is propagated and rescaled.
    pub fn new(features: &EstimatedFeatures, graph: &Arc<GraphOperator>) -> Result<Self, Invalid> {
        let EstimatedFeatures { values, propagation } = features;
        let step = PropagationStep::new(graph);
        let entries = values.n_nodes() * values.n_features();
        let apart = Rows::cost_of(values) + f64::from(propagation.hops) * step.cost();
        if propagation.hops > 0 && (entries > MOST_ENTRIES || DENSE_ENTRY * entries as f64 >= apart) {
            let factor = match propagation.rescale {
                Rescale::None => 1.0,
                Rescale::RootMeanSquare => 1.0 / divisor(root_mean_square(values, &step, *propagation)),
            };
            return Ok(Self {
                rows: Rows::new(values.clone()),
                lazily: Some((step, *propagation)),
                factor: factor as f32,
            });
        }
        let values = after_hops(values, &step, *propagation)?.into_owned();
        let values = match propagation.rescale {
            Rescale::None => values,
            Rescale::RootMeanSquare => {
                let size = root_mean_square(&values, &step, Propagation::default());
                values.rescaled(0.0, (1.0 / divisor(size)) as f32)?
            }
        };
        Ok(Self { rows: Rows::new(values), lazily: None, factor: 1.0 })
    }

    /// Returns the entries, where this is a plain sparse matrix: no fill, and no steps to apply.
    #[must_use]
    pub fn sparse(&self) -> Option<&SparseMatrix> {
        match self {
            Self { rows: Rows::Filled { fill: 0.0, entries, .. }, lazily: None, .. } => Some(entries),
            _ => None,
        }
    }

    /// Returns the number of nodes.
    #[must_use]
    pub fn n_rows(&self) -> usize {
        match &self.rows {
            Rows::Dense(matrix) => matrix.n_rows(),
            Rows::Filled { entries, .. } => entries.n_rows(),
        }
    }

    /// Returns the number of features.
    #[must_use]
    pub fn n_columns(&self) -> usize {
        match &self.rows {
            Rows::Dense(matrix) => matrix.n_columns(),
            Rows::Filled { entries, .. } => entries.n_columns(),
        }
    }

    /// Returns the time per column that a product takes, in units of one entry of a sparse matrix.
    #[must_use]
    pub fn cost(&self) -> f64 {
        let rows = match &self.rows {
            Rows::Dense(matrix) => DENSE_ENTRY * matrix.values().len() as f64,
            Rows::Filled { entries, .. } => (entries.n_entries() + entries.n_rows()) as f64,
        };
        rows + self.lazily.as_ref().map_or(0.0, |(step, propagation)| f64::from(propagation.hops) * step.cost())
    }

    /// Returns every entry, where the map holds it already.
    #[must_use]
    pub fn dense(&self) -> Option<&DenseMatrix> {
        match self {
            Self { rows: Rows::Dense(matrix), lazily: None, .. } => Some(matrix),
            _ => None,
        }
    }

    /// Returns a map that holds every entry.
    #[must_use]
    pub fn of_dense(matrix: DenseMatrix) -> Self {
        Self { rows: Rows::Dense(matrix), lazily: None, factor: 1.0 }
    }

    /// Returns `X x`, or `Xᵀ x` for the adjoint.
    ///
    /// # Shapes
    /// `x`: row-major `[n_columns, width]`; the result is `[n_rows, width]`. The adjoint swaps both.
    #[must_use]
    pub fn apply(&self, x: &[f32], width: usize, adjoint: bool) -> Vec<f32> {
        let propagate = |x: Vec<f32>| match &self.lazily {
            Some((step, Propagation { hops, aggregator, .. })) => step.propagate(x, width, *hops, *aggregator, adjoint),
            None => x,
        };
        let mut product = match (adjoint, &self.lazily) {
            (false, _) => propagate(self.rows.apply(x, width)),
            (true, None) => self.rows.apply_adjoint(x, width),
            (true, Some(_)) => self.rows.apply_adjoint(&propagate(x.to_vec()), width),
        };
        if self.factor != 1.0 {
            product.iter_mut().for_each(|value| *value *= self.factor);
        }
        product
    }
}

impl Rows {
    fn new(features: FeatureMatrix) -> Self {
        match features {
            FeatureMatrix::Dense(matrix) => Self::Dense(matrix),
            FeatureMatrix::Sparse { fill, entries } => Self::Filled { fill, transposed: entries.transposed(), entries },
        }
    }

    /// Time per column of a product with these features.
    fn cost_of(features: &FeatureMatrix) -> f64 {
        match features {
            FeatureMatrix::Dense(matrix) => DENSE_ENTRY * matrix.values().len() as f64,
            FeatureMatrix::Sparse { entries, .. } => (entries.n_entries() + entries.n_rows()) as f64,
        }
    }

    fn apply(&self, x: &[f32], width: usize) -> Vec<f32> {
        match self {
            Self::Dense(matrix) => matrix.multiply(x, width),
            Self::Filled { fill, entries, .. } => with_fill(entries.multiply(x, width), *fill, x, width),
        }
    }

    fn apply_adjoint(&self, y: &[f32], width: usize) -> Vec<f32> {
        match self {
            Self::Dense(matrix) => matrix.multiply_adjoint(y, width),
            Self::Filled { fill, transposed, .. } => with_fill(transposed.multiply(y, width), *fill, y, width),
        }
    }
}

/// Adds `fill 1 1ᵀ x` to every row of `product`: the term of rank one that the entries which are not listed make.
///
/// # Shapes
/// `product` and `x`: row-major, with rows of `width`.
fn with_fill(mut product: Vec<f32>, fill: f32, x: &[f32], width: usize) -> Vec<f32> {
    if fill != 0.0 && width > 0 {
        let mut sums = vec![0.0_f64; width];
        for row in x.chunks_exact(width) {
            sums.iter_mut().zip(row).for_each(|(sum, &value)| *sum += f64::from(value));
        }
        let terms: Vec<f32> = sums.into_iter().map(|sum| (f64::from(fill) * sum) as f32).collect();
        for row in product.chunks_exact_mut(width) {
            row.iter_mut().zip(&terms).for_each(|(value, term)| *value += term);
        }
    }
    product
}

impl fmt::Debug for FeatureMap {
    /// Names the map; its entries are too many to print.
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        write!(formatter, "{} features of {} nodes", self.n_columns(), self.n_rows())
    }
}

#[cfg(test)]
mod tests;
