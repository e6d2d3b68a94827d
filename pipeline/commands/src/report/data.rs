//! The data of a figure as CSV and Parquet.

use std::path::Path;

use polars::prelude::*;
use veilgraph_evaluate::Cell;

use super::figure::{Figure, Point};
use crate::scores::{add_choices, add_costs, write_csv, write_parquet};

/// Writes `stem.csv` and `stem.parquet`, with columns for every swept field and every cost.
pub(crate) fn write(figure: &Figure, stem: &Path) -> anyhow::Result<()> {
    let points: Vec<(&str, &Point)> =
        figure.lines.iter().flat_map(|line| line.points.iter().map(|point| (line.name.as_str(), point))).collect();
    let text = |of: &dyn Fn(&Cell) -> &str| points.iter().map(|(_, point)| of(&point.cell)).collect::<Vec<_>>();
    let number = |of: &dyn Fn(&Point) -> f64| points.iter().map(|(_, point)| of(point)).collect::<Vec<_>>();
    let maybe = |of: &dyn Fn(&Point) -> Option<f64>| points.iter().map(|(_, point)| of(point)).collect::<Vec<_>>();
    let mut table = df!(
        "line" => points.iter().map(|(line, _)| *line).collect::<Vec<_>>(),
        "dataset" => text(&|cell| &cell.dataset),
        "alternative" => text(&|cell| &cell.alternative),
        "mechanism" => text(&|cell| &cell.mechanism),
        "variant" => text(&|cell| &cell.variant),
        "model" => text(&|cell| &cell.model),
        "metric" => points.iter().map(|(_, point)| point.metric.name).collect::<Vec<_>>(),
        "unit" => points.iter().map(|(_, point)| point.metric.unit.words()).collect::<Vec<_>>(),
        "epsilon" => number(&|point| point.cell.epsilon),
        "epsilon_edge" => number(&|point| point.cell.epsilon_edge),
        "degree_fraction" => number(&|point| point.cell.degree_fraction),
        "x" => number(&|point| point.x),
        "mean" => number(&|point| point.mean),
        "standard_deviation" => number(&|point| point.standard_deviation),
        "half_width" => number(&|point| point.half_width),
        "trials" => points.iter().map(|(_, point)| point.trials as u32).collect::<Vec<_>>(),
        "published_mean" => maybe(&|point| Some(point.published?.0)),
        "published_standard_deviation" => maybe(&|point| Some(point.published?.1)),
        "published_by_same_protocol" => points
            .iter()
            .map(|(_, point)| point.published.map(|_| point.is_comparable))
            .collect::<Vec<_>>(),
    )?;
    let cells: Vec<&Cell> = points.iter().map(|(_, point)| &point.cell).collect();
    add_choices(&mut table, &cells)?;
    add_costs(&mut table, &cells)?;
    write_csv(&table, &stem.with_extension("csv"))?;
    write_parquet(&mut table, &stem.with_extension("parquet"))
}
