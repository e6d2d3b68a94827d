//! The plots of a report, as SVG.

use std::collections::BTreeMap;

use anyhow::anyhow;
use plotters::coord::Shift;
use plotters::prelude::*;

use crate::commands::summary::Row;

/// A plot with its caption.
pub(crate) struct Plot {
    pub title: String,
    pub svg: String,
}

/// A line of a plot: `(x, mean, low, high)`.
type Series = Vec<(f64, f64, f64, f64)>;

/// Of a plot, without the names of its lines beside it.
const SIZE: (u32, u32) = (560, 370);
const NAMES_WIDTH: u32 = 290;
const COLOURS: [RGBColor; 8] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(230, 159, 0),
    RGBColor(86, 180, 233),
    RGBColor(90, 90, 90),
    RGBColor(160, 120, 0),
];

/// Accuracy, link error, ranking of links and density against epsilon, for each dataset.
pub(crate) fn all(rows: &[Row]) -> anyhow::Result<Vec<Plot>> {
    let mut datasets: Vec<&String> = rows.iter().map(|row| &row.dataset).collect();
    datasets.sort();
    datasets.dedup();
    let mut plots = Vec::new();
    for dataset in datasets {
        let mine: Vec<&Row> = rows.iter().filter(|row| row.dataset == *dataset).collect();
        let accuracy = series(&mine, &[("accuracy", "")], 100.0);
        let errors = [("mae", "MAE"), ("expected_mae", "MAE the model expects"), ("mae_bound", "bound (theorem 4.4)")];
        // Beside each other, estimates are told apart by their errors alone.
        let is_compared = mine.iter().any(|row| row.estimate != mine[0].estimate);
        let error = series(&mine, if is_compared { &[("mae", "")] } else { &errors }, 1.0);
        let precision = series(&mine, &[("average_precision", "")], 1.0);
        let density = series(&mine, &[("graph_entries", "entries"), ("graph_true_positives", "true positives")], 1.0);
        for (title, unit, lines, is_log) in [
            ("Accuracy of test nodes", "%", accuracy, false),
            ("Mean absolute error of link probabilities", "MAE", error, true),
            ("Average precision of link probabilities", "average precision", precision, false),
            ("Links that the graph keeps, in both directions", "entries", density, false),
        ] {
            if !lines.is_empty() {
                plots.push(Plot { title: format!("{title}: {dataset}"), svg: draw(unit, &lines, is_log)? });
            }
        }
    }
    Ok(plots)
}

/// Means with 95 % intervals by epsilon, one line per score, graph, model and fraction.
fn series(rows: &[&Row], scores: &[(&str, &str)], factor: f64) -> BTreeMap<String, Series> {
    // A fraction that follows from the rest need not be said.
    let rest = |row: &Row| (row.estimate.clone(), row.variant.clone(), row.model.clone(), row.epsilon.to_bits());
    let mut fractions = BTreeMap::new();
    let is_swept =
        rows.iter().any(|row| *fractions.entry(rest(row)).or_insert(row.degree_fraction) != row.degree_fraction);
    let mut lines: BTreeMap<String, Series> = BTreeMap::new();
    for row in rows {
        for (score, label) in scores {
            let Some(summary) = row.summary(score) else { continue };
            let fraction = if is_swept { format!("fraction {}", row.degree_fraction) } else { String::new() };
            let parts = [row.estimate.as_str(), &row.variant, &row.model, label, &fraction];
            let name = parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ");
            let half = if summary.half_width.is_finite() { summary.half_width } else { 0.0 };
            let (mean, half) = (factor * summary.mean, factor * half);
            lines.entry(name).or_default().push((row.epsilon, mean, mean - half, mean + half));
        }
    }
    for line in lines.values_mut() {
        line.sort_by(|a, b| a.0.total_cmp(&b.0));
    }
    lines
}

