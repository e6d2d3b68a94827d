//! Training whose every step is protected: gradients of single samples are clipped, summed over a random sample, and
//! noisy.
//!
//! The network has two layers, so that the norm of one sample's gradient follows from products of small vectors and no
//! gradient of a sample is ever laid out (Goodfellow 2015, Efficient per-example gradient computations).

mod inputs;
mod network;
mod samples;
mod training;

pub use inputs::Inputs;
pub use network::{Network, Shape, softmax};
pub use samples::Samples;
pub use training::{Conduct, Diverged, Schedule, train};
