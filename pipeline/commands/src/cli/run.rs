//! What `run` is told, and every other command that is about experiments.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use bytesize::ByteSize;
use clap::{Args, CommandFactory, FromArgMatches, Parser, ValueEnum};
use veilgraph_runner::engine::SideChoice;

use super::without_empty_variables;

/// Experiments, and how they are run.
#[derive(Args, Clone)]
pub(crate) struct RunArguments {
    /// The experiment; `run`, `plan` and `report` take several.
    #[arg(required = true, value_name = "CONFIG")]
    pub configs: Vec<PathBuf>,
    /// Stop after this stage; the whole config is checked nevertheless.
    #[arg(long, value_parser = veilgraph_runner::task::STAGES)]
    pub until: Option<String>,
    /// Folder of the datasets (default: the config's own folder).
    #[arg(long, env = "DATA_DIR")]
    pub data_dir: Option<PathBuf>,
    /// Folder of published figures (published_*.csv, split_*.txt): marks beside ours in reports, hyperparameters for
    /// `profile = "published"`.
    #[arg(long, env = "PUBLISHED")]
    pub published: Option<PathBuf>,
    /// Lay a value over the config, e.g. `--set privatize.links.epsilon=2`.
    #[arg(long = "set", value_name = "TABLE.KEY=VALUE")]
    pub sets: Vec<String>,
    /// Where to train.
    #[arg(long, value_enum, default_value_t = DeviceChoice::Cpu)]
    pub device: DeviceChoice,
    /// Tasks at a time (default: one per core).
    #[arg(long)]
    pub jobs: Option<NonZeroUsize>,
    /// Most memory that one artifact, or the models of one training, may take, e.g. 8GiB (default: what this machine has). Tasks that
    /// train side by side share it where they can. A task holds several artifacts; where the limit is given, a warning names what
    /// took more than it in earlier runs.
    #[arg(long, value_name = "SIZE")]
    pub memory_limit: Option<ByteSize>,
    /// Save the state of a long training this often, so that a killed run goes on from there.
    #[arg(long, value_name = "SECONDS", default_value_t = 10)]
    pub checkpoint_seconds: u64,
    /// Limits that a release may exceed.
    #[command(flatten)]
    pub accepted: Accepted,
    /// Run only the part of one side.
    #[arg(long, value_enum, default_value_t = SideName::All)]
    pub side: SideName,
    /// Let the server's side take a release that is not deployable, and let a cache have it: owner and server are
    /// simulated, and the data need no protection.
    #[arg(long)]
    pub simulation: bool,
    /// Print one JSON document.
    #[arg(long)]
    pub json: bool,
}

impl RunArguments {
    /// One config, and otherwise what is usual.
    pub(crate) fn of(config: PathBuf) -> Self {
        #[derive(Parser)]
        struct Usual {
            #[command(flatten)]
            run: RunArguments,
        }
        let words = ["run".into(), "--".into(), config.into_os_string()];
        let matches = without_empty_variables(Usual::command()).get_matches_from::<_, std::ffi::OsString>(words);
        Usual::from_arg_matches(&matches).unwrap_or_else(|error| error.exit()).run
    }

    /// Which part of the pipeline runs here.
    pub(crate) fn side(&self) -> SideChoice {
        match self.side {
            SideName::All => SideChoice::All,
            SideName::Server => SideChoice::Server,
            SideName::Auditor => SideChoice::Auditor,
        }
    }
}

/// What `run` does where something fails or has changed.
#[derive(Args, Clone, Copy, Default)]
pub(crate) struct RunRules {
    /// Let a task that fails stop only those that read from it, and the charges of a deployment; what failed is listed at the end, and
    /// the exit status is 1.
    #[arg(long)]
    pub keep_going: bool,
    /// Refuse to compute anew what the recorded run of the experiment has: code, data and settings must be as they were
    /// then. What that run does not have may run.
    #[arg(long)]
    pub locked: bool,
}

/// Limits of a config that a release may exceed because the user says so.
#[derive(Args, Clone, Copy, Default)]
pub(crate) struct Accepted {
    /// Release even if that exceeds `[privacy] budget`.
    #[arg(long)]
    pub spend: bool,
    /// Release even if the server may come to believe more than `[privacy] at_most_belief`.
    #[arg(long)]
    pub accept_belief: bool,
}

/// Which part of the pipeline this machine runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum SideName {
    /// Everything.
    All,
    /// The untrusted server alone: owner data are absent, and their entries are taken as the last run left them.
    Server,
    /// Whoever knows the truth: it reads the data and scores what the server made, which is taken as the server left it.
    Auditor,
}

/// How a plan is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum PlanFormat {
    /// What would run and why, and what it would take.
    Text,
    /// The graph of stage functions and of the artifacts that pass between them, for Mermaid.
    Mermaid,
}

/// Where to train.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum DeviceChoice {
    /// CUDA if a kernel runs on it, else the processor.
    Auto,
    /// The processor.
    Cpu,
    /// An NVIDIA GPU.
    Cuda,
    /// Any GPU with Vulkan, or a software one.
    Vulkan,
}
