//! The program `veilgraph` as a library: learning on graphs whose links stay private, as a pipeline of cached stages.
//!
//! The program itself (`pipeline/program`) adds what differs from commit to commit, so that a commit compiles a few lines.

mod build;
mod cli;
mod commands;
mod config;
mod datasets;
mod date;
mod engine;
mod executor;
mod function;
mod host;
mod kind;
mod ledger;
mod live;
mod measured;
mod nearest;
mod order;
mod output;
mod peak_memory;
mod perform;
mod plan;
mod progress;
mod published;
mod registry;
mod remaining;
mod runs;
mod scan;
mod systems;
mod task;
mod watcher;
mod why;

use std::process::ExitCode;

use clap::{CommandFactory, FromArgMatches};
use tracing_subscriber::EnvFilter;

pub use build::{Build, CodeOfCrate};

/// Runs the program with the arguments of the process.
pub fn main(build: Build) -> ExitCode {
    build::state(build);
    let command = cli::without_unused_options(cli::with_examples(cli::Cli::command()));
    let matches = cli::without_empty_variables(command).get_matches();
    let cli = cli::Cli::from_arg_matches(&matches).unwrap_or_else(|error| error.exit());
    let level = match (cli.quiet, cli.verbose) {
        (true, _) => "error",
        (false, 0) => "veilgraph_runner=info,veilgraph_ingest=info,veilgraph_nn=info,warn",
        (false, 1) => "info,veilgraph_ingest=debug",
        (false, _) => "debug",
    };
    tracing_subscriber::fmt()
        .with_env_filter(EnvFilter::new(level))
        .with_writer(std::io::stderr)
        .with_ansi(std::env::var_os("NO_COLOR").is_none() && std::io::IsTerminal::is_terminal(&std::io::stderr()))
        .without_time()
        .init();
    match commands::dispatch(cli) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            output::error_line(&format!("error: {}", output::causes(&error).join("\n  because: ")));
            let is_usage = error.downcast_ref::<config::ConfigError>().is_some();
            ExitCode::from(if is_usage { 2 } else { 1 })
        }
    }
}
