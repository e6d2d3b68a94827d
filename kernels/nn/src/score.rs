//! Cross-entropy and accuracy on labelled nodes.

#![expect(clippy::inline_always, reason = "what `dispatch` calls takes its vector width only where it is inlined")]

use pulp::{Simd, WithSimd};

use crate::exponential::exp;
use veilgraph_graph::vectors::dispatch;

/// How well a model classifies the labelled nodes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Score {
    /// Mean cross-entropy, in nats.
    pub loss: f64,
    /// Share of the nodes whose largest logit is that of their class.
    pub accuracy: f64,
}

/// Class probabilities `e^(x_c − max x) / Σ_k e^(x_k − max x)` of some nodes, in their parts. The largest logit is
/// subtracted so that no term overflows.
struct Softmax {
    /// Numerators, row-major `[n, n_classes]`.
    terms: Vec<f32>,
    /// Denominators, `[n]`.
    totals: Vec<f32>,
    /// Largest logit of each node, `[n]`.
    largest: Vec<f32>,
}

/// Replaces every number by its exponential.
struct Exponentials<'a>(&'a mut [f32]);

impl WithSimd for Exponentials<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        self.0.iter_mut().for_each(|term| *term = exp(*term));
    }
}

impl Softmax {
    /// The parts for `nodes`, in their order; `logits` is row-major, one row of `n_classes` for every node of the
    /// graph.
    fn new(logits: &[f32], n_classes: usize, nodes: impl ExactSizeIterator<Item = usize>) -> Self {
        let mut terms = vec![0.0; nodes.len() * n_classes];
        let mut largest = Vec::with_capacity(nodes.len());
        for (node, row) in nodes.zip(terms.chunks_exact_mut(n_classes)) {
            let logits = &logits[node * n_classes..(node + 1) * n_classes];
            let most = logits.iter().fold(f32::NEG_INFINITY, |most, &logit| most.max(logit));
            row.iter_mut().zip(logits).for_each(|(term, &logit)| *term = logit - most);
            largest.push(most);
        }
        dispatch(Exponentials(&mut terms));
        let totals = terms.chunks_exact(n_classes).map(|row| row.iter().sum()).collect();
        Self { terms, totals, largest }
    }

    /// Mean cross-entropy in nats over the nodes that the parts were made for: `ln Σ_k e^(x_k − max x) − (x_c − max x)`
    /// for a node of class `c`.
    fn loss(&self, logits: &[f32], n_classes: usize, labelled: &[(u32, u16)]) -> f64 {
        let mut loss = 0.0;
        for ((&(node, class), &total), &most) in labelled.iter().zip(&self.totals).zip(&self.largest) {
            let logit = logits[node as usize * n_classes + usize::from(class)];
            loss += f64::from(libm::logf(total)) - f64::from(logit - most);
        }
        loss / labelled.len() as f64
    }
}

/// Mean cross-entropy in nats; its gradient is added to `gradient`.
///
/// The gradient by the logit of class `k` at a labelled node is `(p_k − [k is its class]) / number of labelled nodes`.
///
/// # Shapes
/// `logits`, `gradient`: row-major `[n, n_classes]`.
pub(crate) fn cross_entropy(logits: &[f32], n_classes: usize, labelled: &[(u32, u16)], gradient: &mut [f32]) -> f64 {
    let softmax = Softmax::new(logits, n_classes, labelled.iter().map(|&(node, _)| node as usize));
    let share = 1.0 / labelled.len() as f32;
    let rows = softmax.terms.chunks_exact(n_classes).zip(&softmax.totals);
    for (&(node, class), (terms, total)) in labelled.iter().zip(rows) {
        let out = &mut gradient[node as usize * n_classes..(node as usize + 1) * n_classes];
        out.iter_mut().zip(terms).for_each(|(out, term)| *out += share * (term / total));
        out[usize::from(class)] -= share;
    }
    softmax.loss(logits, n_classes, labelled)
}

/// Cross-entropy and accuracy on the labelled nodes.
///
/// # Shapes
/// `logits`: row-major `[n, n_classes]`.
pub(crate) fn score(logits: &[f32], n_classes: usize, labelled: &[(u32, u16)]) -> Score {
    let softmax = Softmax::new(logits, n_classes, labelled.iter().map(|&(node, _)| node as usize));
    let correct = labelled.iter().zip(&softmax.largest).filter(|&(&(node, class), &most)| {
        let row = &logits[node as usize * n_classes..(node as usize + 1) * n_classes];
        // Of equal logits the first one counts, as in argmax.
        row.iter().position(|&logit| logit == most) == Some(usize::from(class))
    });
    let accuracy = correct.count() as f64 / labelled.len() as f64;
    Score { loss: softmax.loss(logits, n_classes, labelled), accuracy }
}

/// Class probabilities of every node.
///
/// # Shapes
/// `logits` and the result: row-major `[n, n_classes]`.
pub(crate) fn softmax(logits: &[f32], n_classes: usize) -> Vec<f32> {
    let mut softmax = Softmax::new(logits, n_classes, 0..logits.len() / n_classes);
    for (row, total) in softmax.terms.chunks_exact_mut(n_classes).zip(&softmax.totals) {
        row.iter_mut().for_each(|term| *term /= total);
    }
    softmax.terms
}
