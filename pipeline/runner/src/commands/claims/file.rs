//! A file of claims: experiments, and what is claimed about their scores.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use anyhow::Context;
use serde::Deserialize;
use toml::Table;
use veilgraph_evaluate::metric::{Better, Metric};

use super::tolerance::{Tolerance, ToleranceText};
use crate::cli::ClaimsArguments;
use crate::commands::table::named;
use crate::config::ConfigError;
use crate::config::selection::{Selection, columns, is_swept};
use crate::nearest::nearest;

/// How much is run before a verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// Few trials on small graphs: minutes.
    Quick,
    /// All graphs that claims are about, and fewer trials where a config has many: hours.
    Fixed,
    /// The configs as they are, with all of their trials and mechanisms: days.
    Full,
}

impl Mode {
    /// Its name on the command line.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Quick => "quick",
            Self::Fixed => "fixed",
            Self::Full => "full",
        }
    }
}

/// The claims of a file.
pub(super) struct ClaimsFile {
    /// Configs are named relative to it.
    pub folder: PathBuf,
    pub experiments: Vec<Experiment>,
    claims: Vec<Claim>,
}

/// An experiment that claims rest on, and what is laid over its config in each mode. A mode that is not there leaves the
/// experiment out.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Experiment {
    pub name: String,
    pub config: PathBuf,
    /// Whether real graphs are needed.
    #[serde(default)]
    needs_data: bool,
    /// Whether the published figures are needed.
    #[serde(default)]
    needs_published: bool,
    quick: Option<Vec<String>>,
    fixed: Option<Vec<String>>,
    full: Option<Vec<String>>,
}

/// A claim.
pub(super) struct Claim {
    pub id: String,
    pub says: String,
    pub source: String,
    pub experiment: String,
    pub score: &'static Metric,
    pub cells: Selection,
    /// A swept field over whose values scores are averaged first.
    pub mean_over: Option<String>,
    pub asks: Asks,
}

/// What is claimed of the score.
pub(super) enum Asks {
    /// A value within a tolerance, both in the unit of tables; the tolerance by mode.
    Near { expected: f64, tolerance: Tolerance },
    /// No less, in the unit of tables.
    AtLeast(f64),
    /// No more.
    AtMost(f64),
    /// Better than the best of other cells, by at least so much.
    BetterThan { others: Selection, by: f64 },
    /// Not better than the best of other cells by more than so much.
    NoBetterThan { others: Selection, by: f64 },
}

