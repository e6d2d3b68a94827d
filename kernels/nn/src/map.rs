//! Linear maps on dense matrices: features, aggregation over a graph, and their product.

use std::sync::Arc;

use veilgraph_graph::SparseMatrix;

use crate::graph_operator::{GraphOperator, Scaling, SoftMap};
use crate::rows::{entries, matrix, product, with_loop};

/// A matrix in the form in which it is applied.
#[derive(Debug)]
pub(crate) enum LinearMap {
    /// Explicit entries.
    Sparse(Arc<SparseMap>),
    /// Every entry, row-major `[rows, columns]`.
    Dense { values: Vec<f32>, shape: [usize; 2] },
    /// The soft graph between two diagonals.
    Soft(SoftMap),
}

/// A sparse matrix with its transposed one, which the gradient needs.
#[derive(Debug)]
pub(crate) struct SparseMap {
    pub matrix: SparseMatrix,
    pub transposed: SparseMatrix,
}

/// A multiplication with a dense matrix costs this share of one with a sparse one (measured: they are
/// equally fast at a density of 18 %).
const DENSE_COST: f64 = 0.18;
/// The product of graph and features is kept dense below this size, in entries (half a gibibyte).
const MOST_ENTRIES: usize = 1 << 27;

impl LinearMap {
    /// This matrix, dense if that is cheaper.
    pub(crate) fn of(matrix: SparseMatrix) -> Self {
        let shape = [matrix.n_rows(), matrix.n_columns()];
        if matrix.n_entries() as f64 <= DENSE_COST * (shape[0] * shape[1]) as f64 {
            return Self::Sparse(Arc::new(SparseMap { transposed: matrix.transposed(), matrix }));
        }
        let mut values = vec![0.0; shape[0] * shape[1]];
        for row in 0..shape[0] {
            let (columns, entries) = matrix.row(row);
            for (&column, &entry) in columns.iter().zip(entries) {
                values[row * shape[1] + column as usize] = entry;
            }
        }
        Self::Dense { values, shape }
    }

    /// `D^{-1/2} (W + I) D^{-1/2}` with `D` the row sums of `W + I` (Kipf, Welling 2017; Blink, equation 20).
    pub(crate) fn symmetric(graph: &Arc<GraphOperator>) -> Self {
        let scale: Vec<f32> = graph.row_sums().into_iter().map(|sum| 1.0 / (1.0 + sum).sqrt()).collect();
        Self::propagation(graph, Scaling { left: scale.clone(), right: scale, loops: true })
    }

    /// `D^{-1} W`: the weighted mean over neighbours (Blink, equation 22).
    ///
    /// Row sums below `least` count as `least`; an empty neighbourhood has mean zero.
    pub(crate) fn mean(graph: &Arc<GraphOperator>, least: f32) -> Self {
        let scale = |sum: f32| if sum.max(least) > 0.0 { 1.0 / sum.max(least) } else { 0.0 };
        let left = graph.row_sums().into_iter().map(scale).collect();
        Self::propagation(graph, Scaling { left, right: vec![1.0; graph.n_nodes()], loops: false })
    }

    fn propagation(graph: &Arc<GraphOperator>, scaling: Scaling) -> Self {
        let GraphOperator::Sparse(weights) = graph.as_ref() else {
            return Self::Soft(SoftMap { operator: graph.clone(), scaling });
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
            Self::Dense { shape, .. } => shape[0],
            Self::Soft(map) => map.operator.n_nodes(),
        }
    }

    /// Number of columns.
    pub(crate) fn n_columns(&self) -> usize {
        match self {
            Self::Sparse(map) => map.matrix.n_columns(),
            Self::Dense { shape, .. } => shape[1],
            Self::Soft(map) => map.operator.n_nodes(),
        }
    }

    /// `M x` for a row-major `x` of shape `[columns, width]`; on the host.
    pub(crate) fn apply(&self, x: &[f32], width: usize) -> Vec<f32> {
        match self {
            Self::Sparse(map) => map.matrix.multiply(x, width),
            Self::Dense { values, shape } => dense(values, x, *shape, width, false),
            Self::Soft(map) => map.apply(x, width, false),
        }
    }

    /// `Mᵀ y` for a row-major `y` of shape `[rows, width]`; on the host.
    pub(crate) fn apply_adjoint(&self, y: &[f32], width: usize) -> Vec<f32> {
        match self {
            Self::Sparse(map) => map.transposed.multiply(y, width),
            Self::Dense { values, shape } => dense(values, y, *shape, width, true),
            Self::Soft(map) => map.apply(y, width, true),
        }
    }

    /// Multiplications per column of the right-hand side, in units of a sparse one.
    fn cost(&self) -> f64 {
        match self {
            Self::Sparse(map) => map.matrix.n_entries() as f64,
            Self::Dense { shape, .. } => DENSE_COST * (shape[0] * shape[1]) as f64,
            Self::Soft(map) => map.operator.cost(),
        }
    }

    /// `self · features`, if applying it is cheaper than applying both, one after the other.
    ///
    /// A grid applies it once per epoch and model; the product is made once.
    pub(crate) fn times(&self, features: &Self) -> Option<Self> {
        let apart = self.cost() + features.cost();
        let shape = [self.n_rows(), features.n_columns()];
        if let (Self::Sparse(graph), Self::Sparse(features)) = (self, features) {
            let product = product(&graph.matrix, &features.matrix, apart as usize)?;
            return Some(Self::of(product));
        }
        let dense = DENSE_COST * (shape[0] * shape[1]) as f64;
        if dense >= apart || shape[0] * shape[1] > MOST_ENTRIES {
            return None;
        }
        let mut whole = vec![0.0; features.n_rows() * shape[1]];
        match features {
            Self::Dense { values, .. } => whole.copy_from_slice(values),
            Self::Sparse(map) => {
                for row in 0..features.n_rows() {
                    for (column, entry) in entries(&map.matrix, row) {
                        whole[row * shape[1] + column as usize] = entry;
                    }
                }
            }
            Self::Soft(_) => return None,
        }
        Some(Self::Dense { values: self.apply(&whole, shape[1]), shape })
    }
}

/// A dense matrix or its transposed one times `x`; for what is done once, since backends have faster ones.
fn dense(values: &[f32], x: &[f32], [rows, columns]: [usize; 2], width: usize, adjoint: bool) -> Vec<f32> {
    let mut product = vec![0.0; width * if adjoint { columns } else { rows }];
    for row in 0..rows {
        for column in 0..columns {
            let value = values[row * columns + column];
            let (to, from) = if adjoint { (column, row) } else { (row, column) };
            let sums = &mut product[to * width..(to + 1) * width];
            sums.iter_mut().zip(&x[from * width..]).for_each(|(sum, &term)| *sum += value * term);
        }
    }
    product
}
