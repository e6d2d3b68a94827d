//! The store under faults, in full: `make test-faults`. Each test takes minutes; `make test` has a short version.

#[path = "../pipeline/support.rs"]
#[expect(dead_code, reason = "shared with the tests of the pipeline")]
mod support;

mod damage;
mod kills;
mod system_calls;

use std::io::Write;

/// Says how a test went, past the test harness.
fn say(line: &str) {
    let _ = writeln!(std::io::stderr(), "{line}");
}
