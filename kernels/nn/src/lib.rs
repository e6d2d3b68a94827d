//! Graph neural networks and their training, on burn.
//!
//! *Invariant:* burn stays inside this crate. A network is written once, over a batch of models (`network`). What burn
//! lacks is a handful of operations that every device brings itself (`ops`) and that become differentiable in one place
//! (`differentiable`). Initial weights and dropout come from our own streams, so losses do not depend on the number of
//! threads or on what else is trained.
//!
//! Where to begin: [`Dataset::new`] prepares features and graph, [`train`] trains a grid on them (`training` runs
//! batches, `batch` runs epochs, `network` computes layers), and [`predict`] applies a [`SavedModel`].

mod activation;
mod adam;
mod architecture;
mod attention;
mod batch;
mod batch_norm;
mod dataset;
mod device;
mod device_map;
#[cfg(any(feature = "cuda", feature = "vulkan"))]
mod device_room;
mod differentiable;
mod dropout;
mod exponential;
mod failure;
#[cfg(any(feature = "cuda", feature = "vulkan"))]
mod footprint;
mod grid;
mod host_memory;
mod input_features;
#[cfg(test)]
mod keeper;
mod layer;
mod learned;
mod link_prediction;
mod map;
mod model_weights;
mod network;
mod objective;
mod ops;
mod predict;
mod racing;
mod saved_model;
mod score;
mod training;
mod training_graph;
mod training_labels;

pub use activation::Unit;
pub use architecture::{Architecture, NetworkOptions, Parameter, SageNorm};
pub use attention::AttentionGraph;
pub use dataset::Dataset;
pub use device::{Device, DeviceError};
pub use failure::Failure;
pub use grid::{EpochRecord, Schedule, Setting, StepSizes, Trained};
pub use host_memory::models_at_a_time;
pub use input_features::InputFeatures;
pub use learned::{LinkLearning, ReportedLinks};
pub use link_prediction::{LinkRecord, LinkTraining, TrainedLinks, train_links};
pub use model_weights::ModelWeights;
pub use predict::{PredictError, predict};
pub use racing::{FIRST_HEAT, Raced, race};
pub use saved_model::{GridDescription, SavedModel};
pub use training::{on_threads, train};
pub use training_graph::TrainingGraph;
pub use training_labels::{Correction, LabelNoise, TrainingLabels};
pub use veilgraph_operator::GraphOperator;
