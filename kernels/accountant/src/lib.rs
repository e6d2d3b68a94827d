//! What a curator's noisy steps cost together, and how much noise a budget asks for.
//!
//! Every step is stated as a curve of Rényi differential privacy ([`Curve`]), under a relation in which the data of one
//! node are there or blanked. Curves of steps on the same data add up, and the sum is read at a `dp_delta`.

mod amplification;
mod calibration;
mod curve;
mod occurrences;
mod quadrature;
mod sampled_gaussian;
mod without_replacement;

pub use amplification::{amplified, before_sampling};
pub use calibration::{Budget, Unreachable, least_noise};
pub use curve::Curve;
pub use occurrences::{Occurrences, occurrence_bounded};
pub use sampled_gaussian::{sampled_gaussian, sampled_gaussians};
pub use without_replacement::without_replacement;
