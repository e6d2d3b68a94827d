//! Linear maps on dense matrices: features, aggregation over a graph, and their product.

use std::sync::Arc;

use veilgraph_graph::{DenseMatrix, ProductRows, Propagation, SparseMatrix};

use crate::failure::Failure;
use crate::input_features::InputFeatures;
use veilgraph_operator::rows::{entries, matrix, product, with_loop};
use veilgraph_operator::{DENSE_ENTRY, FeatureMap, GraphOperator, ImplicitMap, Scaling};

/// A matrix in the form in which it is applied.
#[derive(Debug)]
pub(crate) enum LinearMap {
    /// Explicit entries.
    Sparse(Arc<SparseMap>),
    /// A graph that is not listed, between two diagonal matrices.
    Implicit(Arc<ImplicitMap>),
    /// Features of which every entry may be set, or that are propagated with every product.
    Features(Arc<FeatureMap>),
}

/// The rows of a product that are read, in strictly ascending order; all of them if absent.
pub(crate) type ReadRows = Option<Arc<[u32]>>;

/// A sparse matrix with its transposed one, which the gradient needs.
#[derive(Debug)]
pub(crate) struct SparseMap {
    pub matrix: SparseMatrix,
    pub transposed: SparseMatrix,
}

/// The product of a graph and features that holds every entry is kept up to this size, in entries (a gibibyte).
const MOST_DENSE_ENTRIES: usize = 1 << 28;

impl LinearMap {
    /// This matrix with its transposed one.
    ///
    /// Public features are kept as sparse ones even where most entries are set; see [`FeatureMap`] for dense ones.
    pub(crate) fn of(matrix: SparseMatrix) -> Self {
        Self::Sparse(Arc::new(SparseMap { transposed: matrix.transposed(), matrix }))
    }

    /// The features of a dataset, propagated over `graph` as they ask for.
    ///
    /// # Errors
    /// When a feature is not finite once it is propagated and rescaled.
    pub(crate) fn features(features: InputFeatures, graph: &Arc<GraphOperator>) -> Result<Self, Failure> {
        let estimated = match features {
            InputFeatures::Public(features) => return Ok(Self::of(features.0.clone())),
            InputFeatures::Estimated(estimated) => estimated,
        };
        let map = FeatureMap::new(estimated, graph).map_err(|invalid| Failure::Propagation(invalid.0))?;
        Ok(match map.sparse() {
            Some(entries) => Self::of(entries.clone()),
            None => Self::Features(Arc::new(map)),
        })
    }

    /// The features of a dataset whose links are learned, so that there is no graph to propagate over.
    ///
    /// # Errors
    /// When the features ask to be propagated.
    pub(crate) fn unpropagated(features: InputFeatures, n_nodes: usize) -> Result<Self, Failure> {
        if let InputFeatures::Estimated(estimated) = features
            && estimated.propagation.hops > 0
        {
            let Propagation { hops, .. } = estimated.propagation;
            return Err(Failure::LearnedPropagation(hops));
        }
        let no_links = matrix(n_nodes, vec![Vec::new(); n_nodes]);
        Self::features(features, &Arc::new(GraphOperator::Sparse(no_links)))
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
    /// Row sums below `least` count as `least`; a neighbourhood that is empty, or whose sum is no normal number, has mean zero.
    ///
    /// # Source
    /// Blink, equation 22.
    pub(crate) fn mean(graph: &Arc<GraphOperator>, least: f32) -> Self {
        // The inverse of a smaller sum would overflow.
        let scale = |sum: f32| if sum.max(least) >= f32::MIN_POSITIVE { 1.0 / sum.max(least) } else { 0.0 };
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
            Self::Features(map) => map.n_rows(),
        }
    }

    /// Number of columns.
    pub(crate) fn n_columns(&self) -> usize {
        match self {
            Self::Sparse(map) => map.matrix.n_columns(),
            Self::Implicit(map) => map.operator.n_nodes(),
            Self::Features(map) => map.n_columns(),
        }
    }

    /// `M x`, or `Mᵀ x` for the adjoint, on the host; `rows` says which rows matter.
    ///
    /// # Shapes
    /// `x`: row-major `[columns, width]`. Returns `[rows, width]`; the adjoint swaps both.
    pub(crate) fn apply(&self, x: &[f32], width: usize, adjoint: bool, rows: ProductRows) -> Vec<f32> {
        match self {
            Self::Sparse(map) if adjoint => map.transposed.multiply_rows(x, width, rows),
            Self::Sparse(map) => map.matrix.multiply_rows(x, width, rows),
            Self::Implicit(map) => map.apply(x, width, adjoint, rows),
            Self::Features(map) => map.apply(x, width, adjoint),
        }
    }

