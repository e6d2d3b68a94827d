//! Graph neural networks and their training, on burn.
//!
//! *Invariant:* burn stays inside this crate. Aggregation over the graph is one linear map with its
//! adjoint (`operator`), attention one function with its gradient (`attention`); both become
//! differentiable operations in `backend`. Initial weights and dropout come from our own streams, so
//! losses do not depend on the number of threads or on what else is trained.

mod attention;
mod backend;
mod device;
mod network;
mod operator;
mod training;

pub use attention::AttentionGraph;
pub use device::{Device, DeviceError};
pub use network::{Architecture, NetworkOptions, SageNorm};
pub use operator::{GraphOperator, LinearMap, Propagation, SparseMap};
pub use training::{Dataset, EpochRecord, Failure, Parameter, Setting, Trained, train};
