//! The weights of a graph, and one step of aggregation where they are not listed as entries.

use std::fmt;
use std::sync::Arc;

use veilgraph_contract::Invalid;
use veilgraph_graph::{Construction, Links, ProductRows, SparseMatrix, WeightedGraph};
use veilgraph_posterior::{LinkEvidence, LinkModel, Posterior, SoftOperator};

use crate::bit_graph::BitGraph;
use crate::rows::matrix;
use crate::scaling::Scaling;

/// The weights of a graph, without self-loops: row, who receives; column, who sends.
pub enum GraphOperator {
    /// Listed links.
    Sparse(SparseMatrix),
    /// Many links of weight 1.
    Bits(BitGraph),
    /// A soft graph: the weight of every pair is its probability, which no list holds.
    Soft(SoftOperator),
}

/// One step of aggregation over weights that are not listed as entries.
pub struct ImplicitMap {
    /// The weights.
    pub operator: Arc<GraphOperator>,
    /// The diagonal matrices around them.
    pub scaling: Scaling,
}

impl GraphOperator {
    /// The weights of `graph`; those of a soft one are the posterior that `model` and `evidence` make.
    ///
    /// # Errors
    /// When a soft graph comes without its posterior, or the links of the graph were learned with a model, which does
    /// not hold them.
    pub fn of(
        graph: &WeightedGraph,
        model: Option<LinkModel>,
        evidence: Option<LinkEvidence>,
    ) -> Result<Self, Invalid> {
        match (graph.construction, model, evidence) {
            (Construction::Soft, Some(model), Some(evidence)) => {
                Ok(Self::Soft(SoftOperator::new(&Posterior::new(&model, evidence)?)))
            }
            (Construction::Soft, ..) => Err(Invalid("a soft graph needs link_model and link_evidence".into())),
            (Construction::Learned, ..) => {
                Err(Invalid("the links of this graph were learned with a model, which does not hold them".into()))
            }
            _ => Ok(Self::explicit(graph)),
        }
    }

    /// The explicit links of `graph`; undirected ones in both directions.
    #[must_use]
    pub fn explicit(graph: &WeightedGraph) -> Self {
        // Bits are taken where they are faster or smaller. Measured: a listed link costs as much time as the look-up of
        // eight pairs, and it takes 128 times as much memory as the bits of its pair.
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

    /// `W x`.
    ///
    /// # Shapes
    /// `x` and the result: row-major `[n_nodes, width]`.
    #[must_use]
    pub fn apply(&self, x: &[f32], width: usize) -> Vec<f32> {
        self.apply_rows(x, width, ProductRows::All)
    }

    /// `W x`, where `rows` says which rows matter; shapes as in [`Self::apply`].
    fn apply_rows(&self, x: &[f32], width: usize, rows: ProductRows) -> Vec<f32> {
        match self {
            Self::Sparse(matrix) => matrix.multiply_rows(x, width, rows),
            Self::Bits(graph) => graph.apply(x, width, false),
            Self::Soft(operator) => operator.apply_rows(x, width, rows),
        }
    }

    /// `Wᵀ x`, likewise.
    fn apply_adjoint(&self, x: &[f32], width: usize, rows: ProductRows) -> Vec<f32> {
        match self {
            Self::Sparse(matrix) => matrix.transposed().multiply_rows(x, width, rows),
            Self::Bits(graph) => graph.apply(x, width, true),
            // The probability of a pair does not depend on its order.
            Self::Soft(operator) => operator.apply_rows(x, width, rows),
        }
    }

    /// Time per column of `x` that [`Self::apply`] takes, in units of one entry of a sparse matrix.
    #[must_use]
    pub fn cost(&self) -> f64 {
        match self {
            Self::Sparse(matrix) => matrix.n_entries() as f64,
            Self::Bits(graph) => graph.cost(),
            Self::Soft(operator) => operator.cost(),
        }
    }

    /// Sum of the weights at each node, `[n_nodes]`.
    #[must_use]
    pub fn row_sums(&self) -> Vec<f32> {
        self.apply(&vec![1.0; self.n_nodes()], 1)
    }
}

impl ImplicitMap {
    /// `M x`, or `Mᵀ x` for the adjoint; `rows` says which rows matter.
    ///
    /// # Shapes
    /// `x` and the result: row-major `[n_nodes, width]`.
    #[must_use]
    pub fn apply(&self, x: &[f32], width: usize, adjoint: bool, rows: ProductRows) -> Vec<f32> {
        self.scaling.apply(x, width, adjoint, |x| {
            if adjoint { self.operator.apply_adjoint(x, width, rows) } else { self.operator.apply_rows(x, width, rows) }
        })
    }

    /// Every entry, row-major `[n_nodes, n_nodes]`, for devices on which a dense product is the fastest.
    #[must_use]
    pub fn dense(&self) -> Vec<f32> {
        let n = self.operator.n_nodes();
        every_entry(n, |x, width| self.apply(x, width, false, ProductRows::All))
    }
}

impl fmt::Debug for ImplicitMap {
    /// Names the map; its entries are too many to print.
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        write!(formatter, "implicit graph of {} nodes", self.operator.n_nodes())
    }
}

/// Every entry of a matrix that is given by its products: it is multiplied by the identity, some columns at a time.
///
/// # Shapes
/// `apply`: takes row-major `[n, width]` and the width, returns the same shape. Returns row-major `[n, n]`.
#[must_use]
pub fn every_entry(n: usize, apply: impl Fn(&[f32], usize) -> Vec<f32>) -> Vec<f32> {
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