fn draw(unit: &str, lines: &BTreeMap<String, Series>, is_log: bool) -> anyhow::Result<String> {
    let mut svg = String::new();
    {
        let area = SVGBackend::with_string(&mut svg, (SIZE.0 + NAMES_WIDTH, SIZE.1)).into_drawing_area();
        let points = || lines.values().flatten();
        let extent = |values: Vec<f64>| {
            values.into_iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| (low.min(v), high.max(v)))
        };
        let (left, right) = extent(points().map(|point| point.0).collect());
        let margin = if right > left { (right - left) * 0.04 } else { 0.5 };
        let x = left - margin..right + margin;
        let (low, high) = extent(points().flat_map(|point| [point.1, point.2, point.3]).collect());
        if is_log {
            let least = points().map(|point| point.1).filter(|&mean| mean > 0.0).fold(f64::INFINITY, f64::min);
            chart(&area, unit, x, (least / 1.5..high * 1.5).log_scale(), lines, least / 1.5)?;
        } else {
            let pad = ((high - low) * 0.06).max(high.abs() * 0.005).max(1e-12);
            chart(&area, unit, x, low - pad..high + pad, lines, f64::NEG_INFINITY)?;
        }
        area.present().map_err(|error| anyhow!("cannot draw a plot: {error}"))?;
    }
    Ok(svg)
}

fn chart<Y>(
    area: &DrawingArea<SVGBackend, Shift>,
    unit: &str,
    x: std::ops::Range<f64>,
    y: Y,
    lines: &BTreeMap<String, Series>,
    floor: f64,
) -> anyhow::Result<()>
where
    Y: plotters::coord::ranged1d::AsRangedCoord<Value = f64>,
    Y::CoordDescType: plotters::coord::ranged1d::ValueFormatter<f64>,
{
    let wrong = |error: String| anyhow!("cannot draw a plot: {error}");
    area.fill(&WHITE).map_err(|error| wrong(error.to_string()))?;
    let (area, names) = area.split_horizontally(SIZE.0);
    let mut chart = ChartBuilder::on(&area)
        .margin(12)
        .x_label_area_size(40)
        .y_label_area_size(70)
        .build_cartesian_2d(x, y)
        .map_err(|error| wrong(error.to_string()))?;
    let number = |value: &f64| {
        if *value != 0.0 && value.abs() < 0.01 {
            format!("{value:.0e}")
        } else {
            ((value * 1e6).round() / 1e6).to_string()
        }
    };
    chart
        .configure_mesh()
        .x_desc("epsilon, nats per list bit (twice that per undirected link)")
        .y_desc(unit)
        .y_label_formatter(&number)
        .light_line_style(WHITE)
        .draw()
        .map_err(|error| wrong(error.to_string()))?;
    for (line, (name, points)) in lines.iter().enumerate() {
        let colour = COLOURS[line % COLOURS.len()];
        let means = points.iter().map(|point| (point.0, point.1.max(floor)));
        chart
            .draw_series(LineSeries::new(means.clone(), colour.stroke_width(2)))
            .map_err(|error| wrong(error.to_string()))?;
        let y = 20 + 17 * line as i32;
        names
            .draw(&PathElement::new([(0, y), (16, y)], colour.stroke_width(2)))
            .and_then(|()| names.draw(&Text::new(name.as_str(), (22, y - 6), ("sans-serif", 12))))
            .map_err(|error| wrong(error.to_string()))?;
        chart
            .draw_series(means.map(|point| Circle::new(point, 3, colour.filled())))
            .map_err(|error| wrong(error.to_string()))?;
        let bars = points.iter().filter(|point| point.3 > point.2);
        let bars = bars.map(|point| {
            PathElement::new([(point.0, point.2.max(floor)), (point.0, point.3.max(floor))], colour.stroke_width(1))
        });
        chart.draw_series(bars).map_err(|error| wrong(error.to_string()))?;
    }
    Ok(())
}
