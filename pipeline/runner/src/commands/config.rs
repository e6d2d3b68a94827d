//! `config`: what a config says with all that is laid over it.

use std::path::Path;

use crate::config::Config;
use crate::output;

/// Prints the config as it is resolved; one that cannot be used is refused, not printed.
pub(crate) fn print(path: &Path, sets: &[String]) -> anyhow::Result<()> {
    output::line(Config::load(path, sets)?.text().trim_end());
    Ok(())
}
