//! Linear maps on dense matrices: features, aggregation over a graph, and their product.

use std::sync::Arc;

use veilgraph_graph::SparseMatrix;

use veilgraph_operator::Scaling;
use veilgraph_operator::rows::{entries, matrix, product, with_loop};
use veilgraph_operator::{GraphOperator, ImplicitMap};

/// A matrix in the form in which it is applied.
#[derive(Debug)]
pub(crate) enum LinearMap {
    /// Explicit entries.
    Sparse(Arc<SparseMap>),
    /// A graph that is not listed, between two diagonal matrices.
    Implicit(Arc<ImplicitMap>),
}

/// A sparse matrix with its transposed one, which the gradient needs.
#[derive(Debug)]
pub(crate) struct SparseMap {
    pub matrix: SparseMatrix,
    pub transposed: SparseMatrix,
}

/// The product of a soft graph and features is kept below this size, in entries (a gibibyte with its transposed one).
const MOST_ENTRIES: usize = 1 << 26;

impl LinearMap {
    /// This matrix with its transposed one.
    ///
    /// Dense matrices are kept as sparse ones too: measured, burn's product with a matrix of few columns takes ten
    /// times as long per entry.
    pub(crate) fn of(matrix: SparseMatrix) -> Self {
        Self::Sparse(Arc::new(SparseMap { transposed: matrix.transposed(), matrix }))
    }

    /// `D^{-1/2} (W + I) D^{-1/2}` with `D` the row sums of `W + I`.
    ///
    /// # Source
    /// Kipf, Welling (2017), equation 2; Blink, equation 20.
    pub(crate) fn symmetric(graph: &Arc<GraphOperator>) -> Self {
        let scale: Vec<f32> = graph.row_sums().into_iter().map(|sum| 1.0 / (1.0 + sum).sqrt()).collect();
        Self::propagation(graph, Scaling { left: scale.clone(), right: scale, loops: true })
    }

    /// `D^{-1} W` with `D` the row sums of `W`: the weighted mean over neighbours.
    ///
    /// Row sums below `least` count as `least`; an empty neighbourhood has mean zero.
    ///
    /// # Source
    /// Blink, equation 22.
    pub(crate) fn mean(graph: &Arc<GraphOperator>, least: f32) -> Self {
        let scale = |sum: f32| if sum.max(least) > 0.0 { 1.0 / sum.max(least) } else { 0.0 };
        let left = graph.row_sums().into_iter().map(scale).collect();
        Self::propagation(graph, Scaling { left, right: vec![1.0; graph.n_nodes()], loops: false })
    }

    /// The scaled weights: as entries where the weights are listed, else unlisted.
    fn propagation(graph: &Arc<GraphOperator>, scaling: Scaling) -> Self {
        let GraphOperator::Sparse(weights) = graph.as_ref() else {
            return Self::Implicit(Arc::new(ImplicitMap { operator: graph.clone(), scaling }));
        };
        let rows = (0..weights.n_rows()).map(|i| {
            let mut row = if scaling.loops { with_loop(weights, i) } else { entries(weights, i) };
            row.iter_mut().for_each(|(j, weight)| *weight *= scaling.left[i] * scaling.right[*j as usize]);
            row
        });
        Self::of(matrix(weights.n_rows(), rows))
    }

    /// Number of rows.
    pub(crate) fn n_rows(&self) -> usize {
        match self {
            Self::Sparse(map) => map.matrix.n_rows(),
            Self::Implicit(map) => map.operator.n_nodes(),
        }
    }

    /// Number of columns.
    pub(crate) fn n_columns(&self) -> usize {
        match self {
            Self::Sparse(map) => map.matrix.n_columns(),
            Self::Implicit(map) => map.operator.n_nodes(),
        }
    }

    /// Time per column of the matrix that the map is applied to, in units of one entry of a sparse matrix.
    fn cost(&self) -> f64 {
        match self {
            Self::Sparse(map) => map.matrix.n_entries() as f64,
            Self::Implicit(map) => map.operator.cost(),
        }
    }

    /// `self · features`, if applying this product is cheaper than applying both, one after the other.
    ///
    /// A grid makes the product once, and applies it once per epoch and model.
    pub(crate) fn times(&self, features: &Self) -> Option<Self> {
        let apart = self.cost() + features.cost();
        let Self::Sparse(features) = features else { return None };
        match self {
            Self::Sparse(graph) => product(&graph.matrix, &features.matrix, apart as usize).map(Self::of),
            Self::Implicit(soft) => {
                let (rows, width) = (features.matrix.n_rows(), features.matrix.n_columns());
                // Measured: an entry of a product this large takes four times as long, since it comes from main memory.
                if 4.0 * (rows * width) as f64 >= apart || rows * width > MOST_ENTRIES {
                    return None;
                }
                let mut whole = vec![0.0; rows * width];
                for (row, values) in whole.chunks_exact_mut(width.max(1)).enumerate() {
                    entries(&features.matrix, row)
                        .into_iter()
                        .for_each(|(column, value)| values[column as usize] = value);
                }
                let product = soft.apply(&whole, width, false);
                let rows = product.chunks_exact(width.max(1)).map(|row| (0..).zip(row.iter().copied()).collect());
                Some(Self::of(matrix(width, rows)))
            }
        }
    }
}
