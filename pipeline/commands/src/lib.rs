//! The program `veilgraph` as a library: the command line, and the commands, one file each.
//!
//! The program itself (`pipeline/program`) adds what differs from commit to commit, so that a commit compiles a few lines. The
//! commands are compiled without optimisation, because nobody waits for what they do themselves (docs/benchmarks/build.md).

mod advise;
mod checks;
mod claims;
mod cli;
mod collect;
mod comparison;
mod config;
mod diff;
mod dispatch;
mod doctor;
mod exec;
mod experiment;
mod export;
mod fetch;
mod gc;
mod init;
mod interruption;
mod ledger;
mod ls;
mod man;
mod new_files;
mod partial;
mod plan;
mod pooled;
mod predict;
mod protected;
mod report;
mod run;
mod scan;
mod scores;
mod show;
mod summary;
mod table;
mod verify;
mod watch;

use std::process::ExitCode;

use anyhow::Context;
use clap::{CommandFactory, FromArgMatches};
use tracing_subscriber::EnvFilter;
use veilgraph_runner::config::ConfigError;
use veilgraph_runner::output;

pub use veilgraph_runner::build::{Build, CodeOfCrate};

/// Runs the program with the arguments of the process.
pub fn main(build: Build) -> ExitCode {
    veilgraph_runner::build::state(build);
    let command = cli::without_unused_options(cli::with_examples(cli::Cli::command()));
    let matches = cli::without_empty_variables(command).get_matches();
    let cli = cli::Cli::from_arg_matches(&matches).unwrap_or_else(|error| error.exit());
    let level = match (cli.quiet, cli.verbose) {
        (true, _) => "error",
        (false, 0) => "veilgraph_runner=info,veilgraph_commands=info,veilgraph_ingest=info,veilgraph_nn=info,warn",
        (false, 1) => "info,veilgraph_ingest=debug",
        (false, _) => "debug",
    };
    tracing_subscriber::fmt()
        .with_env_filter(EnvFilter::new(level))
        .with_writer(std::io::stderr)
        .with_ansi(std::env::var_os("NO_COLOR").is_none() && std::io::IsTerminal::is_terminal(&std::io::stderr()))
        .without_time()
        // Where nobody reads what is logged, the subscriber would say so in the same place, and panic there.
        .log_internal_errors(false)
        .init();
    let written = || output::finish().context("standard output: not all results could be written");
    match dispatch::dispatch(cli).and_then(|()| written()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            output::error_line(&format!("error: {}", output::causes(&error).join("\n  because: ")));
            let is_usage = error.downcast_ref::<ConfigError>().is_some();
            ExitCode::from(if is_usage { 2 } else { 1 })
        }
    }
}
