//! The command line.

mod advise;
mod claims;
mod environment;
mod examples;
mod exec;
mod init;
mod other_machines;
mod run;
mod show;
mod table;
mod unused;

use std::path::PathBuf;

use bytesize::ByteSize;
use clap::{Parser, Subcommand};
use clap_complete::Shell;

pub(crate) use advise::AdviseArguments;
pub(crate) use claims::ClaimsArguments;
pub(crate) use environment::without_empty_variables;
pub(crate) use examples::with_examples;
pub(crate) use exec::ExecArguments;
pub(crate) use init::InitArguments;
pub(crate) use other_machines::{ExecutorChoice, OtherMachinesArguments};
pub(crate) use run::{DeviceChoice, PlanFormat, RunArguments, RunRules, SideName};
pub(crate) use show::{ShowArguments, ShowFormat};
pub(crate) use table::{TableArguments, TableFormat};
pub(crate) use unused::without_unused_options;

/// The heading of what every command takes.
const GLOBAL: &str = "Global options";

/// Learning on graphs whose links stay private.
///
/// Exit status: 0 done, 1 failed, 2 wrong usage or config, 130 interrupted.
#[derive(Parser)]
#[command(name = "veilgraph", version, max_term_width = 100)]
pub(crate) struct Cli {
    /// Print nothing but results and errors.
    #[arg(short, long, global = true, help_heading = GLOBAL)]
    pub quiet: bool,
    /// Print more (twice: everything).
    #[arg(short, long, global = true, action = clap::ArgAction::Count, help_heading = GLOBAL)]
    pub verbose: u8,
    #[arg(
        long,
        global = true,
        env = "VEILGRAPH_STORE",
        help = "Folder of the artifacts (default: artifacts)",
        help_heading = GLOBAL
    )]
    pub store: Option<PathBuf>,
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Subcommand)]
pub(crate) enum Command {
    /// Run experiments, one after the other; what is fresh is not run again.
    Run {
        /// The experiments.
        #[command(flatten)]
        run: RunArguments,
        /// What is done where something fails or has changed.
        #[command(flatten)]
        rules: RunRules,
        /// Other machines.
        #[command(flatten)]
        others: OtherMachinesArguments,
    },
    /// Run one task of a plan that `run` made on another machine (`run --executor` calls this on its workers).
    Exec(ExecArguments),
    /// Say what `run` would do and why, and what it would spend.
    Plan {
        /// How the plan is written.
        #[arg(long, value_enum, default_value_t = PlanFormat::Text, conflicts_with = "json")]
        format: PlanFormat,
        /// The experiments.
        #[command(flatten)]
        run: RunArguments,
    },
    /// Say which epsilon a graph can afford, from public knowledge alone; no private data are read.
    Advise(AdviseArguments),
    /// Inspect an artifact with Polars: schema, metadata, rows, SQL.
    Show(ShowArguments),
    /// List the entries of the store by the names of the runs that use them; `show` takes these names.
    Ls {
        /// Only an experiment, e.g. `demo`, or entries whose name begins so, e.g. `demo/train`.
        #[arg(value_name = "NAME")]
        names: Vec<String>,
        /// List the runs so far instead: `demo@1` is the last one of the demo, and `diff` and `show` take these names.
        #[arg(long)]
        runs: bool,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Compare every file of the store with its recorded digest.
    Verify {
        /// Remove entries that differ; the next run makes them anew.
        #[arg(long)]
        remove: bool,
        /// Print one JSON object (docs/schemas/verify.json).
        #[arg(long)]
        json: bool,
    },
    /// Remove old entries that no experiment used in its last runs. Releases of deployments and the ledger always stay.
    Gc {
        /// Only say what would be removed.
        #[arg(long)]
        dry_run: bool,
        /// Remove the entries that runs use as well, with the names of the runs and the reports.
        #[arg(long)]
        all: bool,
        /// The age in days from which an unused entry is removed; younger ones let an earlier or interrupted run go on.
        #[arg(long, value_name = "DAYS", default_value_t = 14.0, value_parser = days)]
        older_than: f64,
        /// How many of the last runs of each experiment keep what they used (`veilgraph ls --runs`).
        #[arg(long, value_name = "NUMBER", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
        keep_last: u32,
        /// What entries that no run uses may take together, e.g. 10GiB: old ones stay, from the youngest on, while there is
        /// room beside those that --older-than spares.
        #[arg(long, value_name = "SIZE", conflicts_with = "all")]
        keep_size: Option<ByteSize>,
        /// Remove an experiment: its names, scores and history, and the entries that no other experiment uses.
        #[arg(long, value_name = "NAME", conflicts_with = "all")]
        forget: Option<String>,
        /// Print one JSON object (docs/schemas/gc.json).
        #[arg(long)]
        json: bool,
    },
    /// Say how the last run of one experiment differs from that of another: settings, code, data, scores.
    Diff {
        /// An experiment, by its name or its config; `NAME@2` is its last run but one (`veilgraph ls --runs`).
        before: String,
        /// The experiment that is compared with it.
        after: String,
        /// Print one JSON object (docs/schemas/diff.json).
        #[arg(long)]
        json: bool,
    },
    /// Say how far the runs of a store are, from another terminal, until none is left.
    Watch {
        /// Look once.
        #[arg(long)]
        once: bool,
        /// Print JSON: one list of runs in a line.
        #[arg(long)]
        json: bool,
    },
    /// Print a config as it is resolved: the files that it extends, itself, and `--set`.
    Config {
        /// The config, or a run of the history, such as `demo@2` (`veilgraph ls --runs`).
        config: PathBuf,
        /// Lay a value over the config, e.g. `--set privatize.links.epsilon=2`.
        #[arg(long = "set", value_name = "TABLE.KEY=VALUE")]
        sets: Vec<String>,
    },
    /// Look at one's own files, and write a config for them.
    Init(InitArguments),
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
        /// Show what has run, and mark what is missing or failed; without it, everything has to have run.
        #[arg(long)]
        partial: bool,
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
        /// A trained run by its name, e.g. cora/train/trial-0, or a file `model.safetensors`.
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
        #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
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
        #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
        release: u32,
        /// The experiment.
        #[command(flatten)]
        run: RunArguments,
    },
    /// Bring a dataset from its original host, or from those that keep copies of it, and check it.
    Fetch {
        /// Name of the dataset (see configs/datasets.toml).
        dataset: String,
        /// Folder to put it into.
        #[arg(long, default_value = "data", env = "DATA_DIR")]
        data_dir: PathBuf,
        /// Take the files from below this address instead of their original host.
        #[arg(long, value_name = "URL")]
        mirror: Option<String>,
        /// Take the files from this folder, or from the folder of the dataset in it.
        #[arg(long, value_name = "DIR", conflicts_with = "mirror")]
        from: Option<PathBuf>,
    },
    /// Check this machine: version, memory, store, devices, data.
    Doctor {
        /// Folder of the datasets.
        #[arg(long, env = "DATA_DIR")]
        data_dir: Option<PathBuf>,
        /// Print one JSON object (docs/schemas/doctor.json).
        #[arg(long)]
        json: bool,
    },
    /// Print a completion script.
    Completions {
        /// The shell to complete for.
        shell: Shell,
    },
    /// Write manual pages, one for each command.
    Man {
        /// Folder to write them into.
        #[arg(long)]
        to: PathBuf,
    },
}

/// A number of days, 0 or more.
fn days(text: &str) -> Result<f64, String> {
    let days = text.parse().ok().filter(|days: &f64| (0.0..=1e6).contains(days));
    days.ok_or_else(|| "give a number of days, from 0 to a million".to_owned())
}
