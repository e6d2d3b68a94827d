//! What does the server believe about each pair of nodes?
//!
//! The log odds of a link are `logit P_ij = β_i + β_j + 2 (claims_ij − 1) ε_links + bin_logit_ij`: a claim is a report
//! of one of the two nodes that they are linked, and a bin is a class of pairs that are about equally similar. So the
//! whole posterior is held as one number per node, one number per bin, and the list of the *known* pairs, which were
//! claimed or stand in a bin. *Invariant:* no matrix of probabilities exists, but for the operator of a soft graph,
//! which keeps its entries where all of them fit into 256 MiB. Beyond that, all that may grow with `n²` are the reported bits
//! themselves.
//!
//! # Source
//! Zhu, Tan, Xiao (2023), Blink, section 4; the bins are an addition of this project.

mod chebyshev;
mod claims;
mod evidence;
mod kernel_sum;
mod likely;
mod logistic_kernel;
mod model;
mod operator;
mod pair_sums;
mod pair_table;
mod pairs;
mod ranking;
mod row_block;
mod score_bins;
mod similar;

pub use claims::{ClaimPlanes, Claims};
pub use evidence::{Known, LinkEvidence};
pub use kernel_sum::DistinctParameters;
pub use likely::{LikelyThreshold, LogitCounts};
pub use logistic_kernel::LogisticKernel;
pub use model::{LinkModel, Posterior, evidence_logits, sigmoid};
pub use operator::{Real, SoftOperator, dense_sums};
pub use pair_sums::PairSums;
pub use ranking::counts_at_least;
pub use row_block::RowBlock;
pub use score_bins::{BinLimits, CellBins, bins_of_cells};
pub use similar::SimilarPairs;
