//! The only place that prints.

use std::io::Write;

/// A line of results on standard output. A reader that went away (`| head`) is no error.
pub(crate) fn line(text: &str) {
    let _ = writeln!(std::io::stdout(), "{text}");
}

/// A line about the run on standard error.
pub(crate) fn error_line(text: &str) {
    let _ = writeln!(std::io::stderr(), "{text}");
}
