//! One claim: which cells it is about, and what it asks of them.

use serde::Deserialize;
use toml::{Spanned, Table};
use veilgraph_evaluate::metric::{Better, Metric};
use veilgraph_runner::config::ConfigError;
use veilgraph_runner::config::fields::number;
use veilgraph_runner::config::selection::{Selection, columns, is_swept};

use super::file::Experiment;
use super::rows::in_rows;
use super::tolerance::{Tolerance, ToleranceText};
use crate::table::named;

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
pub(super) enum Expected {
    One(f64),
    Over(Table),
}

/// A table `[[claim]]` as it stands in the file.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ClaimTable {
    pub id: Spanned<String>,
    pub says: String,
    source: String,
    experiment: String,
    score: String,
    #[serde(default, rename = "where")]
    pub cells: Selection,
    pub over: Option<String>,
    mean_over: Option<String>,
    pub expected: Option<Expected>,
    /// Many such claims: cells and values of each on a line.
    pub rows: Option<String>,
    pub tolerance: Option<ToleranceText>,
    at_least: Option<f64>,
    at_most: Option<f64>,
    better_than: Option<Selection>,
    by: Option<f64>,
    no_better_than: Option<Selection>,
}

/// The claims of a table: those of each of its rows where it has rows.
///
/// # Errors
/// What the table asks cannot be judged, or it names what is not there.
pub(super) fn claims_of(table: &ClaimTable, experiments: &[Experiment]) -> Result<Vec<Claim>, ConfigError> {
    let mut claims = Vec::new();
    for table in in_rows(table)? {
        claims.extend(of_one(table, experiments)?);
    }
    Ok(claims)
}

/// The claims of a table without rows: one for each value of the column `over`, or one.
fn of_one(mut table: ClaimTable, experiments: &[Experiment]) -> Result<Vec<Claim>, ConfigError> {
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
                let expected = number(expected)
                    .ok_or_else(|| ConfigError(format!("expected.{value} = {expected} is no number")))?;
                let (id, says) =
                    (format!("{}.{value}", table.id.get_ref()), format!("{}, {column} {value}", table.says));
                let cells = table.cells.with(&column, value);
                claims.push(claim(&table, id, says, cells, Asks::Near { expected, tolerance }));
            }
            Ok(claims)
        }
        (None, Some(Expected::One(expected))) => {
            let asks = Asks::Near { expected, tolerance: tolerance(&table)? };
            Ok(vec![claim(&table, table.id.get_ref().clone(), table.says.clone(), table.cells.clone(), asks)])
        }
        (None, None) => {
            let asks = asked(&mut table)?;
            Ok(vec![claim(&table, table.id.get_ref().clone(), table.says.clone(), table.cells.clone(), asks)])
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
