//! This module holds the logistic function, its slope and its integral, as functions of the log odds of a pair.

#![expect(clippy::inline_always, reason = "what `dispatch` calls takes its vector width only where it is inlined")]

/// A kernel is a function `k(s)` of the log odds `s` of a pair, which are a sum of two parameters and a shift.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogisticKernel {
    /// The probability of a link is `σ(s) = 1 / (1 + e^{-s})`.
    Logistic,
    /// The slope of the probability is `σ'(s) = σ(s) σ(-s)`.
    LogisticSlope,
    /// The integral of the probability is `ln(1 + e^s)`.
    Softplus,
}

impl LogisticKernel {
    /// Returns `k(x + b) e^{-x}` from `e^x` and `e^{-b}`.
    ///
    /// Without the factor `e^x` the kernel is a smooth function of `x`, which is nearly constant for sparse graphs.
    #[inline(always)]
    pub(crate) fn scaled(self, exp_x: f64, exp_minus_b: f64) -> f64 {
        let sum = exp_minus_b + exp_x;
        match self {
            Self::Logistic => 1.0 / sum,
            Self::LogisticSlope => exp_minus_b / (sum * sum),
            // The limit, where the odds are too small for a number.
            Self::Softplus if exp_x == 0.0 => 1.0 / exp_minus_b,
            Self::Softplus => libm::log1p(exp_x / exp_minus_b) / exp_x,
        }
    }

    /// Returns `k(s)` from `e^{-s}`, which may be zero or infinite.
    #[must_use]
    #[inline]
    pub fn from_exp_minus(self, exp_minus_s: f64) -> f64 {
        match self {
            Self::Logistic => 1.0 / (1.0 + exp_minus_s),
            Self::LogisticSlope if exp_minus_s.is_infinite() => 0.0,
            Self::LogisticSlope => exp_minus_s / ((1.0 + exp_minus_s) * (1.0 + exp_minus_s)),
            Self::Softplus => libm::log1p(1.0 / exp_minus_s),
        }
    }

    /// Returns `k(s)`.
    #[must_use]
    pub fn at(self, s: f64) -> f64 {
        match self {
            Self::Logistic => 1.0 / (1.0 + libm::exp(-s)),
            Self::LogisticSlope => {
                let small = libm::exp(-s.abs());
                small / ((1.0 + small) * (1.0 + small))
            }
            Self::Softplus => s.max(0.0) + libm::log1p(libm::exp(-s.abs())),
        }
    }
}
