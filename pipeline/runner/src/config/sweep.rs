//! A table whose lists are swept over, as cells; and each cell as typed parameters.

use std::collections::BTreeMap;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value as Json;
use toml::{Table, Value};

use super::fields::{leaves, plain, swept_fields, with};
use super::source::{WrongValue, read_value, typed};
use super::{Config, ConfigError};
use crate::nearest::nearest;

/// A swept field with one of its values. Nobody parses what is printed of it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct SweptField {
    /// The field with its tables, such as `train.hidden`.
    pub field: String,
    /// The value.
    pub value: Value,
    /// The end of the field's name that tells it from other swept fields.
    pub short: String,
}

/// One combination of the lists of a table.
#[derive(Clone, Debug)]
pub(crate) struct SweptCell<P> {
    /// The swept fields on which the parameters depend.
    pub choices: Vec<SweptField>,
    pub params: P,
}

/// The combinations of the lists of a table.
struct Combinations {
    /// The choices on which the parameters of each depend; `None` where an earlier combination has the same parameters.
    choices: Vec<Option<Vec<SweptField>>>,
    /// Fields, without the table's path, that no parameters hold.
    unread: Vec<String>,
}

/// A list in a table.
struct Axis {
    path: Vec<String>,
    values: Vec<Value>,
}

impl SweptField {
    /// As a part of a folder's name.
    pub(crate) fn label(&self) -> String {
        // No `=`: Polars would take `trial=0` in a path for a partition and add a column.
        format!("{}-{}", self.short, plain(&self.value))
    }

    /// The value as a config writes it, texts without quotes.
    pub(crate) fn text(&self) -> String {
        match &self.value {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        }
    }

    /// Path of the stage's table.
    pub(crate) fn stage(&self) -> &str {
        self.field.split('.').next().unwrap_or(&self.field)
    }
}

impl Config {
    /// The values of a field: one, a list of several, or none.
    pub(crate) fn values(&self, table: &str, field: &str) -> Vec<Value> {
        match self.table(table).get(field) {
            Some(Value::Array(values)) => values.clone(),
            Some(value) => vec![value.clone()],
            None => Vec::new(),
        }
    }

    /// A choice of `value` for a field.
    pub(crate) fn choice(&self, table: &str, field: &str, value: Value) -> SweptField {
        let path = format!("{table}.{field}");
        SweptField { short: self.short(&path), field: path, value }
    }

    /// The cells of the table at `path`: one for each combination of its lists, as parameters of type `P`.
    ///
    /// `grid` names the fields whose lists belong to one cell. `prepare` completes an untyped cell, `adjust` typed
    /// parameters. What makes no difference is not swept: a field on which the parameters of a cell do not depend is no
    /// choice of that cell, and equal cells are one. Fields that `P` does not know are passed over and returned beside the cells,
    /// without the table's path.
    pub(crate) fn cells<P: Serialize + DeserializeOwned>(
        &self,
        path: &str,
        grid: &[&str],
        prepare: impl Fn(Table) -> Result<Table, ConfigError>,
        adjust: impl Fn(&mut P) -> Result<(), String>,
    ) -> Result<(Vec<SweptCell<P>>, Vec<String>), ConfigError> {
        let mut all: Vec<P> = Vec::new();
        let mut take = |cell: Table| {
            let mut params: P = self.typed_as_far_as_known(cell, path)?;
            adjust(&mut params).map_err(|problem| self.source.at(path, &problem))?;
            let json = canonical(&written(&params));
            all.push(params);
            Ok(json)
        };
        let Combinations { choices, unread } = self.combinations(path, grid, &prepare, &mut take)?;
        let cells = all.into_iter().zip(choices);
        let distinct = cells.filter_map(|(params, choices)| choices.map(|choices| SweptCell { choices, params }));
        Ok((distinct.collect(), unread))
    }

    /// Gives each combination of the lists of a table to `take`, which returns its parameters.
    fn combinations(
        &self,
        path: &str,
        grid: &[&str],
        prepare: &dyn Fn(Table) -> Result<Table, ConfigError>,
        take: &mut dyn FnMut(Table) -> Result<Json, ConfigError>,
    ) -> Result<Combinations, ConfigError> {
        let table = self.table(path);
        let axes = axes(&table, grid);
        if let Some(empty) = axes.iter().find(|axis| axis.values.is_empty()) {
            let field = format!("{path}.{}", empty.path.join("."));
            return Err(self.source.at(&field, "an empty list sweeps over nothing"));
        }
        let mut all: Vec<(Vec<usize>, String)> = Vec::new();
        let mut held: Vec<Json> = Vec::new();
        // A long list is not copied for each of its values.
        let shortest = axes.iter().fold(table.clone(), |table, axis| with(table, &axis.path, axis.values[0].clone()));
        for position in positions(&axes) {
            let mut cell = shortest.clone();
            for (axis, &at) in axes.iter().zip(&position) {
                cell = with(cell, &axis.path, axis.values[at].clone());
            }
            let json = take(prepare(cell)?)?;
            all.push((position, json.to_string()));
            held.push(json);
        }
        let mut unread = leaves(&table, "");
        unread.retain(|field| !held.iter().any(|params| holds(params, field)));
        Ok(Combinations { choices: self.distinct(path, &axes, &all), unread })
    }

