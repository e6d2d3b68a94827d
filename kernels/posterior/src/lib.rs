//! What does the server believe about each pair of nodes?
//!
//! The whole posterior is `logit P_ij = β_i + β_j + 2 (claims_ij − 1) ε_links`, so it is held as one
//! number per node and the claims of the pairs that somebody claimed. *Invariant:* no matrix of
//! probabilities exists; all that may grow with `n²` are reported bits, one bit each.

mod evidence;
mod kernel_sum;
mod model;
mod operator;
mod pairs;
mod ranking;

pub use evidence::{Claims, LinkEvidence};
pub use kernel_sum::{Atoms, Kernel};
pub use model::{LinkModel, Posterior, sigmoid};
pub use operator::{Real, SoftOperator};
pub use ranking::counts_at_least;
