//! The command line.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

/// Draws the noisy report of one node on its own device.
#[derive(Parser)]
#[command(name = "veilgraph-client", version)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Subcommand)]
pub(crate) enum Command {
    /// Draw a report, or write the one that was drawn before
    Report(ReportArguments),
    /// Print what a report says
    Show(ShowArguments),
}

#[derive(Args)]
pub(crate) struct ReportArguments {
    /// What the server publishes: six or seven parameters as TOML (docs/report-format.md)
    #[arg(long, value_name = "FILE")]
    pub(crate) parameters: PathBuf,
    /// Number of this node, from 0 on, or its name with --names
    #[arg(long, value_name = "NODE")]
    pub(crate) node: String,
    /// Numbers of the neighbours, or their names with --names, one a line; lines that begin with # are remarks, unless
    /// the name of a node begins so
    #[arg(long, value_name = "FILE")]
    pub(crate) links: PathBuf,
    /// The list of names and numbers that the server gave to this node, which has to be the one of the parameters
    #[arg(long, value_name = "FILE")]
    pub(crate) numbers: Option<PathBuf>,
    /// Read --node and --links as names of that list
    #[arg(long, requires = "numbers")]
    pub(crate) names: bool,
    /// Folder that keeps what this node has reported; nobody else may enter it
    #[arg(long, value_name = "DIR")]
    pub(crate) state: PathBuf,
    /// The report, a file that does not exist yet
    #[arg(long, value_name = "FILE")]
    pub(crate) to: PathBuf,
    /// Most that all reports of this folder may cost together, in nats per bit of the list
    #[arg(long, value_name = "NATS", value_parser = nats, required_unless_present = "simulate_seed")]
    pub(crate) budget: Option<f64>,
    /// Pay for a second report about a list that has changed
    #[arg(long)]
    pub(crate) spend: bool,
    /// Draw noise from this seed, which protects nothing: for tests and simulations
    #[arg(long, value_name = "SEED")]
    pub(crate) simulate_seed: Option<u64>,
    /// Trial of the simulation
    #[arg(long, value_name = "T", requires = "simulate_seed", default_value_t = 0)]
    pub(crate) trial: u32,
}

#[derive(Args)]
pub(crate) struct ShowArguments {
    /// The report
    #[arg(value_name = "REPORT")]
    pub(crate) report: PathBuf,
    /// The parameters that it was made for
    #[arg(long, value_name = "FILE")]
    pub(crate) parameters: PathBuf,
}

fn nats(text: &str) -> Result<f64, String> {
    let nats: f64 = text.parse().map_err(|_| "not a number".to_owned())?;
    if nats.is_finite() && nats > 0.0 { Ok(nats) } else { Err("not a positive number of nats".to_owned()) }
}
