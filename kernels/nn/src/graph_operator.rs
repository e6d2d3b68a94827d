//! The weights of a graph, explicit or implicit, and one step of aggregation over the implicit ones.

use std::fmt;
use std::sync::Arc;

use veilgraph_graph::{Links, SparseMatrix, WeightedGraph};
use veilgraph_posterior::SoftOperator;

use crate::bit_graph::BitGraph;
use crate::learned::ReportedLinks;
use crate::rows::matrix;

/// The weights of a graph, without self-loops: row, who receives; column, who sends.
pub enum GraphOperator {
    /// Explicit links.
    Sparse(SparseMatrix),
    /// Many links of weight 1.
    Bits(BitGraph),
    /// Every pair, implicitly (soft).
    Soft(SoftOperator),
}

/// A graph to train on: its weights, or links whose weights are learned.
pub enum TrainingGraph {
    /// Fixed weights.
    Fixed(GraphOperator),
    /// Learned ones.
    Learned(ReportedLinks),
}

/// `L (P + loops · I) R` with diagonal `L` and `R`.
pub(crate) struct ImplicitMap {
    pub operator: Arc<GraphOperator>,
    pub scaling: Scaling,
}

/// What surrounds the weights of a graph in one step of aggregation.
#[derive(Clone)]
pub(crate) struct Scaling {
    pub left: Vec<f32>,
    pub right: Vec<f32>,
    pub loops: bool,
}

impl GraphOperator {
    /// The explicit links of `graph`; undirected ones in both directions.
    #[must_use]
    pub fn explicit(graph: &WeightedGraph) -> Self {
        // Measured: a listed link costs as much as the look-up of eight pairs. Lists take 128 times as much memory.
        const MOST_LISTED: usize = 1 << 25;
        let (n, entries) = (graph.n_nodes, graph.n_entries());
        if let Links::Bits(bits) = &graph.links
            && (entries > n * n / 8 || entries > MOST_LISTED)
        {
            return Self::Bits(BitGraph::new(bits, graph.directed));
        }
        let mut rows = vec![Vec::new(); n];
        for (source, target, weight) in graph.links() {
            rows[target as usize].push((source, weight));
            if !graph.directed {
                rows[source as usize].push((target, weight));
            }
        }
        for row in &mut rows {
            row.sort_unstable_by_key(|&(column, _)| column);
        }
        Self::Sparse(matrix(graph.n_nodes, rows))
    }

    /// Number of nodes.
    #[must_use]
    pub fn n_nodes(&self) -> usize {
        match self {
            Self::Sparse(matrix) => matrix.n_rows(),
            Self::Bits(graph) => graph.n_nodes(),
            Self::Soft(operator) => operator.n_nodes(),
        }
    }

    /// `W x` for a row-major `x` of shape `[n_nodes, width]`.
    #[must_use]
    pub fn apply(&self, x: &[f32], width: usize) -> Vec<f32> {
        match self {
            Self::Sparse(matrix) => matrix.multiply(x, width),
            Self::Bits(graph) => graph.apply(x, width, false),
            Self::Soft(operator) => operator.apply(x, width),
        }
    }

    /// `Wᵀ x`.
    fn apply_adjoint(&self, x: &[f32], width: usize) -> Vec<f32> {
        match self {
            Self::Sparse(matrix) => matrix.transposed().multiply(x, width),
            Self::Bits(graph) => graph.apply(x, width, true),
            // Probabilities of pairs are symmetric.
            Self::Soft(operator) => operator.apply(x, width),
        }
    }

    /// Multiplications per column of `x` in [`Self::apply`], in units of one with a sparse matrix.
    pub(crate) fn cost(&self) -> f64 {
        match self {
            Self::Sparse(matrix) => matrix.n_entries() as f64,
            Self::Bits(graph) => graph.cost(),
            Self::Soft(operator) => operator.cost(),
        }
    }

    /// Sum of the weights at each node.
    pub(crate) fn row_sums(&self) -> Vec<f32> {
        self.apply(&vec![1.0; self.n_nodes()], 1)
    }
}

impl Scaling {
    /// `L (W + loops · I) R x` for a row-major `x` with rows of `width`, given `product(y) = W y`; or its adjoint, given
    /// `Wᵀ y`.
    pub(crate) fn apply(
        &self,
        x: &[f32],
        width: usize,
        adjoint: bool,
        product: impl FnOnce(&[f32]) -> Vec<f32>,
    ) -> Vec<f32> {
        let Self { left, right, loops } = self;
        let (before, after) = if adjoint { (left, right) } else { (right, left) };
        let scaled = |x: &[f32], scale: &[f32]| -> Vec<f32> {
            let rows = x.chunks_exact(width.max(1)).zip(scale);
            rows.flat_map(|(row, &s)| row.iter().map(move |&value| s * value)).collect()
        };
        let x = scaled(x, before);
        let mut sum = product(&x);
        if *loops {
            sum.iter_mut().zip(&x).for_each(|(sum, &own)| *sum += own);
        }
        scaled(&sum, after)
    }
}

impl ImplicitMap {
    /// `M x` or `Mᵀ x` for a row-major `x` of shape `[n_nodes, width]`.
    pub(crate) fn apply(&self, x: &[f32], width: usize, adjoint: bool) -> Vec<f32> {
        self.scaling.apply(x, width, adjoint, |x| {
            if adjoint { self.operator.apply_adjoint(x, width) } else { self.operator.apply(x, width) }
        })
    }

    /// Every entry, row-major: for devices on which a dense product is the fastest.
    pub(crate) fn dense(&self) -> Vec<f32> {
        let n = self.operator.n_nodes();
        every_entry(n, |x, width| self.apply(x, width, false))
    }
}

impl fmt::Debug for ImplicitMap {
    /// Names the map; its entries are too many to print.
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        write!(formatter, "implicit graph of {} nodes", self.operator.n_nodes())
    }
}

/// Every entry, row-major, of a matrix of `n` rows and columns that is given by its products: with a few
/// columns of the identity at a time.
pub(crate) fn every_entry(n: usize, apply: impl Fn(&[f32], usize) -> Vec<f32>) -> Vec<f32> {
    const BLOCK: usize = 64;
    let mut values = vec![0.0; n * n];
    for start in (0..n).step_by(BLOCK) {
        let width = BLOCK.min(n - start);
        let mut identity = vec![0.0; n * width];
        for column in 0..width {
            identity[(start + column) * width + column] = 1.0;
        }
        for (row, found) in apply(&identity, width).chunks_exact(width).enumerate() {
            values[row * n + start..][..width].copy_from_slice(found);
        }
    }
    values
}

impl From<GraphOperator> for TrainingGraph {
    fn from(graph: GraphOperator) -> Self {
        Self::Fixed(graph)
    }
}

impl From<ReportedLinks> for TrainingGraph {
    fn from(links: ReportedLinks) -> Self {
        Self::Learned(links)
    }
}
