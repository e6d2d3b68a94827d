//! What does the server believe about each pair of nodes?
//!
//! The whole posterior is `logit P_ij = β_i + β_j + 2 (claims_ij − 1) ε_links + bin_ij`, so it is held as one
//! number per node, one per bin of similarity, and the pairs that somebody claimed or that are alike. *Invariant:* no matrix of
//! probabilities exists; all that may grow with `n²` are reported bits, one bit each.

mod evidence;
mod kernel_sum;
mod likely;
mod model;
mod operator;
mod pair_table;
mod pairs;
mod ranking;
mod similar;

pub use evidence::{Claims, Known, LinkEvidence};
pub use kernel_sum::{Atoms, Kernel};
pub use model::{LinkModel, Posterior, evidence_logits, sigmoid};
pub use operator::{Real, SoftOperator, dense_sums};
pub use ranking::counts_at_least;
pub use similar::{SimilarPairs, bins_of_cells};
