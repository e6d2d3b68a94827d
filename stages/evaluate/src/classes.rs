//! How well nodes are classified.

use veilgraph_graph::{Labels, Predictions};

use crate::links::TENTHS;

/// Scores on the test nodes.
pub(crate) struct Scores {
    /// Share classified correctly (micro-F1).
    pub accuracy: f64,
    /// Unweighted mean over classes of the harmonic mean of precision and recall.
    pub macro_f1: f64,
    /// Mean cross-entropy in nats.
    pub log_loss: f64,
    /// Mean over nodes of `Σ_c (p_c − [c is the true class])²`, in `[0, 2]`.
    pub brier: f64,
    /// Mean over nodes of how far, among the nodes whose predicted class has about the same probability, the mean of these
    /// probabilities is from the share that is right; in `[0, 1]`.
    pub expected_calibration_error: f64,
}

/// Share of the held-out nodes in the most frequent class.
pub(crate) fn majority(labels: &Labels) -> f64 {
    let mut counts = vec![0_usize; labels.n_classes()];
    labels.classes().iter().for_each(|&(_, class)| counts[usize::from(class)] += 1);
    counts.into_iter().max().unwrap_or_default() as f64 / labels.classes().len() as f64
}

/// Scores of `model` on the held-out labels.
///
/// # Source
/// Brier score over several classes: Brier (1950), Verification of forecasts expressed in terms of probability. Expected
/// calibration error, here over ten equal intervals: Guo, Pleiss, Sun, Weinberger (2017), On calibration of modern neural
/// networks, equation 3.
pub(crate) fn score(predicted: &Predictions, model: u32, labels: &Labels) -> Scores {
    let n_classes = predicted.n_classes;
    let Some(found) = predicted.models.iter().find(|found| found.model == model) else {
        let nan = f64::NAN;
        return Scores { accuracy: nan, macro_f1: nan, log_loss: nan, brier: nan, expected_calibration_error: nan };
    };
    let classes = found.classes(n_classes);
    // Of each class, how many nodes have it, how many are predicted to have it, and for how many both is true.
    let [mut actual, mut claimed, mut right] = [(); 3].map(|()| vec![0_usize; n_classes]);
    let (mut log_loss, mut brier) = (0.0, 0.0);
    // Of each interval of probabilities, the sum of `probability − [the predicted class is the true one]`.
    let mut excess = [0.0_f64; TENTHS.len() + 1];
    for &(node, class) in labels.classes() {
        let predicted = classes[node as usize];
        actual[usize::from(class)] += 1;
        claimed[usize::from(predicted)] += 1;
        right[usize::from(class)] += usize::from(predicted == class);
        let row = &found.probabilities[node as usize * n_classes..][..n_classes];
        let probability = row[usize::from(class)];
        // The smallest positive float bounds the loss of a probability that underflowed.
        log_loss -= libm::log(f64::from(probability.max(f32::MIN_POSITIVE)));
        let truth = |other: usize| f64::from(u8::from(other == usize::from(class)));
        brier += row.iter().enumerate().map(|(other, &p)| (f64::from(p) - truth(other)).powi(2)).sum::<f64>();
        let confidence = f64::from(row[usize::from(predicted)]);
        excess[TENTHS.iter().filter(|&&end| confidence >= end).count()] += confidence - truth(usize::from(predicted));
    }
    let n = labels.classes().len() as f64;
    let correct = right.iter().sum::<usize>() as f64;
    let f1 = |class: usize| {
        let both = (actual[class] + claimed[class]) as f64;
        if both == 0.0 { None } else { Some(2.0 * right[class] as f64 / both) }
    };
    let scores: Vec<f64> = (0..n_classes).filter_map(f1).collect();
    Scores {
        accuracy: correct / n,
        macro_f1: scores.iter().sum::<f64>() / scores.len() as f64,
        log_loss: log_loss / n,
        brier: brier / n,
        expected_calibration_error: excess.iter().map(|sum| sum.abs()).sum::<f64>() / n,
    }
}