/// One value, or one for each value of the column `over`.
#[derive(Clone, Deserialize)]
#[serde(untagged)]
enum Expected {
    One(f64),
    Over(Table),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Text {
    experiment: Vec<Experiment>,
    claim: Vec<ClaimTable>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ClaimTable {
    id: String,
    says: String,
    source: String,
    experiment: String,
    score: String,
    #[serde(default, rename = "where")]
    cells: Selection,
    over: Option<String>,
    mean_over: Option<String>,
    expected: Option<Expected>,
    tolerance: Option<ToleranceText>,
    at_least: Option<f64>,
    at_most: Option<f64>,
    better_than: Option<Selection>,
    by: Option<f64>,
    no_better_than: Option<Selection>,
}

impl ClaimsFile {
    /// Reads a file.
    ///
    /// # Errors
    /// A file that is no TOML, or has an unknown field, score or experiment, or two claims of one id.
    pub(super) fn read(path: &Path) -> anyhow::Result<Self> {
        let place = path.display();
        let text = std::fs::read_to_string(path)
            .with_context(|| format!("{place}: cannot read the claims; check the path"))?;
        let text: Text =
            toml::from_str(&text).map_err(|error| ConfigError(format!("{place}: {}", error.to_string().trim_end())))?;
        let mut claims: Vec<Claim> = Vec::new();
        for table in text.claim {
            let id = table.id.clone();
            let wrong = |ConfigError(problem): ConfigError| ConfigError(format!("{place}: claim `{id}`: {problem}"));
            claims.extend(claims_of(table, &text.experiment).map_err(wrong)?);
        }
        let mut names = BTreeSet::new();
        if let Some(twice) = text.experiment.iter().find(|experiment| !names.insert(experiment.name.as_str())) {
            return Err(ConfigError(format!("{place}: two experiments are named `{}`", twice.name)).into());
        }
        let mut known = BTreeSet::new();
        if let Some(twice) = claims.iter().find(|claim| !known.insert(claim.id.as_str())) {
            return Err(ConfigError(format!("{place}: two claims have the id `{}`", twice.id)).into());
        }
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new(".")).to_owned();
        Ok(Self { folder, experiments: text.experiment, claims })
    }

    /// The claims of these ids; all where none is named. An id stands for all that begin with it and a dot, too.
    pub(super) fn wanted(&self, ids: &[String]) -> Result<Vec<&Claim>, ConfigError> {
        let is_meant = |claim: &Claim, id: &str| {
            claim.id == *id || claim.id.strip_prefix(id).is_some_and(|rest| rest.starts_with('.'))
        };
        for id in ids {
            if !self.claims.iter().any(|claim| is_meant(claim, id)) {
                let known: Vec<&str> = self.claims.iter().map(|claim| claim.id.as_str()).collect();
                let hint = nearest(id, &known).map_or(String::new(), |hint| format!("; did you mean `{hint}`?"));
                return Err(ConfigError(format!("--only {id}: there is no such claim{hint}")));
            }
        }
        let is_wanted = |claim: &&Claim| ids.is_empty() || ids.iter().any(|id| is_meant(claim, id));
        Ok(self.claims.iter().filter(is_wanted).collect())
    }
}

impl Experiment {
    /// What is laid over the config in a mode, if the experiment is a part of it.
    pub(super) fn sets(&self, mode: Mode) -> Option<&Vec<String>> {
        match mode {
            Mode::Quick => self.quick.as_ref(),
            Mode::Fixed => self.fixed.as_ref(),
            Mode::Full => self.full.as_ref(),
        }
    }

