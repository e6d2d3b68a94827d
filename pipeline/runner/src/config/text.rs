//! A config as it is resolved, as text.

use toml::{Table, Value};

use super::Config;

impl Config {
    /// Everything that the config says: the files that it extends, itself, and `--set`.
    #[must_use]
    pub fn text(&self) -> String {
        let mut table = self.source.resolved.clone();
        table.entry("name").or_insert_with(|| self.name.clone().into());
        // Plain values stand before tables.
        let (tables, plain): (Table, Table) =
            table.into_iter().partition(|(_, value)| value.is_table() || is_tables(value));
        let table: Table = plain.into_iter().chain(tables).collect();
        toml::to_string_pretty(&table).unwrap_or_else(|error| unreachable!("it was read as TOML: {error}"))
    }
}

fn is_tables(value: &Value) -> bool {
    value.as_array().is_some_and(|items| items.first().is_some_and(Value::is_table))
}
