//! An experiment: one TOML file, overlaid by `--set`, expanded into cells.

mod overlay;
mod profile;
mod source;

use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde::de::DeserializeOwned;
use toml::Table;
use veilgraph_contract::Randomness;
use veilgraph_privacy::Epsilon;

use crate::datasets;
use overlay::{axes, overlay, plain, with};
use profile::Profile;
pub(crate) use source::nearest;
use source::{Source, typed};

/// A config that cannot be used: wrong usage, exit status 2.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct ConfigError(pub String);

/// A parsed config; the tables of the stages are typed when they are expanded into cells.
#[derive(Debug, Clone)]
pub(crate) struct Config {
    pub name: String,
    pub seed: u64,
    pub trials: u32,
    /// Further trials that choose the setting of a grid; without any, the scored ones do.
    pub search_trials: u32,
    pub metrics: Vec<MetricGroup>,
    pub profile: Profile,
    pub privacy: Privacy,
    pub ingest: Table,
    pub privatize: Table,
    pub similarity: Table,
    pub estimate: Table,
    pub construct: Table,
    pub train: Table,
    /// Folder of published figures and splits.
    pub published: Option<PathBuf>,
    /// Name of the `[[compare]]` table that is laid over the others: scores are told apart by it.
    pub alternative: Option<String>,
    /// What names of runs begin with: the alternative, or the cell of a profile.
    pub label: Vec<String>,
    source: Source,
    /// Everything but `[[compare]]`, and those tables.
    whole: (Table, Vec<Table>),
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
    /// Whether the server holds the features of the nodes.
    #[serde(default)]
    pub features: Holding,
}

/// Who holds a kind of data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Holding {
    /// Everybody, the server too.
    #[default]
    Public,
    /// Its owners alone: no stage of the server reads it.
    Withheld,
}

/// Tables that are laid over the others, one at a time.
#[derive(Deserialize)]
struct Alternatives {
    compare: Vec<Table>,
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
    search_trials: u32,
    #[serde(default)]
    profile: Profile,
    #[serde(default)]
    privacy: Privacy,
    #[serde(default)]
    ingest: Table,
    #[serde(default)]
    privatize: PrivatizeTables,
    #[serde(default)]
    similarity: Table,
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
#[derive(Clone)]
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
        let alternatives = match table.remove("compare") {
            None => Vec::new(),
            Some(tables) => {
                let tables = Table::from_iter([("compare".to_owned(), tables)]);
                typed::<Alternatives>(tables, "", &source)?.compare
            }
        };
        Self::from_table(table, alternatives, source)
    }

    fn from_table(table: Table, alternatives: Vec<Table>, source: Source) -> Result<Self, ConfigError> {
        let outline: Outline = typed(table.clone(), "", &source)?;
        if outline.trials == 0 {
            return Err(source.at("trials", "trials must be at least 1"));
        }
        if outline.privacy.randomness == Randomness::Os {
            if outline.trials > 1 || outline.search_trials > 0 {
                return Err(source.at("trials", "trials simulate independent releases; a deployment makes one"));
            }
            if outline.seed.is_some() {
                let problem = "a deployment draws its noise from the operating system and refuses a seed; remove it";
                return Err(source.at("seed", problem));
            }
        }
        let stem = source.path.file_stem().map_or("experiment".into(), |stem| stem.to_string_lossy().into_owned());
        let name = outline.name.unwrap_or(stem);
        if !is_name(&name) {
            return Err(source.at("name", &format!("name `{name}` must consist of letters, digits, `-`, `_` and `.`")));
        }
        Ok(Self {
            name,
            seed: outline.seed.unwrap_or(DEFAULT_SEED),
            trials: outline.trials,
            search_trials: outline.search_trials,
            metrics: outline.evaluate.metrics,
            profile: outline.profile,
            privacy: outline.privacy,
            ingest: outline.ingest,
            privatize: outline.privatize.links,
            similarity: outline.similarity,
            estimate: outline.estimate,
            construct: outline.construct,
            train: outline.train,
            published: None,
            alternative: None,
            label: Vec::new(),
            source,
            whole: (table, alternatives),
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
                table = datasets::resolved(table, self.published.as_deref())
                    .map_err(|problem| self.source.at("ingest.dataset", &problem))?;
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

/// Fit for a folder.
fn is_name(name: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    !name.is_empty() && name.chars().all(is_plain) && !name.starts_with('.')
}

#[cfg(test)]
mod tests;
