//! Cross-entropy and accuracy on labelled nodes.

#![expect(clippy::inline_always, reason = "what `dispatch` calls takes its vector width only where it is inlined")]

use pulp::{Arch, Simd, WithSimd};

use crate::exponential::exp;

/// Class probabilities of some nodes, and the logarithms of what they are divided by.
struct Softmax {
    /// Row-major `[n, n_classes]`, not yet divided.
    terms: Vec<f32>,
    totals: Vec<f32>,
    /// Largest logit of each row.
    largest: Vec<f32>,
}

struct Exponentials<'a>(&'a mut [f32]);

impl WithSimd for Exponentials<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        self.0.iter_mut().for_each(|term| *term = exp(*term));
    }
}

impl Softmax {
    fn new(logits: &[f32], n_classes: usize, nodes: impl ExactSizeIterator<Item = usize>) -> Self {
        let mut terms = vec![0.0; nodes.len() * n_classes];
        let mut largest = Vec::with_capacity(nodes.len());
        for (node, row) in nodes.zip(terms.chunks_exact_mut(n_classes)) {
            let logits = &logits[node * n_classes..(node + 1) * n_classes];
            let most = logits.iter().fold(f32::NEG_INFINITY, |most, &logit| most.max(logit));
            row.iter_mut().zip(logits).for_each(|(term, &logit)| *term = logit - most);
            largest.push(most);
        }
        Arch::new().dispatch(Exponentials(&mut terms));
        let totals = terms.chunks_exact(n_classes).map(|row| row.iter().sum()).collect();
        Self { terms, totals, largest }
    }

    /// Mean cross-entropy in nats.
    fn loss(&self, logits: &[f32], n_classes: usize, labelled: &[(u32, u16)]) -> f64 {
        let mut loss = 0.0;
        for ((&(node, class), &total), &most) in labelled.iter().zip(&self.totals).zip(&self.largest) {
            let logit = logits[node as usize * n_classes + usize::from(class)];
            loss += f64::from(libm::logf(total)) - f64::from(logit - most);
        }
        loss / labelled.len() as f64
    }
}

/// Mean cross-entropy in nats of row-major `logits`, `[n, n_classes]`; its gradient is added to
/// `gradient`, of the same shape.
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

/// Mean cross-entropy in nats, and accuracy, of row-major `logits`, `[n, n_classes]`.
pub(crate) fn score(logits: &[f32], n_classes: usize, labelled: &[(u32, u16)]) -> (f64, f64) {
    let softmax = Softmax::new(logits, n_classes, labelled.iter().map(|&(node, _)| node as usize));
    let correct = labelled.iter().zip(&softmax.largest).filter(|&(&(node, class), &most)| {
        let row = &logits[node as usize * n_classes..(node as usize + 1) * n_classes];
        // The first of equal logits wins, as in argmax.
        row.iter().position(|&logit| logit == most) == Some(usize::from(class))
    });
    let accuracy = correct.count() as f64 / labelled.len() as f64;
    (softmax.loss(logits, n_classes, labelled), accuracy)
}

/// Class probabilities, row-major `[n, n_classes]`.
pub(crate) fn softmax(logits: &[f32], n_classes: usize) -> Vec<f32> {
    let mut softmax = Softmax::new(logits, n_classes, 0..logits.len() / n_classes);
    for (row, total) in softmax.terms.chunks_exact_mut(n_classes).zip(&softmax.totals) {
        row.iter_mut().for_each(|term| *term /= total);
    }
    softmax.terms
}
