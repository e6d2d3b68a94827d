//! Where a config stands in its file: mistakes are answered with their line.

use std::path::PathBuf;

use serde::de::DeserializeOwned;
use toml::{Table, Value};

use super::{ConfigError, docs};
use crate::nearest::nearest;

/// Fields that choose which stage functions run, and so which other tables are read.
const CHOICES: [&str; 4] = ["mechanism", "method", "task", "variant"];

/// Where the text came from, to name lines in messages.
#[derive(Debug, Clone)]
pub(super) struct Source {
    pub path: PathBuf,
    pub text: String,
    /// Fields that `--set` gives.
    pub overlaid: Vec<String>,
    /// Everything that the config says, with what it extends and with `--set`.
    pub resolved: Table,
    /// The files that it extends, each before those that are laid over it.
    pub extended: Vec<Source>,
    /// File and line of each `extends` that led here, from the nearest on.
    pub led_here: Vec<String>,
    /// The `[[compare]]` table that is laid over the config, if there is one.
    pub alternative: Option<Laid>,
}

/// A `[[compare]]` table: its place among all, from 0 on, and its name.
#[derive(Debug, Clone)]
pub(super) struct Laid {
    pub at: usize,
    pub name: String,
}

impl Source {
    /// A file that is read for itself.
    pub(super) fn new(path: PathBuf, text: String) -> Self {
        Self {
            path,
            text,
            overlaid: Vec::new(),
            resolved: Table::new(),
            extended: Vec::new(),
            led_here: Vec::new(),
            alternative: None,
        }
    }

    /// A file that this one extends.
    pub(super) fn extending(&self, path: PathBuf, text: String) -> Self {
        let line = self.find_here("extends").map_or(1, |(_, line)| line);
        let here = format!("{}:{line}", self.path.display());
        Self { led_here: [vec![here], self.led_here.clone()].concat(), ..Self::new(path, text) }
    }

    pub(super) fn syntax(&self, error: &toml::de::Error) -> ConfigError {
        let line = error.span().map_or(1, |span| self.line(span.start));
        let led_here = self.led_here();
        ConfigError(format!("{}:{line}: {}; correct the TOML{led_here}", self.path.display(), error.message()))
    }

    /// An error about `field`, with the file and the line that give it: this file, or one that it extends. What a
    /// `[[compare]]` table gives stands there.
    pub(super) fn at(&self, field: &str, problem: &str) -> ConfigError {
        // How many parts of the field stand elsewhere; `--set` gives all of them.
        let elsewhere = self.find(field).map_or(0, |(depth, ..)| depth);
        let elsewhere = if self.is_overlaid(field) { field.split('.').count() } else { elsewhere };
        if let Some(Laid { at, name }) = &self.alternative {
            let place = format!("compare[{at}].{field}");
            if self.find(&place).is_some_and(|(depth, ..)| depth > elsewhere.max(1)) {
                return self.error_at(&place, &format!("[[compare]] {name}: {field}"), field, problem);
            }
        }
        self.error_at(field, field, field, problem)
    }

    /// An error about the table number `at` of a list of tables, such as `[[check]]`, from 0 on.
    pub(super) fn at_item(&self, list: &str, at: usize, problem: &str) -> ConfigError {
        self.error_at(&format!("{list}[{at}]"), list, list, problem)
    }

    /// The field given by `--set` for whose sake nobody may read `place`, a table or a field of a file: one of the same table, or,
    /// where that counts, one that chooses what runs. None where `--set` gives the place itself.
    pub(super) fn set_beside(&self, place: &str, choices_count: bool) -> Option<&str> {
        let holds = |outer: &str, inner: &str| inner == outer || inner.starts_with(&format!("{outer}."));
        if self.overlaid.iter().any(|set| holds(set, place) || holds(place, set)) {
            return None;
        }
        let own_table = place.rsplit_once('.').map(|(table, _)| table);
        let is_sibling = |set: &&String| set.rsplit_once('.').is_some_and(|(table, _)| Some(table) == own_table);
        let is_choice = |set: &&String| set.rsplit_once('.').is_some_and(|(_, name)| CHOICES.contains(&name));
        let sibling = self.overlaid.iter().find(is_sibling);
        sibling.or_else(|| self.overlaid.iter().filter(|_| choices_count).find(is_choice)).map(String::as_str)
    }

