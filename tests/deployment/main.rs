//! A deployment from end to end: every node a process, a server and an auditor in folders and under users of their own:
//! `make test-deployment`.
//!
//! No machine but the nodes' own knows the links. The nodes are those of Cora where `DATA_DIR` is set, else those of a
//! synthetic graph.

#[path = "../pipeline/support.rs"]
#[expect(dead_code, reason = "shared with the tests of the pipeline")]
mod support;

mod people;
mod play;

use std::io::Write;

/// Says how a test went, past the test harness.
fn say(line: &str) {
    let _ = writeln!(std::io::stderr(), "{line}");
}
