//! Where a config stands in its file: mistakes are answered with their line.

use std::path::PathBuf;

use serde::de::DeserializeOwned;
use toml::{Table, Value};

use super::{ConfigError, docs};
use crate::nearest::nearest;

/// Where the text came from, to name lines in messages.
#[derive(Debug, Clone)]
pub(super) struct Source {
    pub path: PathBuf,
    pub text: String,
    /// Fields that `--set` gives.
    pub overlaid: Vec<String>,
    /// Everything that the config says, with what it extends and with `--set`.
    pub resolved: Table,
}

impl Source {
    pub(super) fn syntax(&self, error: &toml::de::Error) -> ConfigError {
        let line = error.span().map_or(1, |span| self.line(span.start));
        ConfigError(format!("{}:{line}: {}; correct the TOML", self.path.display(), error.message()))
    }

    /// An error about `field`, with its line if the file has it.
    pub(super) fn at(&self, field: &str, problem: &str) -> ConfigError {
        let more = docs::section(field).map_or(String::new(), |section| format!("\n  see {section}"));
        if self.overlaid.iter().any(|set| set == field) {
            return ConfigError(format!("--set {field}: {problem}{more}"));
        }
        let line = self.find(field).map_or(String::new(), |line| format!("{line}:"));
        let name = if field.is_empty() { String::new() } else { format!("{field}: ") };
        ConfigError(format!("{}:{line} {name}{problem}{more}", self.path.display()))
    }

    fn line(&self, offset: usize) -> usize {
        self.text[..offset.min(self.text.len())].matches('\n').count() + 1
    }

    /// Line of a dotted field.
    fn find(&self, field: &str) -> Option<usize> {
        let root = toml::de::DeTable::parse(&self.text).ok()?;
        let mut table = root.get_ref();
        let mut line = None;
        for part in field.split('.') {
            // An item of a list stands on the line of its list.
            let part = part.split('[').next().unwrap_or(part);
            let Some((key, value)) = table.iter().find(|(key, _)| key.get_ref() == part) else { break };
            line = Some(self.line(key.span().start));
            match value.get_ref() {
                toml::de::DeValue::Table(inner) => table = inner,
                _ => break,
            }
        }
        line
    }
}

/// The types of a message as people call them.
fn in_plain_words(message: &str) -> String {
    let types = [
        ("expected f64", "expected a number"),
        ("expected f32", "expected a number"),
        ("expected u64", "expected a whole number, 0 or more"),
        ("expected u32", "expected a whole number, 0 or more"),
        ("expected usize", "expected a whole number, 0 or more"),
        ("expected a map", "expected a table"),
        ("invalid type: map", "invalid type: a table"),
    ];
    types.iter().fold(message.to_owned(), |message, (type_name, words)| message.replace(type_name, words))
}

/// Types a table; an error names the field, its line and the nearest valid name.
pub(super) fn typed<T: DeserializeOwned>(table: Table, name: &str, source: &Source) -> Result<T, ConfigError> {
    serde_path_to_error::deserialize(Value::Table(table)).map_err(|error| {
        let inside = error.path().to_string();
        let message = in_plain_words(error.inner().message());
        let mut path: Vec<&str> =
            [name, if inside == "." { "" } else { &inside }].into_iter().filter(|part| !part.is_empty()).collect();
        let quoted: Vec<&str> = message.split('`').skip(1).step_by(2).collect();
        let is_field = message.starts_with("unknown field") || message.starts_with("missing field");
        if is_field && !inside.ends_with(quoted[0]) {
            path.push(quoted[0]);
        }
        let hint = if message.starts_with("unknown") { nearest(quoted[0], &quoted[1..]) } else { None };
        let hint = hint.map_or(String::new(), |hint| format!("; did you mean `{hint}`?"));
        source.at(&path.join("."), &format!("{message}{hint}"))
    })
}
