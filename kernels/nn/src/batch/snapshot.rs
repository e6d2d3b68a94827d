//! A batch as bytes: what a training that was interrupted goes on from.

use serde::{Deserialize, Serialize};

use super::history::History;
use crate::layer::Layer;

/// All that a batch must remember to go on bit for bit. Links that are learned are not part of it.
///
/// # Shapes
/// Values are row-major `[models, rows, columns]`.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct Snapshot {
    /// Epochs that are done.
    pub epoch: usize,
    pub models: Vec<History>,
    pub layers: Vec<Layer<SavedParameter>>,
    /// The parameters at the best epoch of every model.
    pub best: Option<Vec<Layer<Vec<f32>>>>,
}

/// A parameter with its moments.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct SavedParameter {
    pub values: Vec<f32>,
    pub first: Vec<f32>,
    pub second: Vec<f32>,
}

impl SavedParameter {
    /// A parameter before its first step.
    pub(crate) fn new(values: Vec<f32>) -> Self {
        let zeros = vec![0.0; values.len()];
        Self { values, first: zeros.clone(), second: zeros }
    }
}
