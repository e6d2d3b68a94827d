//! How labels are protected: one file for each mechanism.

pub mod randomized_response;

pub use randomized_response::{LocalLabels, Params};
