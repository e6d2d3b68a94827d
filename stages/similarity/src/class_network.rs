//! This module says how networks that predict classes from features are trained, so that few epochs are enough.

use veilgraph_nn::{Schedule, Setting, StepSizes};

/// Length of a node's features, which was chosen on Cora, Facebook, Coauthor CS and a synthetic graph.
///
/// A step of Adam changes every weight by about the learning rate, whatever the features. A hidden unit then changes in
/// proportion to the length of the features. Rows that sum to 1 are some ten times as short, so that hidden units change slowly
/// while steps of the last layer are already too large (docs/decisions.md, class networks in few epochs).
pub(crate) const LENGTH: f64 = 3.0;

/// With fewer training nodes the weight decay stays that of so many. A heavier one leaves networks that tell no class from
/// another: measured with 120 and 140 training nodes, of CiteSeer and Cora.
const LEAST_TRAINING: usize = 1000;

/// Says what the classes that a network predicts are for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// They are believed, and should be as right as they can.
    Belief,
    /// They help to choose which pairs are listed. With flatter predictions the cosine has more say in that, and links between
    /// classes are found better.
    Listing,
}

/// Returns the setting of a network where there are so many training nodes with labels.
pub(crate) fn setting(purpose: Purpose, n_training: usize, initial_seed: u64) -> Setting {
    let penalty = match purpose {
        Purpose::Belief => 5.0,
        Purpose::Listing => 20.0,
    };
    // The loss is a mean over the training nodes. A penalty that does not change with their number has a weight in
    // proportion to the inverse of it.
    let weight_decay = penalty / n_training.max(LEAST_TRAINING) as f64;
    Setting { learning_rate: 0.1, weight_decay, dropout: 0.5, initial_seed }
}

/// Returns how long the network is trained.
pub(crate) fn schedule() -> Schedule {
    Schedule { epochs: 45, patience: Some(10), step_sizes: StepSizes::RiseAndFall, ..Schedule::default() }
}
