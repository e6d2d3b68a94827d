//! `veilgraph-client`: what runs on the device of one node, which sends a noisy report and nothing else.
//!
//! *Invariant:* what leaves the device was charged and recorded before, and no two reports leave for one charge.

mod arguments;
mod files;
mod links;
mod nodes;
mod print;
mod report;
mod show;
mod state;

use std::process::ExitCode;

use clap::Parser;

use self::arguments::{Arguments, Command};

fn main() -> ExitCode {
    let done = match Arguments::parse().command {
        Command::Report(arguments) => report::run(&arguments),
        Command::Show(arguments) => show::run(&arguments),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            print::warn(&format!("error: {error:#}"));
            ExitCode::FAILURE
        }
    }
}
