//! Rows whose scores are means over a swept field, such as the seed of the split.

use std::collections::{BTreeMap, BTreeSet};

use veilgraph_evaluate::Cell;

use crate::commands::summary::Row;

/// One row for all rows that differ in `field` alone. Its score in a trial is the mean of theirs in this trial. Where each
/// of them has one trial, they are the trials of the mean, numbered by the values of the field: their spread is all that
/// can be known of its error.
pub(super) fn over(field: &str, rows: &[Row]) -> Vec<Row> {
    let values: BTreeSet<&str> = rows.iter().filter_map(|row| row.cell.choice(field)).collect();
    let place = |row: &Row| values.iter().position(|value| row.cell.choice(field) == Some(*value)).unwrap_or(0) as u32;
    let mut groups: BTreeMap<String, Vec<&Row>> = BTreeMap::new();
    for row in rows {
        groups.entry(rest(field, &row.cell)).or_default().push(row);
    }
    groups.into_values().map(|group| mean(field, &group, &place)).collect()
}

/// What tells a cell from others beside the field. What a score costs follows from that, but for rounding.
fn rest(field: &str, cell: &Cell) -> String {
    let Cell { experiment, dataset, alternative, mechanism, variant, model, .. } = cell;
    let choices: Vec<_> = cell.choices.iter().filter(|choice| choice.field != field).collect();
    format!("{:?} {choices:?}", [experiment, dataset, alternative, mechanism, variant, model])
}

/// The mean of rows, of which there is at least one.
fn mean(field: &str, rows: &[&Row], place: &dyn Fn(&Row) -> u32) -> Row {
    let mut cell = rows[0].cell.clone();
    cell.choices.retain(|choice| choice.field != field);
    let mut found: BTreeMap<&str, Vec<(u32, &BTreeMap<u32, f64>)>> = BTreeMap::new();
    for row in rows {
        for (metric, trials) in &row.scores {
            found.entry(metric).or_default().push((place(row), trials));
        }
    }
    let scores = found.into_iter().map(|(metric, all)| {
        let is_repeated = all.iter().any(|(_, trials)| trials.len() > 1);
        (metric.to_owned(), if is_repeated { of_equal_trials(&all) } else { as_trials(&all) })
    });
    Row { cell, setting: rows[0].setting.clone(), scores: scores.collect() }
}

/// The mean in every trial that all have.
fn of_equal_trials(all: &[(u32, &BTreeMap<u32, f64>)]) -> BTreeMap<u32, f64> {
    let shared: Vec<u32> = all[0].1.keys().copied().collect();
    let mean = |trial: u32| {
        let scores: Option<Vec<f64>> = all.iter().map(|(_, trials)| trials.get(&trial).copied()).collect();
        scores.map(|scores| (trial, scores.iter().sum::<f64>() / scores.len() as f64))
    };
    shared.into_iter().filter_map(mean).collect()
}

/// The one score of each, as trials.
fn as_trials(all: &[(u32, &BTreeMap<u32, f64>)]) -> BTreeMap<u32, f64> {
    all.iter().filter_map(|(place, trials)| Some((*place, *trials.values().next()?))).collect()
}
