//! Weights of links that are learned while a network trains (Solitude).

mod dense;

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use veilgraph_graph::WeightedGraph;

use crate::graph_operator::Scaling;
use crate::kernels::corrections;
use dense::{LinkRow, adjoint_product, product, step_row, transposed};

/// How links are learned.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct LinkLearning {
    /// Step size of Adam on the weights.
    pub learning_rate: f64,
    /// Price of the distance from the reported links (Frobenius norm): lambda 1 of the paper.
    pub deviation: f64,
    /// Price of the sum of absolute weights: lambda 2.
    pub sparsity: f64,
}

impl Default for LinkLearning {
    fn default() -> Self {
        Self { learning_rate: 0.01, deviation: 1e-3, sparsity: 1e-3 }
    }
}

/// Reported links, from which weights are learned.
pub struct ReportedLinks {
    n: usize,
    /// Row: who reported and receives; column: about whom.
    weights: Vec<f32>,
    learning: LinkLearning,
}

/// How weights become one step of aggregation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rule {
    /// `D^{-1/2} (A + I) D^{-1/2}` with `D` the row sums of `A + I`, at least 1.
    Symmetric,
    /// `D^{-1} A` with `D` the row sums of `A`, at least 1.
    Mean,
}

/// A linear map whose links are learned by one model.
pub(crate) struct LearnedMap {
    reported: Arc<ReportedLinks>,
    rule: Rule,
    state: Mutex<State>,
}

struct State {
    weights: Vec<f32>,
    first: Vec<f32>,
    second: Vec<f32>,
    steps: u32,
    /// Row sums as they divide, and whether they are above their least value.
    sums: Vec<(f32, bool)>,
    /// What was multiplied since recording began, with its product; and in reverse order the gradients.
    tape: Option<[Vec<Pass>; 2]>,
}

/// Input and output of the map or of its adjoint.
struct Pass {
    input: Vec<f32>,
    output: Vec<f32>,
    width: usize,
}

impl ReportedLinks {
    /// The links of `graph`, each seen by the node that reported it.
    #[must_use]
    pub fn new(graph: &WeightedGraph, learning: LinkLearning) -> Self {
        let n = graph.n_nodes;
        let mut weights = vec![0.0; n * n];
        for (source, target, weight) in graph.links() {
            weights[source as usize * n + target as usize] = weight;
        }
        Self { n, weights, learning }
    }

    /// Number of nodes.
    #[must_use]
    pub fn n_nodes(&self) -> usize {
        self.n
    }
}

impl LearnedMap {
    /// The map before anything is learned.
    pub(crate) fn new(reported: Arc<ReportedLinks>, rule: Rule) -> Self {
        let entries = reported.weights.len();
        let weights = reported.weights.clone();
        let sums = row_sums(&weights, reported.n, rule);
        let (first, second) = (vec![0.0; entries], vec![0.0; entries]);
        Self { reported, rule, state: Mutex::new(State { weights, first, second, steps: 0, sums, tape: None }) }
    }

    /// `M x` or `Mᵀ x` for a row-major `x` of shape `[n, width]`.
    pub(crate) fn apply(&self, x: &[f32], width: usize, adjoint: bool) -> Vec<f32> {
        let mut state = self.lock();
        let output = self.scaling(&state.sums).apply(x, width, adjoint, |x| {
            if adjoint { adjoint_product(&state.weights, x, width) } else { product(&state.weights, x, width) }
        });
        if let Some(tape) = &mut state.tape {
            tape[usize::from(adjoint)].push(Pass { input: x.to_vec(), output: output.clone(), width });
        }
        output
    }

    /// Remembers products and gradients until [`Self::learn`].
    pub(crate) fn record(&self) {
        self.lock().tape = Some([Vec::new(), Vec::new()]);
    }

