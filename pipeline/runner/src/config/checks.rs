//! `[[check]]`: what the scores and artifacts of an experiment have to say.

use serde::Deserialize;
use toml::{Table, Value};
use veilgraph_evaluate::metric::{self, Better, Metric, Unit};

use super::ConfigError;
use super::fields::number;
use super::selection::{Selection, columns};
use super::source::{Source, typed};
use crate::nearest::did_you_mean;
use crate::plan::rounded;

/// One check.
#[derive(Clone, Debug)]
pub struct Check {
    /// What it is called.
    pub name: String,
    /// What is looked at, and what it has to be.
    pub asks: Asks,
    /// Whether the run fails with it.
    pub is_fatal: bool,
}

/// What is looked at, and what it has to be.
#[derive(Clone, Debug)]
pub enum Asks {
    /// A score of the cells that are selected.
    Score {
        /// The score.
        score: &'static Metric,
        /// The cells.
        cells: Selection,
        /// What the score has to be.
        rule: Rule,
    },
    /// The one number that a query finds in every artifact of a name which the server may see.
    Artifact {
        /// Name of the artifacts.
        artifact: String,
        /// The query, in SQL.
        query: String,
        /// What the number has to be.
        bound: Bound,
    },
}

/// A bound on a number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Bound {
    /// No less.
    AtLeast(f64),
    /// No more.
    AtMost(f64),
}

/// What is asked of a score.
#[derive(Clone, Debug, PartialEq)]
pub enum Rule {
    /// A number, in the unit of tables.
    Bound(Bound),
    /// No worse than the best floor that needs no link.
    NoWorseThanFloor,
    /// No worse at a larger budget.
    NoWorseWithEpsilon,
    /// Within a share of another score of the same cell.
    Near {
        /// The other score.
        other: &'static Metric,
        /// The share of it that the two may differ by.
        within: f64,
    },
}

/// All tables `[[check]]` of a file.
#[derive(Deserialize)]
struct Checks {
    check: Vec<CheckTable>,
}

/// One of them as it stands there.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CheckTable {
    name: Option<String>,
    score: Option<String>,
    artifact: Option<String>,
    sql: Option<String>,
    #[serde(default, rename = "where")]
    cells: Selection,
    at_least: Option<Value>,
    at_most: Option<f64>,
    no_worse_with: Option<String>,
    near: Option<String>,
    within: Option<f64>,
    #[serde(default)]
    fail: bool,
}

/// The word for the best floor.
const FLOOR: &str = "floor";
/// The word for budgets.
const EPSILON: &str = "epsilon";

/// The tables `[[check]]` of a file.
pub(super) fn taken_from(table: &mut Table, source: &Source) -> Result<Vec<Check>, ConfigError> {
    let Some(tables) = table.remove("check") else { return Ok(Vec::new()) };
    let tables = Table::from_iter([("check".to_owned(), tables)]);
    let tables = typed::<Checks>(tables, "", source)?.check;
    let error = |at: usize| move |problem: &str| source.at_item("check", at, problem);
    tables.into_iter().enumerate().map(|(at, table)| checked(table, &error(at))).collect()
}

/// Says what is wrong with a `[[check]]`, and where it stands.
type Wrong<'a> = dyn Fn(&str) -> ConfigError + 'a;

fn checked(table: CheckTable, wrong: &Wrong) -> Result<Check, ConfigError> {
    match (&table.score, &table.artifact, &table.sql) {
        (Some(score), None, None) => {
            let score = self::score(score, wrong)?;
            of_score(table, score, wrong)
        }
        (None, Some(artifact), Some(query)) => {
            let (artifact, query) = (artifact.clone(), query.clone());
            of_artifact(table, artifact, query, wrong)
        }
        _ => {
            let problem = "every [[check]] needs a score, or an artifact with sql: a query of one number";
            Err(wrong(problem))
        }
    }
}

fn of_artifact(table: CheckTable, artifact: String, query: String, wrong: &Wrong) -> Result<Check, ConfigError> {
    let CheckTable { no_worse_with, near, within, cells, .. } = &table;
    let is_about_scores =
        no_worse_with.is_some() || near.is_some() || within.is_some() || *cells != Selection::default();
    let bound = match (&table.at_least, table.at_most) {
        (Some(value), None) => finite(value).map(Bound::AtLeast),
        (None, Some(number)) if number.is_finite() => Some(Bound::AtMost(number)),
        _ => None,
    };
    let Some(bound) = bound.filter(|_| !is_about_scores) else {
        return Err(wrong("a [[check]] of an artifact needs one of at_least and at_most, a number, and no more"));
    };
    let name = table.name.unwrap_or_else(|| format!("`{query}` of {artifact} {}", bound.words()));
    Ok(Check { name, asks: Asks::Artifact { artifact, query, bound }, is_fatal: table.fail })
}

