//! How does a graph act on numbers of its nodes?
//!
//! A graph is a matrix that is multiplied by other matrices, whether its links are listed, stand as bits, or are
//! probabilities that no list holds ([`GraphOperator`]). *Invariant:* this crate computes products and nothing else; it
//! knows no network, no mechanism and no file.

mod bit_graph;
mod graph_operator;
pub mod lanes;
pub mod rows;
mod scaling;

pub use bit_graph::BitGraph;
pub use graph_operator::{GraphOperator, ImplicitMap, every_entry};
pub use scaling::Scaling;
