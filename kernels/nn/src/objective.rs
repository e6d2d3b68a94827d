//! What training minimizes, and which epoch it keeps.

use std::sync::Arc;

use veilgraph_graph::Aggregator;
use veilgraph_operator::{GraphOperator, PropagationStep};

use crate::failure::Failure;
use crate::score::{self, Score, score};
use crate::training_labels::{Correction, LabelNoise};

/// What training minimizes.
#[derive(Debug)]
pub(crate) enum Objective {
    /// Cross-entropy on the labels.
    CrossEntropy,
    /// A loss that knows how the labels were randomized.
    Noisy(Box<NoisyObjective>),
}

/// Which epoch is the best.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Selection {
    /// The one with the lowest validation loss.
    LowestLoss,
    /// The last one that lowered the validation loss and raised both accuracies, while neither was higher than a
    /// perfect model's: noisy classes agree with the true ones with this probability only.
    ///
    /// # Source
    /// Published code of Sajadmanesh, Gatica-Perez (2021), LPGNN.
    Plausible { truth_probability: f64 },
}

/// Noisy classes, seen through the probabilities `T` with which they are sent: `p` on the diagonal, `q` elsewhere.
#[derive(Debug)]
pub(crate) struct NoisyObjective {
    n_classes: usize,
    /// `q`, and `p − q`.
    other: f64,
    excess: f64,
    /// Propagation of both sides, with its number of steps.
    propagation: Option<(PropagationStep, u32)>,
    /// Training nodes with the class that the loss asks for.
    targets: Vec<(u32, u16)>,
}

impl Objective {
    /// The objective for noisy labels of `training` and `validation` nodes on `graph`; it is absent where links are
    /// learned.
    ///
    /// # Errors
    /// When there are no two classes, or labels would have to be propagated where nothing is sent.
    pub(crate) fn new(
        noise: LabelNoise,
        n_classes: usize,
        graph: Option<&Arc<GraphOperator>>,
        training: &[(u32, u16)],
        validation: &[(u32, u16)],
    ) -> Result<(Self, Selection), Failure> {
        let LabelNoise { truth_probability, correction } = noise;
        if n_classes < 2 {
            return Err(Failure::TooFewClasses(n_classes));
        }
        // Classes without noise leave nothing to correct, and no reason to distrust an epoch that fits them well.
        let is_exact = truth_probability >= 1.0;
        let hops = match correction {
            Correction::Plain => return Ok((Self::CrossEntropy, Selection::LowestLoss)),
            _ if is_exact => return Ok((Self::CrossEntropy, Selection::LowestLoss)),
            Correction::Forward => 0,
            Correction::Drop { hops } => hops,
        };
        let selection = Selection::Plausible { truth_probability };
        let other = (1.0 - truth_probability) / (n_classes - 1) as f64;
        let mut objective = NoisyObjective {
            n_classes,
            other,
            excess: truth_probability - other,
            propagation: None,
            targets: training.to_vec(),
        };
        if hops > 0 {
            let graph = graph.ok_or(Failure::LearnedPropagation(hops))?;
            objective.propagate(PropagationStep::new(graph), hops, validation)?;
        }
        Ok((Self::Noisy(Box::new(objective)), selection))
    }
}

impl NoisyObjective {
    /// Takes propagated classes for targets: the class with the largest sum around each training node. A node that
    /// nothing reaches keeps the class that it sent; the first of several largest sums counts.
    ///
    /// # Errors
    /// When nothing reaches any training node.
    fn propagate(&mut self, step: PropagationStep, hops: u32, validation: &[(u32, u16)]) -> Result<(), Failure> {
        let width = self.n_classes;
        let mut sent = vec![0.0; step.n_nodes() * width];
        for &(node, class) in self.targets.iter().chain(validation) {
            sent[node as usize * width + usize::from(class)] = 1.0;
        }
        let received = step.propagate(sent, width, hops, Aggregator::KProp, false);
        let mut is_reached = false;
        for (node, class) in &mut self.targets {
            let row = &received[*node as usize * width..(*node as usize + 1) * width];
            let most = row.iter().fold(0.0_f32, |most, &sum| most.max(sum));
            if most > 0.0 {
                is_reached = true;
                *class = row.iter().position(|&sum| sum == most).unwrap_or_default() as u16;
            }
        }
        if !is_reached {
            return Err(Failure::NothingPropagates(hops));
        }
        self.propagation = Some((step, hops));
        Ok(())
    }

