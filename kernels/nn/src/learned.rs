//! Weights of links that are learned while a network trains (Solitude).
//!
//! The weights are no parameter of burn's: there are `n²` of them, and their gradient is cheap only where it is made
//! together with their step. So a learned graph stands among the layers as a fixed map would ([`LearnedMap`]), and
//! learns like this:
//!
//! 1. What runs in [`LearnedMap::recorded`] leaves every product `M x` of a forward pass and every product `Mᵀ g` of a backward
//!    pass on a tape, with its input and its output. Of the first layer's `Mᵀ g` only the input is kept where weights are scaled by
//!    their row alone ([`Rule::Mean`]). Its output is not computed, because neither the links nor the parameters need it in such a
//!    step.
//! 2. One forward and one backward pass run so. The first layer may be that of the evaluation before them. Burn computes
//!    gradients for the parameters too; they are not used.
//! 3. [`LearnedMap::learn`] takes the tape. A layer's forward input `x` and backward input `g` are all that the
//!    gradient of the loss by `M` needs: it is the sum of `g xᵀ` over the layers. The weights make one step.
//!
//! Epochs alternate: in even ones the parameters make a step, in odd ones the weights (see `Batch::epoch`). Layers
//! share the map by reference, so that the tape and the weights stand behind a lock. Nobody waits for it: one model
//! uses the map, and runs one pass at a time.

mod aligned;
mod dense;
mod rule;
mod tape;

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use veilgraph_graph::{ProductRows, SparseMatrix, Sums, WeightedGraph, dense_adjoint_product, dense_product};

use crate::adam::Corrections;
use dense::{LinkRow, Step, SteppedRow, in_blocks, step_row};
use rule::RowSum;
use tape::{Pass, Tape};
use veilgraph_operator::Scaling;
use veilgraph_operator::rows::matrix;

pub(crate) use rule::Rule;

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
        Self { learning_rate: 1e-3, deviation: 1e-3, sparsity: 1e-3 }
    }
}

/// Reported links, from which weights are learned.
pub struct ReportedLinks {
    /// `[n, n]`; row: who reported and receives; column: about whom.
    weights: SparseMatrix,
    learning: LinkLearning,
}

/// A linear map `M` whose links are learned by one model.
pub(crate) struct LearnedMap {
    reported: Arc<ReportedLinks>,
    rule: Rule,
    state: Mutex<State>,
}

/// What changes while a model trains. Matrices are row-major `[n, n]`.
struct State {
    weights: Vec<f32>,
    /// Running means of the gradient of every weight and of its square.
    first: Vec<f32>,
    second: Vec<f32>,
    /// Steps made.
    steps: u32,
    /// Row sums of the weights, `[n]`.
    sums: Vec<RowSum>,
    /// Frobenius norm of the difference from the reported weights.
    distance: f64,
    /// Recorded products since the last step of the weights.
    tape: Tape,
    is_recording: bool,
}

impl ReportedLinks {
    /// The links of `graph`, each seen by the node that reported it.
    #[must_use]
    pub fn new(graph: &WeightedGraph, learning: LinkLearning) -> Self {
        let mut rows = vec![Vec::new(); graph.n_nodes];
        for (source, target, weight) in graph.links() {
            rows[source as usize].push((target, weight));
        }
        rows.iter_mut().for_each(|row| row.sort_unstable_by_key(|&(target, _)| target));
        Self { weights: matrix(graph.n_nodes, rows), learning }
    }

    /// Number of nodes.
    #[must_use]
    pub fn n_nodes(&self) -> usize {
        self.weights.n_rows()
    }

    /// All weights, row-major `[n, n]`.
    fn dense(&self) -> Vec<f32> {
        let n = self.n_nodes();
        let mut dense = written_zeros(n * n);
        for node in 0..n {
            let (columns, values) = self.weights.row(node);
            columns.iter().zip(values).for_each(|(&column, &value)| dense[node * n + column as usize] = value);
        }
        dense
    }
}

/// So many zeros in memory that has been written once. Memory that is fresh from the system takes two page faults where it is read
/// before it is written, as in the first step of the links, and the second one interrupts all processors.
fn written_zeros(n: usize) -> Vec<f32> {
    let mut zeros = vec![0.0; n];
    // Without the black box the compiler would leave out the writing, since it knows that the memory holds zeros.
    std::hint::black_box(&mut zeros).fill(0.0);
    zeros
}

