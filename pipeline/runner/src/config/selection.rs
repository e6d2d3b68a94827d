//! Which cells of an experiment a check or a claim is about.

use serde::Deserialize;
use toml::{Table, Value};
use veilgraph_evaluate::Cell;

use super::fields::{leaves, number};
use crate::task::STAGES;

/// Columns of a table of scores with the values that are meant; a list stands for any of its values.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(transparent)]
pub struct Selection(Table);

/// Columns that every score has.
const COLUMNS: [&str; 8] =
    ["experiment", "dataset", "alternative", "mechanism", "variant", "model", "epsilon", "degree_fraction"];

impl Selection {
    /// Whether every named column of a cell has one of the values that are meant.
    #[must_use]
    pub fn has(&self, cell: &Cell) -> bool {
        leaves(&self.0, "").iter().all(|field| match self.at(field) {
            Some(Value::Array(values)) => values.iter().any(|value| is(cell, field, value)),
            Some(value) => is(cell, field, value),
            None => false,
        })
    }

    /// The same, of one value of a column.
    #[must_use]
    pub fn with(&self, column: &str, value: &str) -> Self {
        let mut table = self.0.clone();
        let value = value.parse().map_or_else(|_| Value::from(value), Value::Float);
        table.insert(column.to_owned(), value);
        Self(table)
    }

    fn at(&self, field: &str) -> Option<&Value> {
        let mut parts = field.split('.');
        let first = self.0.get(field).or_else(|| self.0.get(parts.next()?))?;
        if self.0.contains_key(field) { Some(first) } else { parts.try_fold(first, |value, part| value.get(part)) }
    }

    /// A column that no score can have, if one is named.
    #[must_use]
    pub fn unknown_column(&self) -> Option<String> {
        leaves(&self.0, "").into_iter().find(|field| !is_column(field))
    }

    /// Whether a column is named.
    #[must_use]
    pub fn names(&self, column: &str) -> bool {
        leaves(&self.0, "").iter().any(|field| field == column)
    }

    /// What is meant, as a phrase.
    #[must_use]
    pub fn words(&self) -> String {
        let named = |field: &String| {
            let value = self.at(field).map_or(String::new(), ToString::to_string);
            format!("{field} {}", value.replace('"', ""))
        };
        leaves(&self.0, "").iter().map(named).collect::<Vec<_>>().join(", ")
    }
}

/// Whether this is a column that a score may have.
#[must_use]
pub fn is_column(name: &str) -> bool {
    COLUMNS.contains(&name) || is_swept(name)
}

/// Whether this is the path of a field of a stage, which a config may sweep.
#[must_use]
pub fn is_swept(field: &str) -> bool {
    STAGES.iter().any(|stage| field.starts_with(&format!("{stage}.")))
}

/// Whether a column of the cell has this value. Swept fields are columns, by their path.
fn is(cell: &Cell, field: &str, value: &Value) -> bool {
    let text = value.as_str();
    let number = number(value);
    let close = |own: f64, number: f64| number.is_finite() && (own - number).abs() <= 1e-9 * number.abs();
    let same = |own: f64| number.is_some_and(|number| own == number || close(own, number));
    match field {
        "experiment" => text == Some(&cell.experiment),
        "dataset" => text == Some(&cell.dataset),
        "alternative" => text == Some(&cell.alternative),
        "mechanism" => text == Some(&cell.mechanism),
        "variant" => text == Some(&cell.variant),
        "model" => text == Some(&cell.model),
        "epsilon" => same(cell.epsilon),
        "degree_fraction" => same(cell.degree_fraction),
        field => cell.choice(field).is_some_and(|own| {
            own == text.map_or_else(|| value.to_string(), str::to_owned) || own.parse().is_ok_and(same)
        }),
    }
}

/// Names of the columns, for messages.
#[must_use]
pub fn columns() -> String {
    COLUMNS.join(", ")
}