    /// The loss of one model in nats, and its gradient by the logits.
    ///
    /// With `P` the class probabilities of the model, the loss is the mean over training nodes of `−ln (P T)[target]`,
    /// or of the cross-entropy of `softmax(S^K P T)` where classes are propagated. A probability below the smallest
    /// positive number counts as that number: without noise its logarithm would have no bound.
    ///
    /// # Shapes
    /// `logits` and the gradient: row-major `[n, n_classes]`.
    pub(crate) fn loss(&self, logits: &[f32]) -> (f64, Vec<f32>) {
        let width = self.n_classes;
        let mut gradient = vec![0.0_f32; logits.len()];
        let Some((step, hops)) = &self.propagation else {
            let mut loss = 0.0;
            let share = 1.0 / self.targets.len() as f64;
            for &(node, class) in &self.targets {
                let row = node as usize * width..(node as usize + 1) * width;
                let probabilities = softmax_of_node(&logits[row.clone()]);
                let own = at_least_smallest(probabilities[usize::from(class)]);
                let sent = self.other + self.excess * own;
                loss -= libm::log(sent);
                for (at, (out, probability)) in gradient[row].iter_mut().zip(&probabilities).enumerate() {
                    let is_own = f64::from(u8::from(at == usize::from(class)));
                    *out = (-share * self.excess * own * (is_own - probability) / sent) as f32;
                }
            }
            return (loss * share, gradient);
        };
        let probabilities: Vec<f64> = logits.chunks_exact(width).flat_map(softmax_of_node).collect();
        let sent = probabilities.iter().map(|probability| (self.other + self.excess * probability) as f32).collect();
        let received = step.propagate(sent, width, *hops, Aggregator::KProp, false);
        let mut by_received = vec![0.0; received.len()];
        let loss = score::cross_entropy(&received, width, &self.targets, &mut by_received);
        let by_sent = step.propagate(by_received, width, *hops, Aggregator::KProp, true);
        let rows = gradient.chunks_exact_mut(width).zip(probabilities.chunks_exact(width));
        for ((out, probabilities), by_sent) in rows.zip(by_sent.chunks_exact(width)) {
            let mean: f64 = probabilities.iter().zip(by_sent).map(|(p, &g)| p * f64::from(g)).sum();
            for ((out, probability), &by_sent) in out.iter_mut().zip(probabilities).zip(by_sent) {
                *out = (self.excess * probability * (f64::from(by_sent) - mean)) as f32;
            }
        }
        (loss, gradient)
    }

    /// Mean of `−ln (P T)[class]` over the labelled nodes, and the share of them whose class the model says.
    ///
    /// # Shapes
    /// `logits`: row-major `[n, n_classes]`.
    pub(crate) fn score(&self, logits: &[f32], labelled: &[(u32, u16)]) -> Score {
        let width = self.n_classes;
        let loss_of = |&(node, class): &(u32, u16)| {
            let probabilities = softmax_of_node(&logits[node as usize * width..(node as usize + 1) * width]);
            -libm::log(self.other + self.excess * at_least_smallest(probabilities[usize::from(class)]))
        };
        let loss = labelled.iter().map(loss_of).sum::<f64>() / labelled.len() as f64;
        Score { loss, ..score(logits, width, labelled) }
    }
}

/// A probability whose logarithm is taken: at least the smallest positive number. What is no number stays so, and fails
/// the model.
fn at_least_smallest(probability: f64) -> f64 {
    if probability < f64::MIN_POSITIVE { f64::MIN_POSITIVE } else { probability }
}

/// Class probabilities of one node.
fn softmax_of_node(logits: &[f32]) -> Vec<f64> {
    let most = logits.iter().fold(f32::NEG_INFINITY, |most, &logit| most.max(logit));
    let mut terms: Vec<f64> = logits.iter().map(|&logit| libm::exp(f64::from(logit) - f64::from(most))).collect();
    let total: f64 = terms.iter().sum();
    terms.iter_mut().for_each(|term| *term /= total);
    terms
}

#[cfg(test)]
mod tests;
