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
}

impl Default for Schedule {
    /// 300 steps.
    fn default() -> Self {
        Self { epochs: 300, patience: None, min_epochs: 0 }
    }
}

/// One epoch of a model. The training loss is measured before the epoch's step, all else after it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct EpochRecord {
    /// Mean cross-entropy on the training nodes, with dropout; in nats.
    pub train_loss: f64,
    /// Mean cross-entropy on the validation nodes; in nats.
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
    /// Class probabilities at that epoch, row-major `[n_nodes, n_classes]`.
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
