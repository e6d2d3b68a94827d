//! How labels are protected: one file for each mechanism.
//!
//! What features and label of a node cost together (the relation node-attrs) is the sum of both and is computed where
//! both are known, by the runner.

pub mod randomized_response;

pub use randomized_response::LocalLabels;
