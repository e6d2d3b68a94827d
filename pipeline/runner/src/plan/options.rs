//! What a plan is made with, beside the config.

use std::path::Path;

use veilgraph_train::Device;

use crate::published::Published;

/// What to run and with what.
pub struct Options<'a> {
    /// Folder of the datasets.
    pub data_dir: Option<&'a Path>,
    /// Published hyperparameters and scores.
    pub published: Option<&'a Published>,
    /// The last stage that runs.
    pub until: Option<&'a str>,
    /// Where networks are trained.
    pub device: Device,
    /// Whether second releases are accepted. What is asked for twice may then be two releases, and a plan, which reads no data, counts
    /// two.
    pub spend: bool,
}
