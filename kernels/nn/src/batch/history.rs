//! What is known of one model in training.

use serde::{Deserialize, Serialize};

use crate::failure::Failure;
use crate::grid::EpochRecord;

/// The epochs of one model, and which of them is the best so far.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct History {
    pub curve: Vec<EpochRecord>,
    /// Epoch with the lowest validation loss, if any is recorded.
    best_epoch: Option<usize>,
    /// Whether later epochs are no longer recorded.
    pub has_stopped: bool,
    /// Epoch whose loss was not finite.
    diverged: Option<usize>,
}

impl History {
    /// Records an epoch and returns whether its validation loss is the lowest so far.
    ///
    /// A model stops when a loss is no finite number, or when `patience` epochs in a row were no better.
    pub(crate) fn record(&mut self, epoch: usize, record: EpochRecord, patience: Option<usize>) -> bool {
        if self.has_stopped {
            return false;
        }
        if !(record.validation_loss.is_finite() && record.train_loss.is_finite()) {
            self.diverged = Some(epoch);
            self.has_stopped = true;
            return false;
        }
        let is_better = self.best_epoch.is_none_or(|best| record.validation_loss < self.curve[best].validation_loss);
        self.curve.push(record);
        if is_better {
            self.best_epoch = Some(epoch);
        }
        let since = epoch - self.best_epoch.unwrap_or(epoch);
        self.has_stopped = patience.is_some_and(|patience| since >= patience);
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
