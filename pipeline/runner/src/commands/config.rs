//! `config`: what a config says with all that is laid over it.

use std::path::Path;

use toml::{Table, Value};

use crate::config::Config;
use crate::output;

/// Prints the config as it is resolved.
pub(crate) fn print(path: &Path, sets: &[String]) -> anyhow::Result<()> {
    output::line(text(path, sets)?.trim_end());
    Ok(())
}

/// A config as it is resolved: the files that it extends, itself, and `sets`.
pub(super) fn text(path: &Path, sets: &[String]) -> anyhow::Result<String> {
    // A config that cannot be used is refused, not printed.
    let name = Config::load(path, sets)?.name;
    let mut table = Config::resolved(path, sets)?;
    table.entry("name").or_insert(name.into());
    // Plain values stand before tables.
    let (tables, plain): (Table, Table) =
        table.into_iter().partition(|(_, value)| value.is_table() || is_tables(value));
    let table: Table = plain.into_iter().chain(tables).collect();
    Ok(toml::to_string_pretty(&table)?)
}

fn is_tables(value: &Value) -> bool {
    value.as_array().is_some_and(|items| items.first().is_some_and(Value::is_table))
}
