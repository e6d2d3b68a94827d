//! The command line.

mod advise;
mod claims;
mod table;

use std::path::PathBuf;

use bytesize::ByteSize;
use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;

use crate::engine::SideChoice;
pub(crate) use advise::AdviseArguments;
pub(crate) use claims::ClaimsArguments;
pub(crate) use table::{TableArguments, TableFormat};

/// Learning on graphs whose links stay private.
///
/// Exit status: 0 done, 1 failed, 2 wrong usage or config.
#[derive(Parser)]
#[command(version, max_term_width = 100)]
pub(crate) struct Cli {
    /// Print nothing but results and errors.
    #[arg(short, long, global = true)]
    pub quiet: bool,
    /// Print more (twice: everything).
    #[arg(short, long, global = true, action = clap::ArgAction::Count)]
    pub verbose: u8,
    /// Folder of the artifacts.
    #[arg(long, global = true, default_value = "artifacts", env = "VEILGRAPH_STORE")]
    pub store: PathBuf,
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Subcommand)]
pub(crate) enum Command {
    /// Run experiments, one after the other; what is fresh is not run again.
    Run(RunArguments),
    /// Say what `run` would do and why, and what it would spend.
    Plan(RunArguments),
    /// Say which epsilon a graph can afford, from public knowledge alone; no private data are read.
    Advise(AdviseArguments),
    /// Inspect an artifact with Polars: schema, metadata, rows, SQL.
    Show(ShowArguments),
    /// List the entries of the store.
    Ls {
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Compare every file of the store with its recorded digest.
    Verify {
        /// Remove entries that differ; the next run makes them anew.
        #[arg(long)]
        remove: bool,
    },
    /// Remove entries that no config used in its last run. Releases of deployments and the ledger always stay.
    Gc {
        /// Only say what would be removed.
        #[arg(long)]
        dry_run: bool,
        /// Remove the entries that runs use as well, with the names of the runs and the reports.
        #[arg(long)]
        all: bool,
    },
    /// Print the privacy ledger: what was released, and what it cost.
    Ledger {
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Write a page with the tables and figures of experiments that have run, and each figure as SVG, PNG, CSV and
    /// Parquet.
    Report {
        /// Name of the page (default: that of the experiment).
        #[arg(long)]
        name: Option<String>,
        /// The experiments.
        #[command(flatten)]
        run: RunArguments,
    },
    /// Print the scores of experiments that have run as a table for a paper: intervals, paired differences, corrected tests.
    Table(TableArguments),
    /// Run what claims rest on, and say of each whether it holds; fails if one does not.
    Claims(ClaimsArguments),
    /// Classify the nodes of other graphs with a trained model; writes one CSV file for each graph.
    Predict {
        /// `model.safetensors` of a run, e.g. artifacts/simulation/runs/cora/train/trial-0/model.safetensors.
        model: PathBuf,
        /// Position of the model in its grid (default: the one with the lowest validation loss).
        #[arg(long)]
        number: Option<u32>,
        /// Folder to write, which must not exist yet.
        #[arg(long)]
        to: PathBuf,
        /// The experiment whose graphs are made (up to `construct`) and classified.
        #[command(flatten)]
        run: RunArguments,
    },
    /// Write what the server may see of a deployment: a store of its own, from which `run --side server` goes on.
    Export {
        /// Folder to write, which must not exist yet.
        #[arg(long)]
        to: PathBuf,
        /// Do not ask whether the cost is accepted.
        #[arg(long)]
        yes: bool,
        /// The experiment.
        #[command(flatten)]
        run: RunArguments,
    },
    /// Write the public parameters that nodes need to report for themselves with `veilgraph-client`.
    Parameters {
        /// File to write, which must not exist yet.
        #[arg(long)]
        to: PathBuf,
        /// File to write the number of every node into, which must not exist yet.
        #[arg(long)]
        numbers: Option<PathBuf>,
        /// Number of the collection: a second one from the same nodes is a release of its own, which they pay anew.
        #[arg(long, default_value_t = 1)]
        release: u32,
        /// The experiment, whose `[ingest]` names the nodes and no links.
        #[command(flatten)]
        run: RunArguments,
    },
    /// Check the reports that nodes have sent in, and make the server's store of them.
    Collect {
        /// Folder of the reports (files that end in `.vgr`).
        reports: PathBuf,
        /// The server's store to write, which must not exist yet.
        #[arg(long)]
        to: PathBuf,
        /// Accept reports whose noise comes from a seed.
        #[arg(long)]
        simulated: bool,
        /// Number of the collection, as the nodes were told it.
        #[arg(long, default_value_t = 1)]
        release: u32,
        /// The experiment.
        #[command(flatten)]
        run: RunArguments,
    },
    /// Download a dataset from its original host and check it.
    Fetch {
        /// Name of the dataset (see configs/datasets.toml).
        dataset: String,
        /// Folder to put it into.
        #[arg(long, default_value = "data", env = "DATA_DIR")]
        data_dir: PathBuf,
        /// Take the files from below this address instead of their original host.
        #[arg(long)]
        mirror: Option<String>,
    },
    /// Check this machine: version, memory, store, devices, data.
    Doctor {
        /// Folder of the datasets.
        #[arg(long, env = "DATA_DIR")]
        data_dir: Option<PathBuf>,
    },
    /// Print a completion script.
    Completions {
        /// The shell to complete for.
        shell: Shell,
    },
}

#[derive(Args, Clone)]
pub(crate) struct RunArguments {
    /// The experiment; `run`, `plan` and `report` take several.
    #[arg(required = true, value_name = "CONFIG")]
    pub configs: Vec<PathBuf>,
    /// Stop after this stage.
    #[arg(long, value_parser = crate::task::STAGES)]
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
    pub jobs: Option<usize>,
    /// Most memory that one artifact may take, e.g. 8GiB (default: what this machine has).
    #[arg(long, value_name = "SIZE")]
    pub memory_limit: Option<ByteSize>,
    /// Save the state of a long training this often, so that a killed run goes on from there.
    #[arg(long, value_name = "SECONDS", default_value_t = 10)]
    pub checkpoint_seconds: u64,
    /// Limits that a release may exceed.
    #[command(flatten)]
    pub accepted: Accepted,
    /// Run only the part of one side.
    #[arg(long, value_enum, default_value_t = SideChoice::All)]
    pub side: SideChoice,
    /// Let the server's side take a release that is not deployable: owner and server are simulated on one machine.
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
        Usual::parse_from::<_, std::ffi::OsString>(words).run
    }
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

/// Where to train.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum DeviceChoice {
    /// CUDA if it is there, else the processor.
    Auto,
    /// The processor.
    Cpu,
    /// An NVIDIA GPU.
    Cuda,
    /// Any GPU with Vulkan, or a software one.
    Vulkan,
}

#[derive(Args)]
pub(crate) struct ShowArguments {
    /// A Parquet file, or a name below `runs/` such as `cora/privatize/trial-0/noisy_links`.
    pub artifact: PathBuf,
    /// Query it; the table is called `artifact`.
    #[arg(long)]
    pub sql: Option<String>,
    /// Number of rows to print.
    #[arg(long, default_value_t = 10)]
    pub head: u32,
}
