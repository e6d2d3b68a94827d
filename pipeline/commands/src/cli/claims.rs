//! What `claims` is told.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::Args;

use super::DeviceChoice;
use crate::claims::Mode;

/// A file of claims, and how much is run before a verdict.
#[derive(Args, Clone)]
pub(crate) struct ClaimsArguments {
    /// The claims, with those of the files that it includes.
    pub file: PathBuf,
    #[command(flatten)]
    mode: ModeFlags,
    /// Only this claim, all whose id begins with this and a dot, or all of the included file of this name without its
    /// ending.
    #[arg(long, value_name = "NAME")]
    pub only: Vec<String>,
    /// Folder of the datasets.
    #[arg(long, env = "DATA_DIR")]
    pub data_dir: Option<PathBuf>,
    /// Folder of published figures.
    #[arg(long, env = "PUBLISHED")]
    pub published: Option<PathBuf>,
    /// Where to train.
    #[arg(long, value_enum, default_value_t = DeviceChoice::Cpu)]
    pub device: DeviceChoice,
    /// Tasks at a time (default: one per core).
    #[arg(long)]
    pub jobs: Option<NonZeroUsize>,
    /// Print one JSON document.
    #[arg(long)]
    pub json: bool,
}

/// How much is run before a verdict.
#[derive(Args, Clone, Copy)]
#[group(multiple = false)]
struct ModeFlags {
    /// Few trials on small graphs: minutes (the default).
    #[arg(long)]
    quick: bool,
    /// All graphs, and fewer trials where a config has many: hours.
    #[arg(long)]
    fixed: bool,
    /// All trials and all mechanisms of the configs: days.
    #[arg(long)]
    full: bool,
}

impl ClaimsArguments {
    /// How much is run.
    pub(crate) fn mode(&self) -> Mode {
        match self.mode {
            ModeFlags { fixed: true, .. } => Mode::Fixed,
            ModeFlags { full: true, .. } => Mode::Full,
            ModeFlags { quick: _, .. } => Mode::Quick,
        }
    }
}
