//! What may leave a node, and at what price?
//!
//! *Invariant:* noise that protects is integer and exact; every mechanism states its cost as a pure
//! function of its parameters. This crate knows no server, no file and no network.

mod budget;
pub mod degree_noise;
mod mechanism;
pub mod randomized_response;
mod release;
mod reports;

pub use budget::{Budget, BudgetError, DegreeFraction, Epsilon};
pub use degree_noise::DegreeNoise;
pub use mechanism::Mechanism;
pub use release::{Relation, Release};
pub use reports::{Groups, NoisyCounts, NoisyDegrees, NoisyEntries, NoisyLinks, ReportFacts, ReportedOnes};
