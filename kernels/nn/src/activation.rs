//! What a hidden unit makes of its input.

#![expect(clippy::inline_always, reason = "what `dispatch` calls takes its vector width only where it is inlined")]

use serde::{Deserialize, Serialize};

use crate::exponential::exp;

/// The function of every hidden unit. Dropout comes after it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Unit {
    /// `max(x, 0)`.
    #[default]
    Relu,
    /// `λ x` above zero, and `λ α (e^x − 1)` below (Klambauer, Unterthiner, Mayr, Hochreiter 2017, equation 2).
    Selu,
}

/// `λ` and `α` of SELU, for which a mean of zero and a variance of one are a fixed point.
///
/// # Source
/// Klambauer et al. (2017), "Self-normalizing neural networks", equation 14.
pub(crate) const SELU_SCALE: f32 = 1.050_701;
const SELU_ALPHA: f32 = 1.673_263_2;

/// How far SELU falls below zero: `λ α`.
pub(crate) const SELU_DEPTH: f32 = SELU_SCALE * SELU_ALPHA;

/// What a unit gives in place of zero, which is kept for units that are dropped.
pub(crate) const INSTEAD_OF_ZERO: f32 = -f32::MIN_POSITIVE;

/// SELU of `x`, never zero: only a unit that is dropped is zero, so that the gradient sees which ones were.
///
/// At zero it is the smallest normal number below, and so has the slope of the negative side.
#[inline(always)]
pub(crate) fn selu(x: f32) -> f32 {
    let y = if x > 0.0 { SELU_SCALE * x } else { SELU_DEPTH * (exp(x) - 1.0) };
    if y == 0.0 { INSTEAD_OF_ZERO } else { y }
}

/// Slope of [`selu`] where it is `y`, times `scale`, for a unit that dropout has multiplied by `scale`: `y` is the
/// output after dropout, zero if it was dropped.
#[inline(always)]
pub(crate) fn selu_slope(y: f32, scale: f32) -> f32 {
    if y > 0.0 {
        SELU_SCALE * scale
    } else if y < 0.0 {
        // λ α e^x, which is the output plus λ α; both are multiplied by the scale of dropout.
        y + SELU_DEPTH * scale
    } else {
        0.0
    }
}
