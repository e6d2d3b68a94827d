//! Rows that differ in one swept field as one row, in which every value of the field counts as a trial.

use std::collections::{BTreeMap, BTreeSet};

use veilgraph_runner::config::ConfigError;

use super::summary::Row;

/// One row for all values of a swept field, such as the seeds of splits. The score of "trial" k is the mean over the trials
/// of the row with the k-th value, so that intervals are about the values: trials at one value share what the value decides.
///
/// A row that does not depend on the field has the same score at each of its values.
///
/// # Errors
/// When nothing sweeps the field.
pub(super) fn pooled(rows: &[Row], field: &str) -> Result<Vec<Row>, ConfigError> {
    let mut values: Vec<&str> = Vec::new();
    for value in rows.iter().filter_map(|row| row.cell.choice(field)) {
        if !values.contains(&value) {
            values.push(value);
        }
    }
    if values.is_empty() {
        return Err(ConfigError(format!("{field}: nothing sweeps it{}", swept(rows))));
    }
    let mut pooled: Vec<Row> = Vec::new();
    for row in rows {
        let own = row.cell.choice(field);
        let mut cell = row.cell.clone();
        cell.choices.retain(|choice| choice.field != field);
        let place = pooled.iter().position(|known| known.cell == cell).unwrap_or(pooled.len());
        if place == pooled.len() {
            let setting = row.setting.clone();
            pooled.push(Row { cell, setting, scores: BTreeMap::new(), missing: BTreeMap::new() });
        }
        pooled[place].missing.extend(row.missing.clone());
        // Each value may have chosen a setting of its own.
        if pooled[place].setting != row.setting {
            pooled[place].setting.clear();
        }
        for metric in row.scores.keys() {
            let Some(summary) = row.summary(metric) else { continue };
            let scores = pooled[place].scores.entry(metric.clone()).or_default();
            for (number, value) in (0..).zip(&values) {
                if own.is_none_or(|own| own == *value) {
                    scores.insert(number, summary.mean);
                }
            }
        }
    }
    Ok(pooled)
}

/// Which fields there are to pool over, in words.
fn swept(rows: &[Row]) -> String {
    let choices = rows.iter().flat_map(|row| &row.cell.choices);
    let fields: BTreeSet<&str> = choices.map(|choice| choice.field.as_str()).collect();
    if fields.is_empty() {
        return ", nor anything else".to_owned();
    }
    format!("; choose among {}", fields.into_iter().collect::<Vec<_>>().join(", "))
}
