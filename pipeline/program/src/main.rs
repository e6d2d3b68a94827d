//! The program `veilgraph`: the library `veilgraph-runner`, and what this build of it is made of.

use std::process::ExitCode;

use veilgraph_runner::{Build, CodeOfCrate};

include!(concat!(env!("OUT_DIR"), "/code.rs"));

fn main() -> ExitCode {
    veilgraph_runner::main(Build { commit: env!("VEILGRAPH_COMMIT"), code: CODE })
}