impl LearnedMap {
    /// The map before anything is learned: its weights are those that were reported.
    pub(crate) fn new(reported: Arc<ReportedLinks>, rule: Rule) -> Self {
        let weights = reported.dense();
        let sum = |node: usize| rule.row_sum(reported.weights.row(node).1.iter().sum());
        let sums = (0..reported.n_nodes()).map(sum).collect();
        let (first, second) = (written_zeros(weights.len()), written_zeros(weights.len()));
        let state =
            State { weights, first, second, steps: 0, sums, distance: 0.0, tape: Tape::default(), is_recording: false };
        Self { reported, rule, state: Mutex::new(state) }
    }

    /// `M x`, or `Mᵀ x` for the adjoint, which goes to the tape while products are recorded; `rows` says which rows matter.
    /// Zeros stand for a recorded `Mᵀ x` that nothing depends on.
    ///
    /// # Shapes
    /// `x` and the result: row-major `[n, width]`.
    pub(crate) fn apply(&self, x: &[f32], width: usize, adjoint: bool, rows: ProductRows) -> Vec<f32> {
        let mut state = self.lock();
        let is_of_first_layer = adjoint && state.tape.backward.len() + 1 == state.tape.forward.len();
        if is_of_first_layer && state.is_recording && self.rule == Rule::Mean {
            // What the first layer passes back moves its parameters, which stay as they are in a step of the links.
            state.tape.backward.push(Pass { input: x.to_vec(), output: Vec::new(), width });
            return vec![0.0; x.len()];
        }
        let output = self.rule.scaling(&state.sums).apply(x, width, adjoint, |x| {
            if adjoint {
                dense_adjoint_product(&state.weights, x, width, rows)
            } else {
                dense_product(&state.weights, x, width, Sums::Single, rows)
            }
        });
        if state.is_recording {
            let pass = Pass { input: x.to_vec(), output: output.clone(), width };
            if adjoint { state.tape.backward.push(pass) } else { state.tape.forward.push(pass) }
        }
        output
    }

    /// What `make` returns, whose products are kept until [`Self::learn`] takes them.
    pub(crate) fn recorded<T>(&self, make: impl FnOnce() -> T) -> T {
        self.lock().is_recording = true;
        let made = make();
        self.lock().is_recording = false;
        made
    }

    /// One step of Adam on the weights, by the gradients of the recorded products and the two penalties.
    ///
    /// # Source
    /// Lin, Li, Wang (2022), Solitude, as Blink's published code reads it: weights are neither projected nor made
    /// symmetric.
    pub(crate) fn learn(&self) {
        let mut state = self.lock();
        let tape = std::mem::take(&mut state.tape);
        assert_eq!(tape.forward.len(), tape.backward.len(), "every layer has a product of each pass on the tape");
        let n = self.reported.n_nodes();
        let Scaling { left, right, .. } = self.rule.scaling(&state.sums);
        let by_sum = tape.gradient_by_sums(&state.sums, self.rule);
        let gradients = tape.gradients(n);
        let inputs = tape.inputs(n);
        state.steps += 1;
        let step = self.next_step(&state);
        let inputs = in_blocks(&inputs.values, inputs.width);
        let right = in_blocks(&right, 1);
        let State { weights, first, second, .. } = &mut *state;
        let rows = (weights.par_chunks_mut(n), first.par_chunks_mut(n), second.par_chunks_mut(n));
        let stepped = rows.into_par_iter().enumerate().map(|(node, (weights, first, second))| {
            let row = LinkRow {
                node,
                weights,
                first,
                second,
                reported: self.reported.weights.row(node),
                gradient: gradients.row(node),
                inputs: &inputs,
                left: left[node],
                right: &right,
                by_sum: by_sum[node],
            };
            step_row(row, step)
        });
        let stepped: Vec<SteppedRow> = stepped.collect();
        state.sums = stepped.iter().map(|row| self.rule.row_sum(row.sum)).collect();
        state.distance = stepped.iter().map(|row| row.squared_distance).sum::<f64>().sqrt();
    }

    /// What the step with number `state.steps` has in common for all weights.
    fn next_step(&self, state: &State) -> Step {
        let LinkLearning { learning_rate, deviation, sparsity } = self.reported.learning;
        let Corrections { to_rate, to_second } = Corrections::at(state.steps);
        Step {
            learning_rate: learning_rate as f32 * to_rate,
            to_second,
            // The Frobenius norm has no gradient where it is zero, which is where learning starts.
            deviation: if state.distance > 0.0 { (deviation / state.distance) as f32 } else { 0.0 },
            sparsity: sparsity as f32,
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for LearnedMap {
    /// Names the map; its entries are too many to print.
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        write!(formatter, "learned links of {} nodes", self.reported.n_nodes())
    }
}

impl fmt::Debug for ReportedLinks {
    /// Names the links; they are too many to print.
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        write!(formatter, "reported links of {} nodes", self.n_nodes())
    }
}

#[cfg(test)]
mod tests;