    /// One step of Adam on the weights, by the gradients since [`Self::record`] and the two penalties.
    ///
    /// # Source
    /// Lin, Li, Wang (2022), Solitude, as Blink's published code reads it (specs, section 2): weights are neither
    /// projected nor made symmetric.
    pub(crate) fn learn(&self) {
        let mut state = self.lock();
        let Some([passes, gradients]) = state.tape.take() else { return };
        let n = self.reported.n;
        let Scaling { left, right, .. } = self.scaling(&state.sums);
        // Of the loss by M: Σ over layers of g yᵀ, with y what was multiplied and g the gradient of the product.
        let layers = || passes.iter().zip(gradients.iter().rev());
        let g = join(layers().map(|(_, gradient)| (gradient.input.as_slice(), gradient.width)), n);
        let y = join(layers().map(|(pass, _)| (pass.input.as_slice(), pass.width)), n);
        // Of the loss by the row sums, which scale the map.
        let dots = |a: &[f32], b: &[f32], width: usize| -> Vec<f32> {
            let rows = a.chunks_exact(width).zip(b.chunks_exact(width));
            rows.map(|(a, b)| a.iter().zip(b).map(|(a, b)| a * b).sum()).collect()
        };
        let mut by_sum = vec![0.0; n];
        for (pass, gradient) in layers() {
            let forward = dots(&gradient.input, &pass.output, pass.width);
            let backward = dots(&pass.input, &gradient.output, pass.width);
            for (((by_sum, &(sum, is_free)), forward), backward) in
                by_sum.iter_mut().zip(&state.sums).zip(forward).zip(backward)
            {
                if is_free {
                    *by_sum -= match self.rule {
                        Rule::Symmetric => 0.5 * (forward + backward) / sum,
                        Rule::Mean => forward / sum,
                    };
                }
            }
        }
        state.steps += 1;
        let LinkLearning { learning_rate, deviation, sparsity } = self.reported.learning;
        let distance = distance(&state.weights, &self.reported.weights, n);
        let [to_rate, to_second] = corrections(state.steps);
        let step = dense::Step {
            learning_rate: learning_rate as f32 * to_rate,
            to_second,
            deviation: if distance > 0.0 { (deviation / distance) as f32 } else { 0.0 },
            sparsity: sparsity as f32,
        };
        let (width, y) = (g.1, transposed(&y.0, y.1));
        let State { weights, first, second, .. } = &mut *state;
        let rows = weights.par_chunks_mut(n).zip(first.par_chunks_mut(n)).zip(second.par_chunks_mut(n)).enumerate();
        rows.for_each(|(node, ((weights, first), second))| {
            let reported = &self.reported.weights[node * n..(node + 1) * n];
            let gradient = &g.0[node * width..(node + 1) * width];
            let (left, by_sum) = (left[node], by_sum[node]);
            step_row(
                LinkRow { node, weights, first, second, reported, gradient, y: &y, left, right: &right, by_sum },
                step,
            );
        });
        state.sums = row_sums(&state.weights, n, self.rule);
    }

    /// What surrounds the weights.
    fn scaling(&self, sums: &[(f32, bool)]) -> Scaling {
        match self.rule {
            Rule::Symmetric => {
                let scale: Vec<f32> = sums.iter().map(|(sum, _)| 1.0 / sum.sqrt()).collect();
                Scaling { left: scale.clone(), right: scale, loops: true }
            }
            Rule::Mean => {
                let left = sums.iter().map(|(sum, _)| 1.0 / sum).collect();
                Scaling { left, right: vec![1.0; sums.len()], loops: false }
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn row_sums(weights: &[f32], n: usize, rule: Rule) -> Vec<(f32, bool)> {
    let own = if rule == Rule::Symmetric { 1.0 } else { 0.0 };
    let sum = |row: &[f32]| {
        let sum = own + row.iter().sum::<f32>();
        (sum.max(1.0), sum > 1.0)
    };
    weights.par_chunks(n).map(sum).collect()
}

/// Frobenius norm of the difference, summed in order whatever the threads.
fn distance(a: &[f32], b: &[f32], n: usize) -> f64 {
    let row = |(a, b): (&[f32], &[f32])| a.iter().zip(b).map(|(a, b)| f64::from(a - b).powi(2)).sum::<f64>();
    let rows: Vec<f64> = a.par_chunks(n).zip(b.par_chunks(n)).map(row).collect();
    rows.iter().sum::<f64>().sqrt()
}

/// Row-major matrices of `n` rows side by side, and their width.
fn join<'a>(parts: impl Iterator<Item = (&'a [f32], usize)>, n: usize) -> (Vec<f32>, usize) {
    let parts: Vec<_> = parts.collect();
    let width = parts.iter().map(|part| part.1).sum();
    let row = |node: usize| parts.iter().flat_map(move |&(part, width)| &part[node * width..(node + 1) * width]);
    ((0..n).flat_map(row).copied().collect(), width)
}

impl fmt::Debug for LearnedMap {
    /// Names the map; its entries are too many to print.
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        write!(formatter, "learned links of {} nodes", self.reported.n)
    }
}

impl fmt::Debug for ReportedLinks {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        write!(formatter, "reported links of {} nodes", self.n)
    }
}

#[cfg(test)]
mod tests;
