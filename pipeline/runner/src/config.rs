//! An experiment: one TOML file, overlaid by `--set`. The tables of stages stay untyped here; whoever needs one asks
//! for it by its path.

mod alternatives;
mod checks;
mod docs;
mod extends;
pub mod fields;
mod metric_group;
mod name;
mod overlay;
mod privacy;
mod profile;
mod references;
pub mod selection;
mod source;
pub(crate) mod sweep;
mod text;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use toml::{Table, Value};
use veilgraph_contract::Randomness;

use crate::nearest::nearest;
use crate::task::STAGES;
pub use checks::{Asks, Bound, Check, Rule, score_named};
use extends::resolved;
pub(crate) use metric_group::MetricGroup;
pub use name::{NAME_RULE, is_name};
pub(crate) use privacy::{Holding, Privacy};
pub use profile::Profile;
pub(crate) use references::HeldData;
pub use source::read_value;
use source::{Source, typed};
use text::text_of;

/// A config that cannot be used: wrong usage, exit status 2.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct ConfigError(pub String);

/// A parsed config.
#[derive(Debug, Clone)]
pub struct Config {
    /// Name of the experiment.
    pub name: String,
    /// Seed of the experiment.
    pub seed: u64,
    /// Number of scored trials.
    pub trials: u32,
    /// Further trials that choose the setting of a grid; without any, the scored ones do.
    pub search_trials: u32,
    /// What is scored.
    pub metrics: Vec<MetricGroup>,
    /// Whose settings it takes.
    pub profile: Profile,
    /// The table `[privacy]`.
    pub privacy: Privacy,
    /// Names of the floors and ceilings that run beside everything else; the usual floors where nothing is said.
    references: Option<Vec<String>>,
    /// Whether it is a floor that stands beside the others without being asked for.
    pub(crate) is_usual_floor: bool,
    /// What its scores have to say.
    pub checks: Vec<Check>,
    /// The tables of the stages.
    pub tables: Table,
    /// Folder of published figures and splits.
    pub published: Option<PathBuf>,
    /// Name of the `[[compare]]` table that is laid over the others.
    pub alternative: Option<String>,
    /// What names of runs begin with: the alternative, or the cell of a profile.
    pub label: Vec<String>,
    source: Source,
    whole: Whole,
}

/// The file before an alternative is laid over it.
#[derive(Debug, Clone)]
struct Whole {
    /// Everything but `[[compare]]`.
    table: Table,
    /// The tables `[[compare]]`.
    alternatives: Vec<Table>,
}

/// What is said of the experiment as a whole, beside the tables of stages.
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
    references: Option<Vec<String>>,
    #[serde(default)]
    evaluate: EvaluateTable,
}

/// Fields of [`Outline`].
const OUTLINE: [&str; 8] = ["name", "seed", "trials", "search_trials", "profile", "privacy", "references", "evaluate"];

/// Fields that are read before [`Outline`] is.
const RESOLVED: [&str; 3] = ["extends", "compare", "check"];

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct EvaluateTable {
    #[serde(default)]
    metrics: Option<Vec<MetricGroup>>,
}

/// Scores where none are named. Those of links are computed from the private graph, and those of classes from labels: in
/// a deployment that protects these they are a further release, which somebody has to ask for.
fn default_metrics(randomness: Randomness, protects_labels: bool) -> Vec<MetricGroup> {
    match randomness {
        Randomness::Os if protects_labels => Vec::new(),
        Randomness::Seeded => vec![MetricGroup::Accuracy, MetricGroup::LinkError, MetricGroup::Density],
        Randomness::Os => vec![MetricGroup::Accuracy],
    }
}

/// Seed of what is drawn reproducibly, where none is given.
const DEFAULT_SEED: u64 = 42;

/// Every trial is planned by itself; so many take a gigabyte.
const MOST_TRIALS: u32 = 10_000;

fn default_trials() -> u32 {
    1
}

impl Config {
    /// Reads the file at `path` and lays `sets` (`table.key=value`) over it.
    ///
    /// # Errors
    /// When the file cannot be read, or holds what no experiment can be made of: the message names the file, the line and the remedy.
    pub fn load(path: &Path, sets: &[String]) -> Result<Self, ConfigError> {
        Self::parse(path, text_of(path)?, sets)
    }

    /// Reads a config from its text; `path` names it in messages.
    ///
    /// # Errors
    /// When the text holds what no experiment can be made of: the message names `path`, line and remedy.
    pub fn parse(path: &Path, text: String, sets: &[String]) -> Result<Self, ConfigError> {
        let (mut table, source) = resolved(path, text, sets)?;
        let alternatives = alternatives::taken_from(&mut table, &source)?;
        let checks = checks::taken_from(&mut table, &source)?;
        Ok(Self { checks, ..Self::from_table(table, alternatives, source)? })
    }

