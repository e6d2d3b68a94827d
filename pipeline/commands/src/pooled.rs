//! Rows that differ in one swept field as one row, in which every value of the field counts as a trial.

use std::collections::{BTreeMap, BTreeSet};

use veilgraph_runner::config::ConfigError;

use super::summary::Row;

/// One row for all values of a swept field, such as the seeds of splits. The score of "trial" k is the mean over the trials
/// of the row with the k-th value, so that intervals are about the values: trials at one value share what the value decides.
///
/// A row that does not depend on the field keeps its own trials: copies of its mean, one for each value, would be no independent
/// trials. Its trials are numbered behind the values, so that none is compared with a value.
///
/// # Errors
/// When nothing sweeps the field, or when it has a column of its own, so that its values are told apart nevertheless.
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
    if rows.iter().flat_map(|row| &row.cell.choices).any(|choice| choice.field == field && choice.has_column()) {
        let problem = "tables have a column for it, so that its values stay apart; pool over a field without one, such as \
                       ingest.split.seed";
        return Err(ConfigError(format!("{field}: {problem}")));
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
        for (metric, of_trials) in &row.scores {
            let Some(summary) = row.summary(metric) else { continue };
            let scores = pooled[place].scores.entry(metric.clone()).or_default();
            match own.map(|own| (0..).zip(&values).find(|(_, value)| own == **value)) {
                Some(Some((number, _))) => _ = scores.insert(number, summary.mean),
                Some(None) => {}
                None => scores.extend(of_trials.iter().map(|(trial, score)| (trial + values.len() as u32, *score))),
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

#[cfg(test)]
mod tests {
    use veilgraph_evaluate::{Cell, Choice};

    use super::*;

    fn row(choice: Option<(&str, &str)>, scores: &[f64]) -> Row {
        let choice = choice.map(|(field, value)| Choice {
            field: field.to_owned(),
            name: field.to_owned(),
            value: value.to_owned(),
        });
        let cell = Cell { choices: choice.into_iter().collect(), ..Cell::default() };
        let scores = BTreeMap::from([("accuracy".to_owned(), (0..).zip(scores.iter().copied()).collect())]);
        Row { cell, setting: String::new(), scores, missing: BTreeMap::new() }
    }

    #[test]
    fn values_of_a_field_are_trials_and_copies_are_none() {
        let seed = |value: &'static str| Some(("ingest.split.seed", value));
        let mut floor = row(None, &[0.1, 0.2]);
        floor.cell.mechanism = "no-links".to_owned();
        let rows = [row(seed("1"), &[0.5, 0.7]), row(seed("2"), &[0.8, 0.8]), floor];
        let pooled = pooled(&rows, "ingest.split.seed").expect("swept");
        let scores: Vec<Vec<f64>> = pooled.iter().map(|row| row.values("accuracy")).collect();
        assert_eq!(scores, [vec![0.6, 0.8], vec![0.1, 0.2]]);
        let shared = pooled[0].difference(&pooled[1], &veilgraph_evaluate::metric::ACCURACY);
        assert!(shared.is_none(), "a trial is no value");
    }

    #[test]
    fn a_field_with_a_column_is_refused() {
        let rows = [row(Some(("construct.variant", "hard")), &[0.5]), row(Some(("construct.variant", "soft")), &[0.6])];
        let problem = pooled(&rows, "construct.variant").expect_err("refused").to_string();
        assert!(problem.contains("tables have a column for it"), "{problem}");
        assert!(pooled(&rows, "train.hidden").is_err());
    }
}
