//! This module holds the penalties on parameters.

/// Says how large parameters are penalized.
///
/// The parameter of a node that sent nothing makes up for the bit that each of its pairs lacks. This part of it is its offset
/// `o_i`, which says nothing about the node, so that the penalties are about the rest, `c_i = b_i − o_i`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Ridge<'a> {
    /// `½ to_zero Σ_i c_i²` draws every parameter towards 0, and so every pair towards a probability of one half. It
    /// gives every degree vector a fit.
    pub to_zero: f64,
    /// `½ to_mean Σ_i (c_i − mean of c)²` draws parameters towards each other and leaves the sum of all expected degrees
    /// as it is.
    pub to_mean: f64,
    /// The offset of each group, `[groups]`; without any, all are 0.
    pub offsets: &'a [f64],
}

impl Ridge<'_> {
    /// Returns the penalty that draws towards 0 alone.
    pub(crate) fn to_zero(to_zero: f64) -> Self {
        Self { to_zero, ..Self::default() }
    }

    /// Returns the part of each parameter that is penalized, `[groups]`.
    pub(super) fn penalized(&self, b: &[f64]) -> Vec<f64> {
        b.iter().enumerate().map(|(group, b)| b - self.offsets.get(group).unwrap_or(&0.0)).collect()
    }
}
