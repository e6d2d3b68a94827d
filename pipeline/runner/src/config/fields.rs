//! Fields of nested tables by their dotted paths.

use toml::{Table, Value};

use super::source::Source;
use super::{Config, ConfigError, docs};

/// Fields that stand above the first table of a config.
pub(crate) const ABOVE_TABLES: [&str; 7] =
    ["name", "seed", "trials", "search_trials", "profile", "references", "extends"];

impl Config {
    /// The same config without one field of a table.
    pub(crate) fn without_field(&self, table: &str, field: &str) -> Self {
        let mut config = self.clone();
        config.table_mut(table).and_then(|table| table.remove(field));
        config
    }

    /// The same config with another value of one field of a table that it has.
    pub(crate) fn with_field(&self, table: &str, field: &str, value: Value) -> Self {
        let mut config = self.clone();
        config.table_mut(table).and_then(|table| table.insert(field.to_owned(), value));
        config
    }

    fn table_mut(&mut self, path: &str) -> Option<&mut Table> {
        path.split('.').try_fold(&mut self.tables, |tables, part| tables.get_mut(part)?.as_table_mut())
    }
}

/// A number, whole or not.
#[must_use]
pub fn number(value: &Value) -> Option<f64> {
    value.as_float().or_else(|| value.as_integer().map(|whole| whole as f64))
}

/// Dotted paths of all fields of a table that are no tables themselves.
#[must_use]
pub fn leaves(table: &Table, prefix: &str) -> Vec<String> {
    leaves_that(table, prefix, &|_| true)
}

/// Dotted paths of all lists of a table.
pub(super) fn swept_fields(table: &Table, prefix: &str) -> Vec<String> {
    leaves_that(table, prefix, &Value::is_array)
}

fn leaves_that(table: &Table, prefix: &str, is_wanted: &dyn Fn(&Value) -> bool) -> Vec<String> {
    let named = |key: &str| if prefix.is_empty() { key.to_owned() } else { format!("{prefix}.{key}") };
    let of = |(key, value): (&String, &Value)| match value {
        Value::Table(inner) => leaves_that(inner, &named(key), is_wanted),
        value if is_wanted(value) => vec![named(key)],
        _ => Vec::new(),
    };
    table.iter().flat_map(of).collect()
}

/// `table` with the value of one field.
pub(super) fn with(mut table: Table, path: &[String], value: Value) -> Table {
    match path {
        [key] => {
            table.insert(key.clone(), value);
        }
        [key, rest @ ..] => {
            let inner = match table.get(key) {
                Some(Value::Table(inner)) => inner.clone(),
                _ => Table::new(),
            };
            table.insert(key.clone(), Value::Table(with(inner, rest, value)));
        }
        [] => {}
    }
    table
}

/// A text as it looks in a label; a path separator never survives.
#[must_use]
pub fn plain_text(text: &str) -> String {
    plain(&Value::from(text))
}

/// A value as it looks in a label: short, and fit for a folder's name.
pub(super) fn plain(value: &Value) -> String {
    let text = match value {
        Value::String(text) => text.clone(),
        Value::Float(number) => number.to_string(),
        other => other.to_string(),
    };
    let plain: String =
        text.chars().map(|c| if c.is_ascii_alphanumeric() || "-_.+".contains(c) { c } else { '_' }).collect();
    // Different values must not look alike.
    if plain == text { plain } else { format!("{plain}-{}", &blake3::hash(text.as_bytes()).to_hex()[..4]) }
}

/// Refuses a value in `[privatize]`, which holds tables alone.
///
/// # Errors
/// When there is one; the error says where it belongs.
pub(super) fn refuse_values_in_privatize(tables: &Table, source: &Source) -> Result<(), ConfigError> {
    let mut fields = tables.get("privatize").and_then(Value::as_table).into_iter().flatten();
    let Some((field, _)) = fields.find(|(_, value)| !value.is_table()) else { return Ok(()) };
    let problem = if ABOVE_TABLES.contains(&field.as_str()) {
        format!("`{field}` belongs above the first table; move its line there")
    } else if ["links", "features", "labels"].contains(&field.as_str()) {
        format!("`{field}` is a table; write its fields below [privatize.{field}]")
    } else {
        let tables = docs::tables_with(field);
        let hint = if tables.is_empty() { String::new() } else { format!("; it is a field of {}", tables.join(", ")) };
        format!("unknown field `{field}`, because [privatize] has tables alone{hint}")
    };
    Err(source.at(&format!("privatize.{field}"), &problem))
}
