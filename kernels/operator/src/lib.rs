//! How does a graph act on numbers of its nodes?
//!
//! A graph is a matrix that is multiplied by other matrices, whether its links are listed, stand as bits, or are
//! probabilities that no list holds ([`GraphOperator`]). Features are one too, with what a graph makes of them
//! ([`FeatureMap`]). *Invariant:* this crate computes products and nothing else; it
//! knows no network, no mechanism and no file.

mod bit_graph;
mod feature_map;
mod graph_operator;
mod propagation;
mod propagation_step;
pub mod rows;
mod scaling;

pub use bit_graph::BitGraph;
pub use feature_map::{DENSE_ENTRY, FeatureMap};
pub use graph_operator::{GraphOperator, ImplicitMap, every_entry};
pub use propagation::{propagated, root_mean_square};
pub use propagation_step::PropagationStep;
pub use scaling::Scaling;
