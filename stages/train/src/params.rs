//! The `[train]` table.

use serde::{Deserialize, Serialize};
use veilgraph_nn::{Architecture, Device, SageNorm, Setting};

/// The `[train]` table. Lists of `learning_rate`, `weight_decay` and `dropout` span a grid.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Params {
    /// Kind of network.
    pub model: Architecture,
    /// Steps of full-batch training.
    pub epochs: usize,
    /// Width of the hidden layer.
    pub hidden: usize,
    /// Step sizes of Adam.
    pub learning_rate: OneOrMany,
    /// L2 penalties.
    pub weight_decay: OneOrMany,
    /// Dropout rates of the hidden layer.
    pub dropout: OneOrMany,
    /// What GraphSAGE divides the weighted sum of neighbours by.
    pub sage_norm: SageNorm,
    /// Whether GAT multiplies messages by the weight again, as the paper prints it.
    pub gat_double_weight: bool,
    /// Where to train.
    pub device: Device,
}

/// A number or a list of numbers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum OneOrMany {
    /// One number.
    One(f64),
    /// Several.
    Many(Vec<f64>),
}

impl OneOrMany {
    fn values(&self) -> &[f64] {
        match self {
            Self::One(value) => std::slice::from_ref(value),
            Self::Many(values) => values,
        }
    }
}

impl Default for Params {
    fn default() -> Self {
        Self {
            model: Architecture::Gcn,
            epochs: 300,
            hidden: 16,
            learning_rate: OneOrMany::One(0.01),
            weight_decay: OneOrMany::One(1e-3),
            dropout: OneOrMany::One(0.1),
            sage_norm: SageNorm::Clamp1,
            gat_double_weight: true,
            device: Device::Cpu,
        }
    }
}

impl Params {
    /// Every combination of the lists, the last varying fastest.
    #[must_use]
    pub fn settings(&self) -> Vec<Setting> {
        let mut settings = Vec::new();
        for &learning_rate in self.learning_rate.values() {
            for &weight_decay in self.weight_decay.values() {
                for &dropout in self.dropout.values() {
                    settings.push(Setting { learning_rate, weight_decay, dropout });
                }
            }
        }
        settings
    }

    /// Whether every field makes sense.
    ///
    /// # Errors
    /// Names the field, its value and its range.
    pub fn check(&self) -> Result<(), String> {
        if self.settings().is_empty() {
            return Err("learning_rate, weight_decay and dropout need at least one value each".into());
        }
        for Setting { learning_rate, weight_decay, dropout } in self.settings() {
            if !(learning_rate > 0.0 && learning_rate.is_finite()) {
                return Err(format!("learning_rate must be positive, not {learning_rate}"));
            }
            if !(weight_decay >= 0.0 && weight_decay.is_finite()) {
                return Err(format!("weight_decay must be at least 0, not {weight_decay}"));
            }
            if !(0.0..1.0).contains(&dropout) {
                return Err(format!("dropout must lie in [0, 1), not {dropout}"));
            }
        }
        if self.epochs == 0 || self.hidden == 0 {
            return Err("epochs and hidden must be at least 1".into());
        }
        Ok(())
    }
}
