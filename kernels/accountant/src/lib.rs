//! What a curator's noisy steps cost together, and how much noise a budget asks for.
//!
//! Every step is stated as a curve of Rényi differential privacy ([`Curve`]), under a relation in which the data of one
//! node are there or blanked. Curves of steps on the same data add up, and the sum is read at a `dp_delta`. Where all noise
//! is Gaussian, the distribution of the privacy loss is known as well, and tells a smaller epsilon ([`Composition`]).

mod calibration;
mod composition;
mod curve;
mod loss_distribution;
mod occurrences;
mod quadrature;
mod sampled_gaussian;
mod without_replacement;

pub use calibration::{Budget, Unreachable, least_noise};
pub use composition::{Composition, Costs, Step};
pub use curve::Curve;
pub use occurrences::{Occurrences, occurrence_bounded};
pub use sampled_gaussian::{sampled_gaussian, sampled_gaussians};
pub use without_replacement::without_replacement;
