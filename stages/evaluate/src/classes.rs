//! How well nodes are classified.

use veilgraph_graph::{Labels, Predictions};

/// Scores on the test nodes.
pub(crate) struct Scores {
    /// Share classified correctly (micro-F1).
    pub accuracy: f64,
    /// Unweighted mean over classes of the harmonic mean of precision and recall.
    pub macro_f1: f64,
    /// Mean cross-entropy in nats.
    pub log_loss: f64,
}

/// Share of the held-out nodes in the most frequent class.
pub(crate) fn majority(labels: &Labels) -> f64 {
    let mut counts = vec![0_usize; labels.n_classes()];
    labels.classes().iter().for_each(|&(_, class)| counts[usize::from(class)] += 1);
    counts.into_iter().max().unwrap_or_default() as f64 / labels.classes().len() as f64
}

/// Scores of `model` on the held-out labels.
pub(crate) fn score(predicted: &Predictions, model: u32, labels: &Labels) -> Scores {
    let n_classes = predicted.n_classes;
    let Some(found) = predicted.models.iter().find(|found| found.model == model) else {
        return Scores { accuracy: f64::NAN, macro_f1: f64::NAN, log_loss: f64::NAN };
    };
    let classes = found.classes(n_classes);
    let mut confusion = vec![vec![0.0_f64; n_classes]; n_classes];
    let mut log_loss = 0.0;
    for &(node, class) in labels.classes() {
        confusion[usize::from(class)][usize::from(classes[node as usize])] += 1.0;
        let probability = found.probabilities[node as usize * n_classes + usize::from(class)];
        // The smallest positive float bounds the loss of a probability that underflowed.
        log_loss -= libm::log(f64::from(probability.max(f32::MIN_POSITIVE)));
    }
    let n = labels.classes().len() as f64;
    let correct: f64 = (0..n_classes).map(|class| confusion[class][class]).sum();
    let f1 = |class: usize| {
        let actual: f64 = confusion[class].iter().sum();
        let claimed: f64 = confusion.iter().map(|row| row[class]).sum();
        if actual + claimed == 0.0 { None } else { Some(2.0 * confusion[class][class] / (actual + claimed)) }
    };
    let scores: Vec<f64> = (0..n_classes).filter_map(f1).collect();
    Scores { accuracy: correct / n, macro_f1: scores.iter().sum::<f64>() / scores.len() as f64, log_loss: log_loss / n }
}
