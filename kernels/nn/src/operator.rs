//! Linear maps on dense matrices, given by their product and that of their adjoint.

use std::fmt;
use std::sync::Arc;

use veilgraph_graph::{SparseMatrix, WeightedGraph};
use veilgraph_posterior::SoftOperator;

/// A matrix known by what it does.
pub trait LinearMap: Send + Sync + fmt::Debug {
    /// `M x` for a row-major `x` of shape `[columns, width]`.
    fn apply(&self, x: &[f32], width: usize) -> Vec<f32>;
    /// `Mᵀ y` for a row-major `y` of shape `[rows, width]`.
    fn apply_adjoint(&self, y: &[f32], width: usize) -> Vec<f32>;
    /// Number of rows.
    fn n_rows(&self) -> usize;
    /// Number of columns.
    fn n_columns(&self) -> usize;
}

/// A sparse matrix with its transpose at hand: features, say.
pub struct SparseMap {
    matrix: SparseMatrix,
    transposed: SparseMatrix,
}

/// The symmetric weights of a graph, without self-loops.
pub enum GraphOperator {
    /// Explicit links (hard, hybrid).
    Sparse(SparseMatrix),
    /// Every pair, implicitly (soft).
    Soft(SoftOperator),
}

/// `L (W + loops · I) R` with diagonal `L` and `R`: one step of aggregation over a graph.
pub struct Propagation {
    graph: Arc<GraphOperator>,
    left: Vec<f32>,
    right: Vec<f32>,
    loops: bool,
}

impl SparseMap {
    /// The map of this matrix.
    #[must_use]
    pub fn new(matrix: SparseMatrix) -> Self {
        Self { transposed: matrix.transposed(), matrix }
    }
}

impl LinearMap for SparseMap {
    fn apply(&self, x: &[f32], width: usize) -> Vec<f32> {
        self.matrix.multiply(x, width)
    }
    fn apply_adjoint(&self, y: &[f32], width: usize) -> Vec<f32> {
        self.transposed.multiply(y, width)
    }
    fn n_rows(&self) -> usize {
        self.matrix.n_rows()
    }
    fn n_columns(&self) -> usize {
        self.matrix.n_columns()
    }
}

impl GraphOperator {
    /// The explicit links of `graph`, in both directions.
    #[must_use]
    pub fn explicit(graph: &WeightedGraph) -> Self {
        let mut rows = vec![Vec::new(); graph.n_nodes];
        for &(i, j, weight) in &graph.links {
            rows[i as usize].push((j, weight));
            rows[j as usize].push((i, weight));
        }
        for row in &mut rows {
            row.sort_unstable_by_key(|&(column, _)| column);
        }
        let matrix = SparseMatrix::from_rows(graph.n_nodes, rows);
        Self::Sparse(matrix.unwrap_or_else(|invalid| unreachable!("a weighted graph is a valid matrix: {invalid}")))
    }

    /// Number of nodes.
    #[must_use]
    pub fn n_nodes(&self) -> usize {
        match self {
            Self::Sparse(matrix) => matrix.n_rows(),
            Self::Soft(operator) => operator.n_nodes(),
        }
    }

    /// `W x` for a row-major `x` of shape `[n_nodes, width]`.
    #[must_use]
    pub fn apply(&self, x: &[f32], width: usize) -> Vec<f32> {
        match self {
            Self::Sparse(matrix) => matrix.multiply(x, width),
            Self::Soft(operator) => operator.apply(x, width),
        }
    }

    /// Sum of the weights at each node.
    #[must_use]
    pub fn row_sums(&self) -> Vec<f32> {
        self.apply(&vec![1.0; self.n_nodes()], 1)
    }
}

impl Propagation {
    /// `D^{-1/2} (W + I) D^{-1/2}` with `D` the row sums of `W + I` (Kipf, Welling 2017; Blink, equation 20).
    #[must_use]
    pub fn symmetric(graph: Arc<GraphOperator>) -> Self {
        let scale: Vec<f32> = graph.row_sums().into_iter().map(|sum| 1.0 / (1.0 + sum).sqrt()).collect();
        Self { graph, left: scale.clone(), right: scale, loops: true }
    }

    /// `D^{-1} W`: the weighted mean over neighbours (Blink, equation 22).
    ///
    /// Row sums below `least` count as `least`; an empty neighbourhood has mean zero.
    #[must_use]
    pub fn mean(graph: Arc<GraphOperator>, least: f32) -> Self {
        let scale = |sum: f32| if sum.max(least) > 0.0 { 1.0 / sum.max(least) } else { 0.0 };
        let left = graph.row_sums().into_iter().map(scale).collect();
        let right = vec![1.0; graph.n_nodes()];
        Self { graph, left, right, loops: false }
    }

    fn between(&self, x: &[f32], width: usize, before: &[f32], after: &[f32]) -> Vec<f32> {
        let scaled = |x: &[f32], scale: &[f32]| -> Vec<f32> {
            x.chunks_exact(width.max(1))
                .zip(scale)
                .flat_map(|(row, &s)| row.iter().map(move |&value| s * value))
                .collect()
        };
        let x = scaled(x, before);
        let mut sum = self.graph.apply(&x, width);
        if self.loops {
            for (sum, &own) in sum.iter_mut().zip(&x) {
                *sum += own;
            }
        }
        scaled(&sum, after)
    }
}

impl LinearMap for Propagation {
    fn apply(&self, x: &[f32], width: usize) -> Vec<f32> {
        self.between(x, width, &self.right, &self.left)
    }
    fn apply_adjoint(&self, y: &[f32], width: usize) -> Vec<f32> {
        self.between(y, width, &self.left, &self.right)
    }
    fn n_rows(&self) -> usize {
        self.graph.n_nodes()
    }
    fn n_columns(&self) -> usize {
        self.graph.n_nodes()
    }
}

macro_rules! short_debug {
    ($($type:ty),*) => {$(
        impl fmt::Debug for $type {
            /// Names the map; its entries are too many to print.
            fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
                write!(formatter, "{} of {} rows", stringify!($type), self.n_rows())
            }
        }
    )*};
}
short_debug!(SparseMap, Propagation);