    /// Every entry, row-major `[rows, columns]`, where a device on which a dense product is the fastest has room for
    /// `most` entries: those of a graph that is not listed, and of features that are held whole.
    pub(crate) fn dense(&self, most: u64) -> Option<Vec<f32>> {
        if (self.n_rows() * self.n_columns()) as u64 > most {
            return None;
        }
        match self {
            Self::Sparse(_) => None,
            Self::Implicit(map) => Some(map.dense()),
            Self::Features(map) => map.dense().map(|matrix| matrix.values().to_vec()),
        }
    }

    /// Time per column of the matrix that the map is applied to, in units of one entry of a sparse matrix.
    fn cost(&self) -> f64 {
        match self {
            Self::Sparse(map) => map.matrix.n_entries() as f64,
            Self::Implicit(map) => map.operator.cost(),
            Self::Features(map) => map.cost(),
        }
    }

    /// `self · features`, if applying this product is cheaper than applying both, one after the other.
    ///
    /// A grid makes the product once, and applies it once per epoch and model.
    pub(crate) fn times(&self, features: &Self) -> Option<Self> {
        let apart = self.cost() + features.cost();
        match (self, features) {
            (Self::Sparse(graph), Self::Sparse(features)) => {
                product(&graph.matrix, &features.matrix, apart as usize).map(Self::of)
            }
            (Self::Implicit(graph), Self::Sparse(features)) => {
                let sizes = [features.matrix.n_rows(), features.matrix.n_columns()];
                let pays = product_pays(&graph.operator, sizes, apart);
                if pays { self.product_with_sparse(features) } else { None }
            }
            (_, Self::Features(map)) => self.times_dense(map.dense()?, apart),
            (Self::Features(_), _) | (_, Self::Implicit(_)) => None,
        }
    }

    /// `self · features` for features with every entry set, if this saves a tenth of the time `apart` of a product:
    /// the product takes as much memory as the features.
    fn times_dense(&self, features: &DenseMatrix, apart: f64) -> Option<Self> {
        let (rows, width) = (features.n_rows(), features.n_columns());
        let entries = rows * width;
        if entries > MOST_DENSE_ENTRIES || 1.1 * DENSE_ENTRY * entries as f64 >= apart {
            return None;
        }
        // Features that stay finite under the same products in training do so here; else the features stay apart.
        let product =
            DenseMatrix::new(rows, width, self.apply(features.values(), width, false, ProductRows::All)).ok()?;
        Some(Self::Features(Arc::new(FeatureMap::of_dense(product))))
    }

    /// `self · features` with every entry, for sparse features: some columns at a time, of which few nodes hold anything.
    fn product_with_sparse(&self, features: &SparseMap) -> Option<Self> {
        const COLUMNS: usize = 16;
        let (rows, width) = (features.matrix.n_rows(), features.matrix.n_columns());
        let mut values = vec![0.0; rows * width];
        for first in (0..width).step_by(COLUMNS) {
            let n_columns = COLUMNS.min(width - first);
            let mut block = vec![0.0; rows * n_columns];
            let mut holders = Vec::new();
            for column in 0..n_columns {
                for (node, value) in entries(&features.transposed, first + column) {
                    block[node as usize * n_columns + column] = value;
                    holders.push(node);
                }
            }
            holders.sort_unstable();
            holders.dedup();
            let product = self.apply(&block, n_columns, false, ProductRows::Nonzero(&holders));
            for (row, computed) in values.chunks_exact_mut(width).zip(product.chunks_exact(n_columns)) {
                row[first..first + n_columns].copy_from_slice(computed);
            }
        }
        Some(Self::Features(Arc::new(FeatureMap::of_dense(DenseMatrix::new(rows, width, values).ok()?))))
    }
}

/// Whether a product of a graph that is not listed and sparse features, `[rows, columns]`, saves the time that it takes to make
/// within 128 epochs of one model. `apart` is the time per column of applying graph and features one after the other. An epoch
/// applies the first layer to 16 columns, and its transposed one to as many.
fn product_pays(graph: &GraphOperator, [rows, columns]: [usize; 2], apart: f64) -> bool {
    const COLUMNS_OF_EPOCHS: f64 = 128.0 * 32.0;
    // In units of one entry of a sparse matrix, 1.8 ns on one core. On two cores, on which the costs of soft graphs were measured,
    // an entry takes 0.17 to 0.18 ns for 16 columns (docs/benchmarks/speed-changes.md). A third more is counted, since the
    // product takes memory besides.
    let entry = if matches!(graph, GraphOperator::Soft(_)) { 0.13 } else { DENSE_ENTRY };
    let (entries, made) = ((rows * columns) as f64, columns as f64 * apart);
    rows * columns <= MOST_DENSE_ENTRIES && COLUMNS_OF_EPOCHS * (apart - entry * entries) > made
}
