//! An experiment: one TOML file, overlaid by `--set`, expanded into cells.

mod source;

use std::path::Path;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use toml::{Table, Value};
use veilgraph_contract::Randomness;
use veilgraph_privacy::Epsilon;

use crate::datasets;
pub(crate) use source::nearest;
use source::{Source, typed};

/// A config that cannot be used: wrong usage, exit status 2.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct ConfigError(pub String);

/// A parsed config; the tables of the stages are typed when they are expanded into cells.
#[derive(Debug)]
pub(crate) struct Config {
    pub name: String,
    pub seed: u64,
    pub trials: u32,
    pub metrics: Vec<MetricGroup>,
    pub privacy: Privacy,
    pub ingest: Table,
    pub privatize: Table,
    pub estimate: Table,
    pub construct: Table,
    pub train: Table,
    source: Source,
}

/// Which scores `[evaluate] metrics` asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum MetricGroup {
    Accuracy,
    LinkError,
    Density,
}

/// The `[privacy]` table.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Privacy {
    /// Where the noise comes from.
    #[serde(default)]
    pub randomness: Randomness,
    /// Most that all releases about the same nodes may cost, in nats per list bit.
    pub budget: Option<Epsilon>,
    /// Whom the budget belongs to (default: the dataset).
    pub population: Option<String>,
}

/// The file as a whole; stage tables stay untyped.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Outline {
    name: Option<String>,
    seed: Option<u64>,
    #[serde(default = "default_trials")]
    trials: u32,
    #[serde(default)]
    privacy: Privacy,
    #[serde(default)]
    ingest: Table,
    #[serde(default)]
    privatize: PrivatizeTables,
    #[serde(default)]
    estimate: Table,
    #[serde(default)]
    construct: Table,
    #[serde(default)]
    train: Table,
    #[serde(default)]
    evaluate: EvaluateTable,
}

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields)]
struct PrivatizeTables {
    #[serde(default)]
    links: Table,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct EvaluateTable {
    #[serde(default = "all_metrics")]
    metrics: Vec<MetricGroup>,
}

impl Default for EvaluateTable {
    fn default() -> Self {
        Self { metrics: all_metrics() }
    }
}

fn all_metrics() -> Vec<MetricGroup> {
    vec![MetricGroup::Accuracy, MetricGroup::LinkError, MetricGroup::Density]
}

/// Seed of what is drawn reproducibly, where none is given.
const DEFAULT_SEED: u64 = 42;

fn default_trials() -> u32 {
    1
}

/// One combination of swept values: its label parts, and the typed table.
pub(crate) struct Cell<P> {
    pub label: Vec<String>,
    pub params: P,
}

impl Config {
    /// Reads the file at `path` and lays `sets` (`table.key=value`) over it.
    pub(crate) fn load(path: &Path, sets: &[String]) -> Result<Self, ConfigError> {
        let text = std::fs::read_to_string(path).map_err(|error| {
            ConfigError(format!("{}: cannot read the config ({error}); check the path", path.display()))
        })?;
        Self::parse(path, text, sets)
    }

    fn parse(path: &Path, text: String, sets: &[String]) -> Result<Self, ConfigError> {
        let source = Source { path: path.to_owned(), text, overlaid: Vec::new() };
        let mut table: Table = toml::from_str(&source.text).map_err(|error| source.syntax(&error))?;
        let mut source = source;
        for set in sets {
            source.overlaid.push(overlay(&mut table, set)?);
        }
        let outline: Outline = typed(table, "", &source)?;
        if outline.trials == 0 {
            return Err(source.at("trials", "trials must be at least 1"));
        }
        if outline.privacy.randomness == Randomness::Os {
            if outline.trials > 1 {
                return Err(source.at("trials", "trials simulate independent releases; a deployment makes one"));
            }
            if outline.seed.is_some() {
                let problem = "a deployment draws its noise from the operating system and refuses a seed; remove it";
                return Err(source.at("seed", problem));
            }
        }
        let stem = path.file_stem().map_or("experiment".into(), |stem| stem.to_string_lossy().into_owned());
        let name = outline.name.unwrap_or(stem);
        if name.is_empty()
            || !name.chars().all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c))
            || name.starts_with('.')
        {
            return Err(source.at("name", &format!("name `{name}` must consist of letters, digits, `-`, `_` and `.`")));
        }
        Ok(Self {
            name,
            seed: outline.seed.unwrap_or(DEFAULT_SEED),
            trials: outline.trials,
            metrics: outline.evaluate.metrics,
            privacy: outline.privacy,
            ingest: outline.ingest,
            privatize: outline.privatize.links,
            estimate: outline.estimate,
            construct: outline.construct,
            train: outline.train,
            source,
        })
    }

    /// Whose data are released: named by the user, else the dataset, else the experiment with its own files.
    pub(crate) fn population<'a>(&'a self, dataset: Option<&'a str>) -> &'a str {
        self.privacy.population.as_deref().or(dataset).unwrap_or(&self.name)
    }

    /// Whether noise is drawn that nobody can draw again.
    pub(crate) fn is_deployment(&self) -> bool {
        self.privacy.randomness == Randomness::Os
    }

    /// Folder of the config file.
    pub(crate) fn folder(&self) -> &Path {
        self.source.path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
    }

    /// The cells of a stage's table: one for each combination of its lists.
    ///
    /// `grid` names the fields whose lists belong to one cell.
    pub(crate) fn cells<P: DeserializeOwned>(
        &self,
        name: &str,
        table: &Table,
        grid: &[&str],
    ) -> Result<Vec<Cell<P>>, ConfigError> {
        let mut cells = vec![(Vec::new(), table.clone())];
        for (path, values) in axes(table, grid) {
            if values.is_empty() {
                return Err(self.source.at(&format!("{name}.{}", path.join(".")), "an empty list sweeps over nothing"));
            }
            cells = cells
                .into_iter()
                .flat_map(|(label, table)| {
                    let path = path.clone();
                    values.iter().map(move |value| {
                        let mut label: Vec<String> = label.clone();
                        // No `=`: Polars would take `trial=0` in a path for a partition and add a column.
                        label.push(format!("{}-{}", path[path.len() - 1], plain(value)));
                        (label, with(table.clone(), &path, value.clone()))
                    })
                })
                .collect();
        }
        let cells = cells.into_iter().map(|(label, mut table)| {
            if name == "ingest" {
                // Only now is every dataset a name of its own: a sweep may list several.
                table = datasets::resolved(table).map_err(|problem| self.source.at("ingest.dataset", &problem))?;
            }
            Ok(Cell { label, params: typed(table, name, &self.source)? })
        });
        cells.collect()
    }

    /// An error about a field of this config.
    pub(crate) fn error(&self, field: &str, problem: &str) -> ConfigError {
        self.source.at(field, problem)
    }
}

/// Lays `table.key=value` over the config; returns the dotted field.
fn overlay(table: &mut Table, set: &str) -> Result<String, ConfigError> {
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
fn axes(table: &Table, grid: &[&str]) -> Vec<(Vec<String>, Vec<Value>)> {
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

fn with(mut table: Table, path: &[String], value: Value) -> Table {
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
fn plain(value: &Value) -> String {
    let text = match value {
        Value::String(text) => text.clone(),
        Value::Float(number) => number.to_string(),
        other => other.to_string(),
    };
    text.chars().map(|c| if c.is_ascii_alphanumeric() || "-_.+".contains(c) { c } else { '_' }).collect()
}

#[cfg(test)]
mod tests;
