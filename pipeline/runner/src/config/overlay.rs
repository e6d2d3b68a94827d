//! Values laid over a config by `--set`, and tables laid over tables.

use toml::{Table, Value};

use super::ConfigError;

/// Lays `table.key=value` over the config; returns the dotted field.
pub(super) fn overlay(table: &mut Table, set: &str) -> Result<String, ConfigError> {
    let wrong = |problem: &str| ConfigError(format!("--set {set}: {problem}; write --set table.key=value"));
    let (field, text) = set.split_once('=').ok_or_else(|| wrong("there is no `=`"))?;
    let path: Vec<&str> = field.trim().split('.').collect();
    if path.iter().any(|part| part.is_empty()) {
        return Err(wrong("a part of the field's name is empty"));
    }
    // What is not TOML is a word without quotes.
    let value = toml::from_str::<Table>(&format!("value = {text}"))
        .ok()
        .and_then(|mut table| table.remove("value"))
        .unwrap_or_else(|| Value::String(text.to_owned()));
    let mut inner = table;
    for part in &path[..path.len() - 1] {
        let next = inner.entry((*part).to_owned()).or_insert_with(|| Value::Table(Table::new()));
        inner = next.as_table_mut().ok_or_else(|| wrong(&format!("`{part}` is no table")))?;
    }
    inner.insert(path[path.len() - 1].to_owned(), value);
    Ok(path.join("."))
}

/// Lays the tables of `over` over those of `base`.
pub(super) fn merge(base: &mut Table, over: Table) {
    for (key, value) in over {
        match (base.get_mut(&key), value) {
            (Some(Value::Table(inner)), Value::Table(value)) => merge(inner, value),
            (_, value) => {
                base.insert(key, value);
            }
        }
    }
}
