//! The one place that prints. Names and lines of user files may hold anything, so control characters are escaped here.

use std::io::{self, Write};

use anyhow::Context;

/// Prints a line for the user. Whoever has closed the pipe wants no more lines, which is no failure.
pub(crate) fn say(line: &str) -> anyhow::Result<()> {
    match writeln!(io::stdout(), "{}", escaped(line)) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(error).context("cannot print"),
        _ => Ok(()),
    }
}

/// Prints a warning or an error. Where even that fails, the exit status has to suffice.
pub(crate) fn warn(line: &str) {
    let _ = writeln!(io::stderr(), "{}", escaped(line));
}

/// Nats as a person reads them, to twelve digits: sums of decimals are off by some 1e-16.
pub(crate) fn nats(nats: f64) -> String {
    // A sum of nothing is -0.
    format!("{nats:.11e}").parse().map_or_else(|_| nats.to_string(), |rounded: f64| (rounded + 0.0).to_string())
}

/// The line with every character escaped that could steer a terminal or reorder what it shows.
fn escaped(line: &str) -> String {
    let steers = |c: char| {
        c.is_control() || matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    line.chars().map(|c| if steers(c) { c.escape_default().to_string() } else { c.to_string() }).collect()
}
