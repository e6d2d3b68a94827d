//! What is known of one model in training.

use serde::{Deserialize, Serialize};

use crate::failure::Failure;
use crate::grid::{EpochRecord, Schedule};
use crate::objective::Selection;

/// The epochs of one model, and which of them is the best so far.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct History {
    pub curve: Vec<EpochRecord>,
    /// The best epoch, if any is recorded.
    best_epoch: Option<usize>,
    /// Accuracy on the training nodes at that epoch, where the selection asks for it.
    best_train_accuracy: f64,
    /// Whether its accuracies are ones that noisy labels admit, where the selection asks for it.
    best_is_plausible: bool,
    /// Whether later epochs are no longer recorded.
    pub has_stopped: bool,
    /// Epoch whose loss was not finite.
    diverged: Option<usize>,
}

impl History {
    /// Records an epoch and returns whether it is the best so far.
    ///
    /// A model stops when a loss is no finite number, or when as many epochs in a row were no better as the patience
    /// says; the first epochs of the schedule do not count. `train_accuracy` is that of the evaluated model, where the
    /// selection asks for it.
    pub(crate) fn record(
        &mut self,
        epoch: usize,
        record: EpochRecord,
        train_accuracy: f64,
        (schedule, selection): (Schedule, Selection),
    ) -> bool {
        if self.has_stopped {
            return false;
        }
        if !(record.validation_loss.is_finite() && record.train_loss.is_finite()) {
            self.diverged = Some(epoch);
            self.has_stopped = true;
            return false;
        }
        let (validation, train) = (record.validation_accuracy, train_accuracy);
        let is_plausible = match selection {
            Selection::LowestLoss => true,
            // A model that agrees with noisy labels more often than the truth does has learned their noise.
            Selection::Plausible { truth_probability: most } => validation <= most && train <= 1.05 * most,
        };
        let is_better = self.best_epoch.is_none_or(|best| {
            let best = &self.curve[best];
            let is_lower = record.validation_loss < best.validation_loss;
            match selection {
                Selection::LowestLoss => is_lower,
                // Until one epoch is plausible, the lowest loss is all there is to go by.
                Selection::Plausible { .. } if !self.best_is_plausible => is_plausible || is_lower,
                Selection::Plausible { .. } => {
                    let is_higher = best.validation_accuracy < validation && self.best_train_accuracy < train;
                    is_lower && is_plausible && is_higher
                }
            }
        });
        self.curve.push(record);
        if is_better {
            self.best_epoch = Some(epoch);
            self.best_train_accuracy = train_accuracy;
            self.best_is_plausible = is_plausible;
        }
        let counted_from = self.best_epoch.unwrap_or(epoch).max(schedule.min_epochs.saturating_sub(1));
        let since = epoch.saturating_sub(counted_from);
        self.has_stopped = schedule.patience.is_some_and(|patience| since >= patience);
        is_better
    }

    /// The best epoch.
    ///
    /// # Errors
    /// When a loss was no finite number, or no epoch is recorded.
    pub(crate) fn best(&self) -> Result<usize, Failure> {
        match (self.diverged, self.best_epoch) {
            (Some(epoch), _) => Err(Failure::Diverged(epoch)),
            (None, Some(epoch)) => Ok(epoch),
            (None, None) => Err(Failure::Diverged(0)),
        }
    }
}
