//! All scores of a run as one table with a column for every swept field: `auditor/runs/<config>/scores.parquet` and
//! `scores.csv`.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use anyhow::Context;
use polars::prelude::*;
use polars_io::parquet::write::ParquetWriter;
use veilgraph_evaluate::{Cell, Metrics, Score};
use veilgraph_runner::systems::CENTRAL;

use crate::new_files::cannot_write;

/// Writes the scores into `folder`; nothing where there are none.
pub(crate) fn write(metrics: &[Metrics], folder: &Path) -> anyhow::Result<()> {
    let rows: Vec<(&Metrics, &Score)> =
        metrics.iter().flat_map(|part| part.rows.iter().map(move |score| (part, score))).collect();
    if rows.is_empty() {
        return Ok(());
    }
    let text = |of: &dyn Fn(&Cell) -> String| rows.iter().map(|(part, _)| of(&part.cell)).collect::<Vec<_>>();
    let number = |of: &dyn Fn(&Cell) -> f64| rows.iter().map(|(part, _)| of(&part.cell)).collect::<Vec<_>>();
    let mut table = df!(
        "experiment" => text(&|cell| cell.experiment.clone()),
        "dataset" => text(&|cell| cell.dataset.clone()),
        "alternative" => text(&|cell| cell.alternative.clone()),
        "mechanism" => text(&|cell| cell.mechanism.clone()),
        "variant" => text(&|cell| cell.variant.clone()),
        "model" => text(&|cell| cell.model.clone()),
        "epsilon" => number(&|cell| cell.epsilon),
        "epsilon_edge" => number(&|cell| cell.epsilon_edge),
        "degree_fraction" => number(&|cell| cell.degree_fraction),
        "setting" => rows.iter().map(|(part, _)| part.setting.clone()).collect::<Vec<_>>(),
        "trial" => rows.iter().map(|(_, score)| score.trial).collect::<Vec<_>>(),
        "metric" => rows.iter().map(|(_, score)| score.metric.clone()).collect::<Vec<_>>(),
        "value" => rows.iter().map(|(_, score)| score.value).collect::<Vec<_>>(),
    )?;
    let cells: Vec<&Cell> = rows.iter().map(|(part, _)| &part.cell).collect();
    add_choices(&mut table, &cells)?;
    add_costs(&mut table, &cells)?;
    write_csv(&table, &folder.join("scores.csv"))?;
    write_parquet(&mut table, &folder.join("scores.parquet"))
}

/// Adds a column for every field that is swept in one of these cells and has none yet: numbers where all values are
/// numbers. A share of the budget that a rule decides is named by its rule, beside the share.
pub(crate) fn add_choices(table: &mut DataFrame, cells: &[&Cell]) -> anyhow::Result<()> {
    let choices = cells.iter().flat_map(|cell| &cell.choices).filter(|choice| choice.needs_column());
    let fields: BTreeSet<&str> = choices.map(|choice| choice.field.as_str()).collect();
    for field in fields {
        let values: Vec<Option<&str>> = cells.iter().map(|cell| cell.choice(field)).collect();
        let numbers: Option<Vec<Option<f64>>> = values
            .iter()
            .map(|value| value.map(|text| text.parse().ok()).map_or(Some(None), |number| number.map(Some)))
            .collect();
        let column = match numbers {
            Some(numbers) => Column::new(field.into(), numbers),
            None => Column::new(field.into(), values),
        };
        table.with_column(column)?;
    }
    Ok(())
}

/// Adds columns with the cost under every relation that one of these cells states, and whether the guarantee holds as
/// executed. A cell that states no cost under a relation has no value there: it may protect nothing, or release nothing.
pub(crate) fn add_costs(table: &mut DataFrame, cells: &[&Cell]) -> anyhow::Result<()> {
    let relations: BTreeSet<_> = cells.iter().flat_map(|cell| cell.costs.iter().map(|cost| cost.relation)).collect();
    for relation in relations {
        let costs: Vec<_> = cells.iter().map(|cell| cell.costs.iter().find(|cost| cost.relation == relation)).collect();
        let epsilon: Vec<Option<f64>> = costs.iter().map(|cost| cost.map(|cost| cost.epsilon)).collect();
        let dp_delta: Vec<Option<f64>> = costs.iter().map(|cost| cost.map(|cost| cost.dp_delta)).collect();
        table.with_column(Column::new(format!("cost.{relation}").into(), epsilon))?;
        if dp_delta.iter().flatten().any(|&delta| delta > 0.0) {
            table.with_column(Column::new(format!("dp_delta.{relation}").into(), dp_delta))?;
        }
        let claimed: Vec<Option<f64>> =
            costs.iter().map(|cost| cost.map(|cost| cost.claimed_epsilon.unwrap_or(cost.epsilon))).collect();
        // Papers on models of curators state costs that are compared with ours, equal or not.
        let is_claimed = costs.iter().flatten().any(|cost| cost.claimed_epsilon.is_some());
        if is_claimed || cells.iter().any(|cell| cell.mechanism == CENTRAL) {
            table.with_column(Column::new(format!("claimed.{relation}").into(), claimed))?;
        }
    }
    let sound: Vec<bool> = cells.iter().map(|cell| cell.costs.iter().all(|cost| cost.sound)).collect();
    table.with_column(Column::new("sound".into(), sound))?;
    Ok(())
}

/// A number with all its digits. A whole one has a decimal point, by which readers of CSV see that the column is not of whole
/// numbers.
pub(crate) fn written(number: f64) -> String {
    format!("{number:?}")
}

/// Writes a table as CSV; numbers keep all their digits.
pub(crate) fn write_csv(table: &DataFrame, path: &Path) -> anyhow::Result<()> {
    let wrong = || cannot_write(path);
    let mut writer = csv::Writer::from_path(path).with_context(wrong)?;
    writer.write_record(table.get_column_names().iter().map(|name| name.as_str())).with_context(wrong)?;
    for row in 0..table.height() {
        let values = table.columns().iter().map(|column| match column.get(row) {
            Ok(AnyValue::Null) | Err(_) => String::new(),
            Ok(AnyValue::String(text)) => text.to_owned(),
            Ok(AnyValue::StringOwned(text)) => text.to_string(),
            Ok(AnyValue::Float64(number)) => written(number),
            Ok(value) => value.to_string(),
        });
        writer.write_record(values).with_context(wrong)?;
    }
    writer.flush().with_context(wrong)
}

/// Writes a table as Parquet.
pub(crate) fn write_parquet(table: &mut DataFrame, path: &Path) -> anyhow::Result<()> {
    let wrong = || cannot_write(path);
    // The footer is written a byte at a time.
    let mut writer = BufWriter::new(File::create(path).with_context(wrong)?);
    anyhow::Context::with_context(ParquetWriter::new(&mut writer).finish(table), wrong)?;
    writer.flush().with_context(wrong)
}