    /// Why the experiment cannot be run; nothing where it can.
    pub(super) fn lacks(&self, mode: Mode, arguments: &ClaimsArguments) -> Option<String> {
        if self.sets(mode).is_none() {
            return Some(format!("no part of --{}", mode.name()));
        }
        if self.needs_data && arguments.data_dir.is_none() {
            return Some("needs --data-dir".to_owned());
        }
        (self.needs_published && arguments.published.is_none()).then(|| "needs --published".to_owned())
    }
}

/// The claims of a table: one for each value of the column `over`, or one.
fn claims_of(mut table: ClaimTable, experiments: &[Experiment]) -> Result<Vec<Claim>, ConfigError> {
    if !experiments.iter().any(|experiment| experiment.name == table.experiment) {
        let known: Vec<&str> = experiments.iter().map(|experiment| experiment.name.as_str()).collect();
        let problem = format!("there is no experiment `{}`; there are {}", table.experiment, known.join(", "));
        return Err(ConfigError(problem));
    }
    let score = named(&table.score)?;
    check(&table, score)?;
    let pair = "`over` names a column, and `expected` is then a table of its values; name both or neither";
    let claim = |table: &ClaimTable, id: String, says: String, cells: Selection, asks: Asks| {
        let (source, experiment, mean_over) = (table.source.clone(), table.experiment.clone(), table.mean_over.clone());
        Claim { id, says, source, experiment, score, cells, mean_over, asks }
    };
    match (table.over.take(), table.expected.take()) {
        (Some(column), Some(Expected::Over(values))) => {
            let tolerance = tolerance(&table)?;
            let mut claims = Vec::new();
            for (value, expected) in &values {
                let number = expected.as_float().or_else(|| expected.as_integer().map(|whole| whole as f64));
                let expected =
                    number.ok_or_else(|| ConfigError(format!("expected.{value} = {expected} is no number")))?;
                let (id, says) = (format!("{}.{value}", table.id), format!("{}, {column} {value}", table.says));
                let cells = table.cells.with(&column, value);
                claims.push(claim(&table, id, says, cells, Asks::Near { expected, tolerance }));
            }
            Ok(claims)
        }
        (None, Some(Expected::One(expected))) => {
            let asks = Asks::Near { expected, tolerance: tolerance(&table)? };
            Ok(vec![claim(&table, table.id.clone(), table.says.clone(), table.cells.clone(), asks)])
        }
        (None, None) => {
            let asks = asked(&mut table)?;
            Ok(vec![claim(&table, table.id.clone(), table.says.clone(), table.cells.clone(), asks)])
        }
        _ => Err(ConfigError(pair.to_owned())),
    }
}

/// Refuses what would be passed over, or would hold whatever is scored.
fn check(table: &ClaimTable, score: &Metric) -> Result<(), ConfigError> {
    let selections = [Some(&table.cells), table.better_than.as_ref(), table.no_better_than.as_ref()];
    if let Some(column) = selections.into_iter().flatten().find_map(Selection::unknown_column) {
        return Err(ConfigError(format!(
            "there is no column `{column}`; there are {}, and paths of swept fields",
            columns()
        )));
    }
    if let Some(field) = &table.mean_over
        && (!is_swept(field)
            || table.over.as_ref() == Some(field)
            || selections.into_iter().flatten().any(|cells| cells.names(field)))
    {
        let problem = format!("mean_over `{field}` has to be the path of a swept field, and nothing else may name it");
        return Err(ConfigError(problem));
    }
    let is_gain = table.better_than.is_some() || table.no_better_than.is_some();
    if is_gain && score.better == Better::Neither {
        return Err(ConfigError(format!("neither direction of `{}` is better, so there is no gain in it", score.name)));
    }
    if table.by.is_some() && !is_gain {
        return Err(ConfigError("`by` stands with `better_than` or `no_better_than`".to_owned()));
    }
    if table.tolerance.is_some() && table.expected.is_none() {
        return Err(ConfigError("`tolerance` stands with `expected`".to_owned()));
    }
    let numbers = [table.at_least, table.at_most, table.by];
    if numbers.iter().flatten().any(|number| !number.is_finite()) {
        return Err(ConfigError("a bound has to be a finite number".to_owned()));
    }
    Ok(())
}

/// What is asked where no value is expected.
fn asked(table: &mut ClaimTable) -> Result<Asks, ConfigError> {
    let by = table.by.take();
    match (table.at_least, table.at_most, table.better_than.take(), table.no_better_than.take()) {
        (Some(number), None, None, None) => Ok(Asks::AtLeast(number)),
        (None, Some(number), None, None) => Ok(Asks::AtMost(number)),
        (None, None, Some(others), None) => Ok(Asks::BetterThan { others, by: by.unwrap_or(0.0) }),
        (None, None, None, Some(others)) => Ok(Asks::NoBetterThan { others, by: by.unwrap_or(0.0) }),
        _ => Err(ConfigError(format!(
            "name one of `expected` with `tolerance`, `at_least`, `at_most`, `better_than` (with `by`) and `no_better_than`; \
             `where` and the others name columns: {}, or swept fields",
            columns()
        ))),
    }
}

fn tolerance(table: &ClaimTable) -> Result<Tolerance, ConfigError> {
    let number = table.tolerance.ok_or_else(|| ConfigError("`expected` needs a `tolerance`".to_owned()))?;
    let others = [table.at_least, table.at_most, table.by];
    if others.iter().any(Option::is_some) || table.better_than.is_some() || table.no_better_than.is_some() {
        return Err(ConfigError("`expected` stands with `tolerance` alone".to_owned()));
    }
    Tolerance::checked(number)
}
