//! A grid of models: what they have in common, what tells them apart, and what comes of each.

use std::fmt;
use std::sync::atomic::AtomicU64;

use serde::{Deserialize, Serialize};
use veilgraph_contract::{Progress, StageRng};

use crate::architecture::Parameter;
use crate::dataset::Dataset;

/// Hyperparameters of one model.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Setting {
    /// Step size of Adam.
    pub learning_rate: f64,
    /// L2 penalty on all parameters, inside Adam.
    pub weight_decay: f64,
    /// Share of hidden units dropped in each step.
    pub dropout: f64,
    /// Which initial weights and dropout masks are drawn.
    pub initial_seed: u64,
}

impl fmt::Display for Setting {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        let Self { learning_rate, weight_decay, dropout, initial_seed } = self;
        write!(
            formatter,
            "learning_rate={learning_rate} weight_decay={weight_decay} dropout={dropout} initial_seed={initial_seed}"
        )
    }
}

/// How long a model trains.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Schedule {
    /// Most steps.
    pub epochs: usize,
    /// Steps without a better epoch after which training stops.
    pub patience: Option<usize>,
    /// Steps before the first that counts as one without a better epoch.
    pub min_epochs: usize,
    /// How the step size of parameters changes; weights of links that are learned keep theirs.
    pub step_sizes: StepSizes,
}

/// How the size of a step follows from the learning rate of its setting.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum StepSizes {
    /// Every step has the size of the learning rate.
    #[default]
    Constant,
    /// The size rises from a tenth of the learning rate, and falls to almost nothing: `min(1, 0.1 + 5 t) (1 − t)` times the
    /// learning rate, with `t` the share of the schedule's epochs that are done. It is largest at `t = 0.18`, with 0.82 times.
    ///
    /// # Source
    /// Howard, Ruder (2018), slanted triangular learning rates; here the rise and the fall are multiplied.
    RiseAndFall,
}

impl StepSizes {
    /// What the learning rate is multiplied by in step number `step`, counted from 0, of `steps`; in `(0, 1]`.
    pub(crate) fn factor(self, step: usize, steps: usize) -> f32 {
        let done = step as f64 / steps as f64;
        match self {
            Self::Constant => 1.0,
            Self::RiseAndFall => ((0.1 + 5.0 * done).min(1.0) * (1.0 - done)) as f32,
        }
    }
}

impl Default for Schedule {
    /// 300 steps of one size.
    fn default() -> Self {
        Self { epochs: 300, patience: None, min_epochs: 0, step_sizes: StepSizes::default() }
    }
}

/// One epoch of a model. The training loss is measured before the epoch's step, all else after it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct EpochRecord {
    /// Loss on the training nodes, with dropout; in nats. It is the mean cross-entropy, or, where labels are noisy, what
    /// [`LabelNoise`](crate::LabelNoise) asks for.
    pub train_loss: f64,
    /// Loss on the validation nodes; in nats. It is the mean cross-entropy, or, where labels are noisy, that of the noisy
    /// classes.
    pub validation_loss: f64,
    /// Share of validation nodes that are classified correctly.
    pub validation_accuracy: f64,
}

/// A trained model at its best epoch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Trained {
    /// Every epoch.
    pub curve: Vec<EpochRecord>,
    /// Epoch that was kept: where labels have no noise, the one with the lowest validation loss (the first, if several).
    pub best_epoch: usize,
    /// Class probabilities at that epoch, row-major `[n_nodes, n_classes]`; empty where the dataset is
    /// [without probabilities](crate::Dataset::without_probabilities).
    pub probabilities: Vec<f32>,
    /// Parameters at that epoch.
    pub parameters: Vec<Parameter>,
}

/// A grid to train.
pub(crate) struct Grid<'a> {
    pub dataset: &'a Dataset,
    pub settings: &'a [Setting],
    pub schedule: Schedule,
    pub rng: &'a StageRng,
    pub progress: &'a Progress<'a>,
    /// Epochs that all models together have trained, or need not train.
    pub done: AtomicU64,
}

impl<'a> Grid<'a> {
    /// A grid of which nothing is trained yet.
    pub(crate) fn new(
        dataset: &'a Dataset,
        settings: &'a [Setting],
        schedule: Schedule,
        rng: &'a StageRng,
        progress: &'a Progress<'a>,
    ) -> Self {
        Self { dataset, settings, schedule, rng, progress, done: AtomicU64::new(0) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_rise_for_a_while_and_fall_to_almost_nothing() {
        assert!((0..50).all(|step| StepSizes::Constant.factor(step, 50) == 1.0));
        let factors: Vec<f32> = (0..50).map(|step| StepSizes::RiseAndFall.factor(step, 50)).collect();
        assert!((factors[0] - 0.1).abs() < 1e-6 && (factors[5] - 0.6 * 0.9).abs() < 1e-6, "{factors:?}");
        let largest = (0..50).max_by(|&a, &b| factors[a].total_cmp(&factors[b])).expect("some");
        assert!(factors[..=largest].is_sorted() && factors[largest..].iter().rev().is_sorted(), "{factors:?}");
        assert!((5..15).contains(&largest) && (factors[49] - 0.02).abs() < 1e-6, "{factors:?}");
    }
}
