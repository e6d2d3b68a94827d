//! What is known about the nodes of a graph: lists of neighbours, features, labels, splits.
//!
//! *Invariant:* every value is canonical (sorted, without duplicates or self-loops) once it exists,
//! because constructors check. This crate knows no privacy mechanism and no network.

mod adjacency;
mod bits;
mod labels;
mod nodes;
mod predictions;
mod sparse;
mod weighted;

pub use adjacency::{AdjacencyList, LinkCounts};
pub use bits::{BitMatrix, Ones};
pub use labels::Labels;
pub use nodes::{NodeMap, Nodes, Split};
pub use predictions::{Curves, ModelPredictions, Predictions};
pub use sparse::{Features, SparseMatrix};
pub use weighted::{Construction, Links, WeightedGraph};

/// Number of nodes whose rows share one row group of an artifact.
pub const NODES_PER_BLOCK: usize = 4096;
