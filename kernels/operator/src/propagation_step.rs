//! One step of propagation: every node takes the normalized sum over its neighbours, and nothing of its own.

use std::fmt;
use std::sync::Arc;

use veilgraph_graph::{Aggregator, ProductRows, SparseMatrix};

use crate::graph_operator::{GraphOperator, ImplicitMap};
use crate::rows::{entries, matrix};
use crate::scaling::Scaling;

/// The matrix `S = D^{-1/2} W D^{-1/2}` of a graph with weights `W`, without self-loops; `D` holds the row sums of `W`.
///
/// A node whose row of `W` sums to zero neither receives nor sends.
///
/// # Source
/// Sajadmanesh, Gatica-Perez (2021), LPGNN, algorithm 2 (`KProp`).
pub struct PropagationStep(Form);

enum Form {
    /// The entries are listed; the transposed matrix is absent where it is the same.
    Listed { matrix: SparseMatrix, transposed: Option<SparseMatrix> },
    /// No list holds the weights.
    Implicit(ImplicitMap),
}

impl PropagationStep {
    /// Makes the step of `graph`.
    #[must_use]
    pub fn new(graph: &Arc<GraphOperator>) -> Self {
        // The product of two inverse roots of smaller sums could overflow.
        let root = |sum: f32| if sum >= f32::MIN_POSITIVE { 1.0 / sum.sqrt() } else { 0.0 };
        let scale: Vec<f32> = graph.row_sums().into_iter().map(root).collect();
        let GraphOperator::Sparse(weights) = graph.as_ref() else {
            let scaling = Scaling { left: scale.clone(), right: scale, loops: false };
            return Self(Form::Implicit(ImplicitMap { operator: graph.clone(), scaling }));
        };
        let rows = (0..weights.n_rows()).map(|i| {
            let mut row = entries(weights, i);
            row.iter_mut().for_each(|(j, weight)| *weight *= scale[i] * scale[*j as usize]);
            row
        });
        let matrix = matrix(weights.n_rows(), rows);
        let transposed = Some(matrix.transposed()).filter(|transposed| *transposed != matrix);
        Self(Form::Listed { matrix, transposed })
    }

    /// Returns the number of nodes.
    #[must_use]
    pub fn n_nodes(&self) -> usize {
        match &self.0 {
            Form::Listed { matrix, .. } => matrix.n_rows(),
            Form::Implicit(map) => map.operator.n_nodes(),
        }
    }

    /// Returns the time per column that one step takes, in units of one entry of a sparse matrix.
    #[must_use]
    pub fn cost(&self) -> f64 {
        match &self.0 {
            Form::Listed { matrix, .. } => matrix.n_entries() as f64,
            Form::Implicit(map) => map.operator.cost(),
        }
    }

    /// Returns how many columns one product should take: as many as a row keeps in registers, or more where making the
    /// weights costs more than summing with them.
    pub(crate) fn columns_at_once(&self) -> usize {
        match &self.0 {
            Form::Listed { .. } => 16,
            Form::Implicit(_) => 64,
        }
    }

    /// Returns `S^K x`, or the mean `(S + … + S^K) x / K` of all steps; the adjoint takes `Sᵀ` for `S`. Without hops
    /// this is `x`.
    ///
    /// # Shapes
    /// `x` and the result: row-major `[n_nodes, width]`.
    #[must_use]
    pub fn propagate(&self, x: Vec<f32>, width: usize, hops: u32, aggregator: Aggregator, adjoint: bool) -> Vec<f32> {
        let mut x = x;
        let mut sum: Option<Vec<f32>> = None;
        for _ in 0..hops {
            x = self.apply(&x, width, adjoint);
            if aggregator == Aggregator::Hoa {
                match &mut sum {
                    Some(sum) => sum.iter_mut().zip(&x).for_each(|(sum, &x)| *sum += x),
                    None => sum = Some(x.clone()),
                }
            }
        }
        let Some(mut sum) = sum else { return x };
        let share = 1.0 / hops as f32;
        sum.iter_mut().for_each(|sum| *sum *= share);
        sum
    }

    /// Returns `S x`, or `Sᵀ x` for the adjoint.
    fn apply(&self, x: &[f32], width: usize, adjoint: bool) -> Vec<f32> {
        match &self.0 {
            Form::Listed { transposed: Some(transposed), .. } if adjoint => transposed.multiply(x, width),
            Form::Listed { matrix, .. } => matrix.multiply(x, width),
            Form::Implicit(map) => map.apply(x, width, adjoint, ProductRows::All),
        }
    }
}

impl fmt::Debug for PropagationStep {
    /// Names the step; its entries are too many to print.
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        write!(formatter, "a step of propagation over {} nodes", self.n_nodes())
    }
}