    fn from_table(table: Table, alternatives: Vec<Table>, source: Source) -> Result<Self, ConfigError> {
        let (head, tables): (Table, Table) =
            table.clone().into_iter().partition(|(key, _)| OUTLINE.contains(&key.as_str()));
        for (key, value) in &tables {
            if !STAGES.contains(&key.as_str()) {
                let known: BTreeSet<&str> = OUTLINE.iter().chain(&STAGES).chain(&RESOLVED).copied().collect();
                let known: Vec<&str> = known.into_iter().collect();
                let hint = match (nearest(key, &known), docs::tables_with(key).as_slice()) {
                    (Some(hint), _) => format!("; did you mean `{hint}`?"),
                    (None, []) => format!("; fields and tables here are {}", known.join(", ")),
                    (None, tables) => format!("; it is a field of {}", tables.join(", ")),
                };
                return Err(source.at(key, &format!("unknown field `{key}`{hint}")));
            }
            if !value.is_table() {
                return Err(source.at(key, &format!("`{key}` is a table; write [{key}]")));
            }
        }
        fields::refuse_values_in_privatize(&tables, &source)?;
        let outline: Outline = typed(head, "", &source)?;
        for (field, number, least) in [("trials", outline.trials, 1), ("search_trials", outline.search_trials, 0)] {
            if !(least..=MOST_TRIALS).contains(&number) {
                return Err(source.at(field, &format!("{number} is not between {least} and {MOST_TRIALS}")));
            }
        }
        if outline.privacy.randomness == Randomness::Os {
            if outline.trials > 1 || outline.search_trials > 0 {
                return Err(source.at("trials", "trials simulate independent releases; a deployment makes one"));
            }
            if outline.seed.is_some() {
                let problem = "a deployment draws its noise from the operating system and refuses a seed; remove it";
                return Err(source.at("seed", problem));
            }
            if outline.privacy.population.is_none() || outline.privacy.budget.are_empty() {
                let problem = "a deployment needs a `population` (whose data are released, under every config) and a \
                               `budget` (the most that all releases about them may cost, in nats per list bit, or a table by relation)";
                return Err(source.at("privacy", problem));
            }
        }
        let has_references = outline.references.as_ref().is_some_and(|names| !names.is_empty());
        if outline.privacy.randomness == Randomness::Os && has_references {
            let problem =
                "references are trained for comparison, which a simulation makes; a deployment makes one release";
            return Err(source.at("references", problem));
        }
        outline.privacy.check(&source)?;
        let stem = source.path.file_stem().map_or("experiment".into(), |stem| stem.to_string_lossy().into_owned());
        let name = outline.name.unwrap_or(stem);
        if !is_name(&name) {
            let problem = format!("name `{name}`: {NAME_RULE}; without `name = \"...\"` it is that of the file");
            return Err(source.at("name", &problem));
        }
        Ok(Self {
            name,
            seed: outline.seed.unwrap_or(DEFAULT_SEED),
            trials: outline.trials,
            search_trials: outline.search_trials,
            metrics: outline.evaluate.metrics.unwrap_or_else(|| {
                default_metrics(outline.privacy.randomness, table_at(&tables, "privatize.labels").is_some())
            }),
            profile: outline.profile,
            privacy: outline.privacy,
            references: outline.references,
            is_usual_floor: false,
            checks: Vec::new(),
            tables,
            published: None,
            alternative: None,
            label: Vec::new(),
            source,
            whole: Whole { table, alternatives },
        })
    }

    /// Whose data are released: named by the user, else the dataset, else the experiment with its own files.
    #[must_use]
    pub fn population<'a>(&'a self, dataset: Option<&'a str>) -> &'a str {
        self.privacy.population.as_deref().or(dataset).unwrap_or(&self.name)
    }

    /// Whether noise is drawn that nobody can draw again.
    #[must_use]
    pub fn is_deployment(&self) -> bool {
        self.privacy.randomness == Randomness::Os
    }

    /// Folder of the config file.
    #[must_use]
    pub fn folder(&self) -> &Path {
        self.source.path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
    }

    /// The table at a dotted path; empty if it is not there.
    pub fn table(&self, path: &str) -> Table {
        let mut table = table_at(&self.tables, path).cloned().unwrap_or_default();
        // A table in a table that is asked for by a path of its own is no field of the outer one.
        for nested in NESTED {
            if let Some((outer, inner)) = nested.rsplit_once('.')
                && outer == path
                && table.get(inner).is_some_and(Value::is_table)
            {
                table.remove(inner);
            }
        }
        table
    }

    /// The values of a field in this config and in all of its alternatives.
    #[must_use]
    pub fn values_anywhere(&self, path: &str, field: &str) -> Vec<Value> {
        let tables = std::iter::once(&self.whole.table).chain(&self.whole.alternatives);
        let found = tables.filter_map(|table| table_at(table, path)?.get(field));
        found.flat_map(|value| value.as_array().cloned().unwrap_or_else(|| vec![value.clone()])).collect()
    }

    /// The field given by `--set` for whose sake nobody may read `place`, a table or a field of a file.
    pub(crate) fn set_beside(&self, place: &str) -> Option<&str> {
        // What a deployment is given is never passed over for a choice made elsewhere.
        self.source.set_beside(place, !self.is_deployment())
    }

    /// An error about a field of this config.
    #[must_use]
    pub fn error(&self, field: &str, problem: &str) -> ConfigError {
        self.source.at(field, problem)
    }
}

/// Tables in the table of a stage that are asked for by paths of their own.
const NESTED: [&str; 1] = ["estimate.features"];

/// The table at a dotted path, if it is there.
fn table_at<'a>(tables: &'a Table, path: &str) -> Option<&'a Table> {
    path.split('.').try_fold(tables, |table, part| table.get(part)?.as_table())
}

#[cfg(test)]
mod tests;