fn of_score(table: CheckTable, score: &'static Metric, wrong: &Wrong) -> Result<Check, ConfigError> {
    if let Some(column) = table.cells.unknown_column() {
        let problem = format!("where names no column `{column}`; there are {}, and paths of swept fields", columns());
        return Err(wrong(&problem));
    }
    let one_rule = "every [[check]] of a score needs one of at_least (a number or \"floor\"), at_most, no_worse_with = \
                    \"epsilon\", and near (a score) with within (a share)";
    let CheckTable { at_least, at_most, no_worse_with, near, within, .. } = &table;
    let rule = match (at_least, at_most, no_worse_with.as_deref(), near, within) {
        (Some(Value::String(word)), None, None, None, None) if word == FLOOR => Rule::NoWorseThanFloor,
        (Some(value), None, None, None, None) => {
            let problem = || wrong(&format!("at_least = {value} is no number and not \"floor\""));
            Rule::Bound(Bound::AtLeast(finite(value).ok_or_else(problem)?))
        }
        (None, Some(number), None, None, None) if number.is_finite() => Rule::Bound(Bound::AtMost(*number)),
        (None, None, Some(EPSILON), None, None) => Rule::NoWorseWithEpsilon,
        (None, None, None, Some(other), Some(within)) if *within >= 0.0 && within.is_finite() => {
            Rule::Near { other: self::score(other, wrong)?, within: *within }
        }
        _ => return Err(wrong(one_rule)),
    };
    if matches!(rule, Rule::NoWorseThanFloor | Rule::NoWorseWithEpsilon) && score.better == Better::Neither {
        return Err(wrong(&format!("neither direction of `{}` is better; give it a number", score.name)));
    }
    let words = match &rule {
        Rule::Bound(bound) => bound.words(),
        Rule::NoWorseThanFloor => "no worse than the best floor".to_owned(),
        Rule::NoWorseWithEpsilon => "no worse with a larger epsilon".to_owned(),
        Rule::Near { other, within } => format!("within {} % of {}", 100.0 * within, other.heading),
    };
    let name = table.name.unwrap_or_else(|| format!("{} {words}", score.heading));
    Ok(Check { name, asks: Asks::Score { score, cells: table.cells, rule }, is_fatal: table.fail })
}

impl Check {
    /// What is strange about a bound that was written as a share, where the score is in per cent.
    pub(crate) fn doubt(&self) -> Option<String> {
        let Asks::Score { score, rule: Rule::Bound(Bound::AtLeast(number) | Bound::AtMost(number)), .. } = &self.asks
        else {
            return None;
        };
        let is_share = score.unit == Unit::Percent && *number > 0.0 && *number <= 1.0;
        let said = || {
            let percent = rounded(100.0 * number);
            format!(
                "[[check]] {}: `{}` is in per cent, so that the bound is {number} %; write {percent} for {percent} %",
                self.name, score.name
            )
        };
        is_share.then(said)
    }
}

impl Bound {
    /// Whether a number keeps it.
    #[must_use]
    pub fn holds(self, value: f64) -> bool {
        match self {
            Self::AtLeast(bound) => value >= bound,
            Self::AtMost(bound) => value <= bound,
        }
    }

    fn words(self) -> String {
        match self {
            Self::AtLeast(bound) => format!("at least {bound}"),
            Self::AtMost(bound) => format!("at most {bound}"),
        }
    }
}

/// A finite number, whole or not.
fn finite(value: &Value) -> Option<f64> {
    number(value).filter(|number| number.is_finite())
}

fn score(name: &str, wrong: &Wrong) -> Result<&'static Metric, ConfigError> {
    score_named(name).map_err(|problem| wrong(&problem))
}

/// The score of this name; else what is wrong with it.
///
/// # Errors
/// When there is no such score: the message names one that is spelled alike, if there is any.
pub fn score_named(name: &str) -> Result<&'static Metric, String> {
    metric::named(name).ok_or_else(|| {
        let known: Vec<&str> = metric::METRICS.iter().map(|metric| metric.name).collect();
        let hint = did_you_mean(name, &known);
        format!("there is no score `{name}`{hint} (docs/config.md, section [evaluate], lists all)")
    })
}
