//! Adam, the optimizer of all parameters and of learned links: its constants, and what it remembers.
//!
//! The step itself is written once per place that takes it: on the host and on a GPU for parameters (`ops`), and for
//! learned links together with their gradient (`learned::dense`).

use burn::tensor::backend::Backend;
use burn::tensor::ops::FloatTensor;

/// Decay per step of the running means of the gradient and of its square: `β1` and `β2`.
///
/// # Source
/// Kingma, Ba (2015), algorithm 1.
pub(crate) const BETAS: [f32; 2] = [0.9, 0.999];

/// Keeps the divisor from zero: `ε` of the same algorithm.
pub(crate) const ADAM_EPSILON: f32 = 1e-8;

/// Running means of a parameter's gradient and of its square, each in the shape of the parameter.
#[derive(Clone, Debug)]
pub(crate) struct Moments<B: Backend> {
    pub first: FloatTensor<B>,
    pub second: FloatTensor<B>,
}

/// How one model's parameters are stepped.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Rates {
    /// Step size: `α`.
    pub learning_rate: f32,
    /// L2 penalty: this share of a parameter is added to its gradient.
    pub weight_decay: f32,
}

/// Factors that make up for the start of both moments at zero.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Corrections {
    /// Multiplies the learning rate: `1 / (1 − β1^t)`, times the factor that the schedule has for this step.
    pub to_rate: f32,
    /// Multiplies the root of the second moment: `1 / √(1 − β2^t)`.
    pub to_second: f32,
}

impl Corrections {
    /// The factors at step `t`, counted from 1.
    ///
    /// # Source
    /// Kingma, Ba (2015), algorithm 1, with both corrections applied to the step instead of to the moments.
    pub(crate) fn at(step: u32) -> Self {
        let [first, second] = BETAS.map(|beta| 1.0 - f64::from(beta).powi(step.cast_signed()));
        Self { to_rate: (1.0 / first) as f32, to_second: (1.0 / second.sqrt()) as f32 }
    }

    /// The factors of a step that is `factor` times as long.
    pub(crate) fn resized(self, factor: f32) -> Self {
        Self { to_rate: self.to_rate * factor, ..self }
    }
}
