//! Mechanisms of a curator who holds the links of all nodes and releases a graph: one file for each.
//!
//! The server need not be trusted; the curator must be. What is released is a graph, so the server takes it as it is.

pub mod edgerand;
pub mod lapgraph;

/// Why the cost of a curator's release is what it is.
const ONE_BIT_PER_LINK: &str = "the curator holds one bit for each pair of nodes";