    /// Drops choices that make no difference, and all but the first of equal cells.
    fn distinct(&self, path: &str, axes: &[Axis], all: &[(Vec<usize>, String)]) -> Vec<Option<Vec<SweptField>>> {
        // For each axis and each choice on all other axes: the parameters, if they are the same along the whole axis.
        let mut along: BTreeMap<(usize, Vec<usize>), Option<&String>> = BTreeMap::new();
        let line = |axis: usize, position: &[usize]| {
            let mut others = position.to_vec();
            others[axis] = 0;
            (axis, others)
        };
        for (position, written) in all {
            for axis in 0..axes.len() {
                let same = along.entry(line(axis, position)).or_insert(Some(written));
                if *same != Some(written) {
                    *same = None;
                }
            }
        }
        let mut known = std::collections::BTreeSet::new();
        let mut cells = Vec::new();
        for (position, written) in all {
            let matters = |axis: &usize| along[&line(*axis, position)].is_none();
            let choices = (0..axes.len()).filter(matters).map(|axis| {
                let field = axes[axis].path.join(".");
                self.choice(path, &field, axes[axis].values[position[axis]].clone())
            });
            cells.push(if known.insert(written) { Some(choices.collect()) } else { None });
        }
        cells
    }

    /// Types a table; fields that `P` does not know are left out, unless they are a slip of the pen.
    fn typed_as_far_as_known<P: DeserializeOwned>(&self, mut table: Table, path: &str) -> Result<P, ConfigError> {
        loop {
            let wrong = match typed(table.clone(), path, &self.source) {
                Ok(params) => return Ok(params),
                Err(error) => error,
            };
            let Some((field, known)) = unknown_field::<P>(&table) else { return Err(wrong) };
            let known: Vec<&str> = known.iter().map(String::as_str).collect();
            if nearest(&field, &known).is_some() || table.remove(&field).is_none() {
                return Err(wrong);
            }
        }
    }

    /// The end of a field's path that no other swept field of this config has.
    fn short(&self, path: &str) -> String {
        let swept = swept_fields(&self.tables, "");
        let parts: Vec<&str> = path.split('.').collect();
        let ends_alike = |end: &str| {
            swept.iter().any(|other| other != path && (other == end || other.ends_with(&format!(".{end}"))))
        };
        let ends = (0..parts.len()).rev().map(|from| parts[from..].join("."));
        ends.into_iter().find(|end| !ends_alike(end)).unwrap_or_else(|| path.to_owned())
    }
}

/// The fields that `P` knows, as its own error message lists them.
pub(crate) fn fields_of<P: DeserializeOwned>() -> Vec<String> {
    let nothing = Table::from_iter([("?".to_owned(), Value::Boolean(true))]);
    unknown_field::<P>(&nothing).map_or_else(Vec::new, |(_, known)| known)
}

/// A field at the top of `table` that `P` does not know, with those that it knows.
fn unknown_field<P: DeserializeOwned>(table: &Table) -> Option<(String, Vec<String>)> {
    unknown_field_of(table, &read_value::<P>(Value::Table(table.clone())).err()?)
}

fn unknown_field_of(table: &Table, error: &WrongValue) -> Option<(String, Vec<String>)> {
    let message = error.inner().message();
    let quoted: Vec<String> = message.split('`').skip(1).step_by(2).map(str::to_owned).collect();
    let (field, known) = quoted.split_first()?;
    // A field that a nested table does not know is a mistake; only those of this table itself are passed over.
    let is_here = message.starts_with("unknown field") && table.contains_key(field);
    is_here.then(|| (field.clone(), known.to_vec()))
}

/// Parameters as TOML, as they stand in a task.
pub(crate) fn written<P: Serialize>(params: &P) -> Value {
    Value::try_from(params).unwrap_or_else(|error| unreachable!("parameters are plain data: {error}"))
}

/// Parameters as JSON, as they stand in keys. JSON has no infinity, so such numbers become text.
pub(crate) fn canonical(value: &Value) -> Json {
    match value {
        Value::Float(number) => {
            serde_json::Number::from_f64(*number).map_or_else(|| number.to_string().into(), Json::Number)
        }
        Value::Integer(number) => (*number).into(),
        Value::Boolean(truth) => (*truth).into(),
        Value::String(text) => text.clone().into(),
        Value::Datetime(time) => time.to_string().into(),
        Value::Array(values) => values.iter().map(canonical).collect(),
        Value::Table(table) => table.iter().map(|(key, value)| (key.clone(), canonical(value))).collect(),
    }
}

/// Whether parameters hold a dotted field.
fn holds(params: &Json, field: &str) -> bool {
    field.split('.').try_fold(params, |value, part| value.get(part)).is_some()
}

/// Every list of a table with the path of its field, depth first. `grid` names fields of the table itself.
fn axes(table: &Table, grid: &[&str]) -> Vec<Axis> {
    let mut found = Vec::new();
    for (key, value) in table {
        match value {
            Value::Array(values) if !grid.contains(&key.as_str()) => {
                found.push(Axis { path: vec![key.clone()], values: values.clone() });
            }
            Value::Table(inner) => found.extend(axes(inner, &[]).into_iter().map(|mut axis| {
                axis.path.insert(0, key.clone());
                axis
            })),
            _ => {}
        }
    }
    found
}

/// Every combination of positions in these lists, the last varying fastest.
fn positions(axes: &[Axis]) -> Vec<Vec<usize>> {
    let mut all = vec![Vec::new()];
    for axis in axes {
        let longer = |position: Vec<usize>| (0..axis.values.len()).map(move |at| [position.as_slice(), &[at]].concat());
        all = all.into_iter().flat_map(longer).collect();
    }
    all
}
