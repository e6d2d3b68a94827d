//! `config`: what a config says with all that is laid over it.

use std::path::Path;

use veilgraph_runner::config::{Config, ConfigError};
use veilgraph_runner::output;
use veilgraph_runner::runs;
use veilgraph_store::Store;

/// Prints the config of a file, or that of a run in the history of a store, as it is resolved; one that cannot be used is
/// refused, not printed.
pub(crate) fn print(store: &Store, path: &Path, sets: &[String]) -> anyhow::Result<()> {
    let called = path.to_string_lossy();
    let numbered = if path.exists() { None } else { runs::name_and_number(&called) };
    let config = match numbered {
        Some((name, number)) => {
            let run = runs::run_numbered(store, name, number).map_err(ConfigError)?;
            Config::parse(path, run.config, sets)?
        }
        None => Config::load(path, sets)?,
    };
    output::data(config.text().trim_end());
    Ok(())
}
