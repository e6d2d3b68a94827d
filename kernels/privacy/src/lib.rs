//! What may leave a node, and at what price?
//!
//! *Invariant:* noise that protects is integer and exact; every cost is a pure function of parameters. This crate knows
//! no mechanism by name, no server, no file and no network.

mod budget;
pub mod composition;
pub mod count_noise;
pub mod gaussian;
mod reports;

pub use budget::{Budget, BudgetError, DegreeFraction, Epsilon};
pub use count_noise::DegreeNoise;
pub use reports::{
    FeatureReportFacts, Groups, LabelReportFacts, NoisyCounts, NoisyDegrees, NoisyEntries, NoisyFeatures, NoisyLabels,
    NoisyLinks, ReportFacts, ReportedOnes,
};
pub use veilgraph_noise::{
    discrete_gaussian, discrete_laplace, generalized_response, one_bit, piecewise, randomized_response, uniform,
};
