//! Graph neural networks and their training, on burn.
//!
//! *Invariant:* burn stays inside this crate. A network is written once, over a batch of models
//! (`network`); what burn lacks is a handful of operations that every device brings itself (`kernels`) and
//! that become differentiable in one place (`differentiable`). Initial weights and dropout come from our own
//! streams, so losses do not depend on the number of threads or on what else is trained.

mod architecture;
mod attention;
mod batch;
mod bit_graph;
mod dataset;
mod device;
mod differentiable;
mod dropout;
mod exponential;
mod graph_operator;
mod kernels;
mod lanes;
mod learned;
mod map;
mod network;
mod predict;
mod rows;
mod score;
mod training;

pub use architecture::{Architecture, NetworkOptions, Parameter, SageNorm};
pub use attention::AttentionGraph;
pub use bit_graph::BitGraph;
pub use dataset::{Dataset, Failure};
pub use device::{Device, DeviceError};
pub use graph_operator::{GraphOperator, TrainingGraph};
pub use learned::{LinkLearning, ReportedLinks};
pub use predict::predict;
pub use training::{EpochRecord, Schedule, Setting, Trained, train};
