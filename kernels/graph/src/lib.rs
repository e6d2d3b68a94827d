//! What is known about the nodes of a graph?
//!
//! This crate holds lists of neighbours, features, labels, splits, the graph that the server builds, and predictions.
//! *Invariant:* lists of neighbours, features and labels are canonical (sorted, without duplicates or self-loops) once they
//! exist, because constructors check it; what is read from a file is checked as it is read. This crate knows no privacy
//! mechanism and no network.

mod adjacency;
mod bits;
mod class_beliefs;
mod curves;
mod dense;
mod dense_product;
mod embeddings;
mod estimated_features;
mod feature_matrix;
mod features;
mod labels;
pub mod lanes;
mod link_sample;
mod nodes;
mod predictions;
mod product_rows;
mod ranking;
mod row_places;
mod sparse;
pub mod vectors;
mod weighted;

pub use adjacency::AdjacencyList;
pub use bits::{BitMatrix, Ones};
pub use class_beliefs::ClassBeliefs;
pub use curves::Curves;
pub use dense::DenseMatrix;
pub use dense_product::{Sums, dense_adjoint_product, dense_product};
pub use embeddings::Embeddings;
pub use estimated_features::{Aggregator, EstimatedFeatures, Propagation, Rescale};
pub use feature_matrix::{FEATURE_COLUMNS, FeatureMatrix};
pub use features::Features;
pub use labels::Labels;
pub use link_sample::LinkSample;
pub use nodes::{NodeMap, Nodes, Split, nodes_from_links, with_nodes_from_links};
pub use predictions::{ModelPredictions, Predictions};
pub use product_rows::ProductRows;
pub use ranking::{Level, Levels, Ranking};
pub use row_places::{RowPlaces, row_offsets};
pub use sparse::SparseMatrix;
pub use weighted::{Construction, LinkPieces, Links, WeightedGraph};

/// The rows of this many nodes share one block, the row group of an artifact.
pub const NODES_PER_BLOCK: usize = 4096;
