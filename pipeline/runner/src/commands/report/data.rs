//! The data of a figure as CSV and Parquet.

use std::fs::File;
use std::path::Path;

use anyhow::Context;
use polars::prelude::*;

use super::figures::{Figure, Point};

/// Writes `stem.csv` and `stem.parquet`.
pub(crate) fn write(figure: &Figure, stem: &Path) -> anyhow::Result<()> {
    let points: Vec<(&str, &Point)> =
        figure.lines.iter().flat_map(|line| line.points.iter().map(|point| (line.name.as_str(), point))).collect();
    let text = |of: &dyn Fn(&(&str, &Point)) -> String| points.iter().map(of).collect::<Vec<_>>();
    let number = |of: &dyn Fn(&Point) -> f64| points.iter().map(|(_, point)| of(point)).collect::<Vec<_>>();
    let maybe = |of: &dyn Fn(&Point) -> Option<f64>| points.iter().map(|(_, point)| of(point)).collect::<Vec<_>>();
    let trials: Vec<u32> = points.iter().map(|(_, point)| point.trials as u32).collect();
    let mut table = df!(
        "line" => text(&|(line, _)| (*line).to_owned()),
        "dataset" => text(&|(_, point)| point.cell.dataset.clone()),
        "mechanism" => text(&|(_, point)| point.cell.mechanism.clone()),
        "variant" => text(&|(_, point)| point.cell.variant.clone()),
        "model" => text(&|(_, point)| point.cell.model.clone()),
        "metric" => text(&|(_, point)| point.metric.to_owned()),
        "epsilon" => number(&|point| point.cell.epsilon),
        "epsilon_edge" => number(&|point| point.epsilon_edge),
        "degree_fraction" => maybe(&|point| point.cell.degree_fraction),
        "x" => number(&|point| point.x),
        "mean" => number(&|point| point.mean),
        "standard_deviation" => number(&|point| point.standard_deviation),
        "half_width" => number(&|point| point.half_width),
        "trials" => trials,
        "published_mean" => maybe(&|point| Some(point.published?.0)),
        "published_standard_deviation" => maybe(&|point| Some(point.published?.1)),
    )?;
    let csv = stem.with_extension("csv");
    let mut writer = csv::Writer::from_path(&csv).with_context(|| format!("{}: cannot write", csv.display()))?;
    writer.write_record(table.get_column_names().iter().map(|name| name.as_str()))?;
    for row in 0..table.height() {
        let values = table.columns().iter().map(|column| match column.get(row) {
            Ok(AnyValue::Null) | Err(_) => String::new(),
            Ok(AnyValue::String(text)) => text.to_owned(),
            Ok(value) => value.to_string(),
        });
        writer.write_record(values)?;
    }
    writer.flush()?;
    let parquet = stem.with_extension("parquet");
    let wrong = || format!("{}: cannot write", parquet.display());
    let file = File::create(&parquet).with_context(wrong)?;
    let written = ParquetWriter::new(file).finish(&mut table);
    anyhow::Context::with_context(written, wrong)?;
    Ok(())
}
