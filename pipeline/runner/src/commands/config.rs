//! `config`: what a config says with all that is laid over it.

use std::path::Path;

use veilgraph_store::Store;

use crate::config::Config;
use crate::output;
use crate::runs;

/// Prints the config of a file, or that of a run in the history of a store, as it is resolved; one that cannot be used is
/// refused, not printed.
pub(crate) fn print(store: &Store, path: &Path, sets: &[String]) -> anyhow::Result<()> {
    let past = if path.exists() { None } else { runs::run_called(store, &path.to_string_lossy()) };
    let config = match past {
        Some(run) => Config::parse(path, run.config, sets)?,
        None => Config::load(path, sets)?,
    };
    output::line(config.text().trim_end());
    Ok(())
}
