//! What do the scores of a few trials say about a mean, and about the difference of two methods?
//!
//! *Invariant:* it knows no score by name, and no stage reads it.

mod bootstrap;
mod difference;
mod family;
mod summary;

pub use bootstrap::{RESAMPLES, bootstrap_interval};
pub use difference::{Difference, paired_differences};
pub use family::holm;
pub use summary::{Summary, log_log_slope};

/// One minus the confidence of every interval here.
pub const ALPHA: f64 = 0.05;

#[cfg(test)]
mod tests;
