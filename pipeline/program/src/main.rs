//! The program `veilgraph`: the library `veilgraph-commands`, and what this build of it is made of.

use std::process::ExitCode;

use veilgraph_commands::{Build, CodeOfCrate};

include!(concat!(env!("OUT_DIR"), "/code.rs"));

fn main() -> ExitCode {
    veilgraph_commands::main(Build { commit: env!("VEILGRAPH_COMMIT"), code: CODE })
}
