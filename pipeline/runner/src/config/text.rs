//! The text of a config: as a file holds it, and as it is resolved.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use toml::{Table, Value};

use super::{Config, ConfigError};

/// The text of the config at `path`.
pub(super) fn text_of(path: &Path) -> Result<String, ConfigError> {
    /// Nobody writes so long a config. What has no end, such as a device, must not be read into memory.
    const MOST_BYTES: u64 = 1 << 24;
    let wrong = |what: String| ConfigError(format!("{}: {what}", path.display()));
    let mut bytes = Vec::new();
    File::open(path).and_then(|file| file.take(MOST_BYTES + 1).read_to_end(&mut bytes)).map_err(|error| {
        let file = path.with_extension("toml");
        let is_meant = path.extension().is_none() && file.is_file();
        let remedy = if is_meant { format!("did you mean {}?", file.display()) } else { "check the path".to_owned() };
        wrong(format!("cannot read the config ({error}); {remedy}"))
    })?;
    if bytes.len() as u64 > MOST_BYTES {
        return Err(wrong(format!("more than {MOST_BYTES} bytes are no config; check the path")));
    }
    // Text in another encoding may be UTF-8 too, but for the zeros that it holds.
    let text = String::from_utf8(bytes).ok().filter(|text| !text.contains('\0'));
    text.ok_or_else(|| wrong("the config is no UTF-8 text; save it as UTF-8".to_owned()))
}

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
