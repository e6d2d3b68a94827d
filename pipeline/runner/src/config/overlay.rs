//! Values laid over a config: by `--set`, by a list that is swept over, by an alternative.

use toml::{Table, Value};

use super::profile::Profile;
use super::{Config, ConfigError, is_name};
use crate::published::Published;

impl Config {
    /// The config once for each of its `[[compare]]` tables, or each cell of a published profile; as it is if there is
    /// none.
    pub(crate) fn alternatives(&self, dataset: &str, published: Option<&Published>) -> Result<Vec<Self>, ConfigError> {
        const MAY_DIFFER: [&str; 5] = ["privatize", "similarity", "estimate", "construct", "train"];
        if self.profile == Profile::Published {
            return self.published_cells(dataset, published);
        }
        let (table, alternatives) = &self.whole;
        if alternatives.is_empty() {
            return Ok(vec![self.clone()]);
        }
        let one = |alternative: &Table| {
            let mut over = alternative.clone();
            let name = match over.remove("name") {
                Some(Value::String(name)) if is_name(&name) => name,
                _ => {
                    return Err(self
                        .source
                        .at("compare", "every [[compare]] needs a name of letters, digits, `-`, `_` and `.`"));
                }
            };
            if let Some(key) = over.keys().find(|key| !MAY_DIFFER.contains(&key.as_str())) {
                let problem = format!("`{key}` of `{name}` is none of {}", MAY_DIFFER.join(", "));
                return Err(self.source.at("compare", &problem));
            }
            let mut table = table.clone();
            merge(&mut table, over);
            let config = Self::from_table(table, Vec::new(), self.source.clone());
            let config =
                config.map_err(|ConfigError(problem)| ConfigError(format!("[[compare]] {name}: {problem}")))?;
            Ok(Self { label: vec![name.clone()], alternative: Some(name), ..config })
        };
        alternatives.iter().map(one).collect()
    }
}

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

/// Every list of a table with the path of its field, depth first.
pub(super) fn axes(table: &Table, grid: &[&str]) -> Vec<(Vec<String>, Vec<Value>)> {
    let mut found = Vec::new();
    for (key, value) in table {
        match value {
            Value::Array(values) if !grid.contains(&key.as_str()) => found.push((vec![key.clone()], values.clone())),
            Value::Table(inner) => found.extend(axes(inner, grid).into_iter().map(|(mut path, values)| {
                path.insert(0, key.clone());
                (path, values)
            })),
            _ => {}
        }
    }
    found
}

pub(super) fn with(mut table: Table, path: &[String], value: Value) -> Table {
    match path {
        [key] => {
            table.insert(key.clone(), value);
        }
        [key, rest @ ..] => {
            if let Some(Value::Table(inner)) = table.remove(key) {
                table.insert(key.clone(), Value::Table(with(inner, rest, value)));
            }
        }
        [] => {}
    }
    table
}

/// A value as it looks in a label: short, and fit for a folder's name.
pub(super) fn plain(value: &Value) -> String {
    let text = match value {
        Value::String(text) => text.clone(),
        Value::Float(number) => number.to_string(),
        other => other.to_string(),
    };
    text.chars().map(|c| if c.is_ascii_alphanumeric() || "-_.+".contains(c) { c } else { '_' }).collect()
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