    fn is_overlaid(&self, field: &str) -> bool {
        self.overlaid.iter().any(|set| set == field)
    }

    /// An error about `field`, which is found at `place` and is called `name`.
    fn error_at(&self, place: &str, name: &str, field: &str, problem: &str) -> ConfigError {
        let more = docs::section(field).map_or(String::new(), |section| format!("\n  see {section}"));
        if self.is_overlaid(place) {
            return ConfigError(format!("--set {field}: {problem}{more}"));
        }
        let found = self.find(place);
        let source = found.map_or(self, |(_, source, _)| source);
        let line = found.map_or(String::new(), |(.., line)| format!("{line}:"));
        let name = if name.is_empty() { String::new() } else { format!("{name}: ") };
        ConfigError(format!("{}:{line} {name}{problem}{}{more}", source.path.display(), source.led_here()))
    }

    /// Which files extend this one, for the end of a message.
    fn led_here(&self) -> String {
        self.led_here.iter().map(|place| format!("\n  this file is extended by {place}")).collect()
    }

    fn line(&self, offset: usize) -> usize {
        self.text[..offset.min(self.text.len())].matches('\n').count() + 1
    }

    /// How many parts of a dotted field a file has, that file, and the line of the last of these parts: the file that has the
    /// most of them, and among equals the one that is laid over the others.
    fn find(&self, field: &str) -> Option<(usize, &Self, usize)> {
        if let Some((list, _)) = field.split_once('[').filter(|(list, _)| !list.contains('.')) {
            // A list of tables is that of one file: it takes the place of those of the files below.
            let source = self.topmost_with(list).filter(|_| !self.is_overlaid(list))?;
            return source.find_here(field).map(|(depth, line)| (depth, source, line));
        }
        let mut found = self.find_here(field).map(|(depth, line)| (depth, self, line));
        // A name is not taken over.
        let extended: &[Self] = if field == "name" { &[] } else { &self.extended };
        for deeper in extended.iter().rev().filter_map(|source| source.find(field)) {
            if found.is_none_or(|(depth, ..)| depth < deeper.0) {
                found = Some(deeper);
            }
        }
        found
    }

    /// The file that gives a list: this one, or the last of those that it extends which has it.
    fn topmost_with(&self, list: &str) -> Option<&Self> {
        if self.find_here(list).is_some() {
            return Some(self);
        }
        self.extended.iter().rev().find_map(|source| source.topmost_with(list))
    }

    /// How many parts of a dotted field this file has, and the line of the last of these parts.
    fn find_here(&self, field: &str) -> Option<(usize, usize)> {
        let root = toml::de::DeTable::parse(&self.text).ok()?;
        let mut table = root.get_ref();
        let mut found = None;
        for (at, part) in field.split('.').enumerate() {
            let (part, item) = part.split_once('[').unwrap_or((part, ""));
            let Some((key, mut value)) = table.iter().find(|(key, _)| key.get_ref() == part) else { break };
            found = Some((at + 1, self.line(key.span().start)));
            let item = item.strip_suffix(']').and_then(|item| item.parse::<usize>().ok());
            if let (Some(item), toml::de::DeValue::Array(items)) = (item, value.get_ref()) {
                let Some(item) = items.get(item) else { break };
                found = Some((at + 1, self.line(item.span().start)));
                value = item;
            }
            match value.get_ref() {
                toml::de::DeValue::Table(inner) => table = inner,
                _ => break,
            }
        }
        found
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

/// A value that is not of the wanted type, with the path of the field that is wrong.
pub(crate) type WrongValue = serde_path_to_error::Error<toml::de::Error>;

/// The value as a `T`. All parameters are read here, because a second way of reading would be compiled for each type again.
///
/// # Errors
/// When the value is no `T`: the error has the path of the field.
pub fn read_value<T: DeserializeOwned>(value: Value) -> Result<T, WrongValue> {
    serde_path_to_error::deserialize(value)
}

/// Types a table; an error names the field, its line and the nearest valid name.
pub(super) fn typed<T: DeserializeOwned>(table: Table, name: &str, source: &Source) -> Result<T, ConfigError> {
    read_value(Value::Table(table)).map_err(|error| wrong_value(&error, name, source))
}

fn wrong_value(error: &WrongValue, name: &str, source: &Source) -> ConfigError {
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
}
