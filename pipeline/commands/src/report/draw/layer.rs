//! The axes of a figure, and each of its lines, drawn apart on the same coordinates.

use std::collections::BTreeSet;

use anyhow::anyhow;
use plotters::coord::ranged1d::{AsRangedCoord, ValueFormatter};
use plotters::prelude::*;

use super::{SIZE, escaped, strokes};
use crate::report::figure::{Axis, Figure, Line, Point};

/// Least and largest of a scale.
type Extent = (f64, f64);

/// What all layers of a figure share.
pub(super) struct Layers<'a> {
    figure: &'a Figure,
    x: Extent,
    y: Extent,
}

/// A line as SVG, where it ends, and its points.
pub(super) struct Series {
    pub body: String,
    pub end: (i32, i32),
    pub hits: Vec<Hit>,
}

/// A point that a pointer may stand on.
pub(super) struct Hit {
    pub at: (i32, i32),
    pub words: String,
}

/// What is drawn.
enum Layer<'a> {
    Axes,
    Series { line: &'a Line, colour: RGBColor },
}

impl<'a> Layers<'a> {
    pub(super) fn of(figure: &'a Figure) -> Self {
        let moving = figure.lines.iter().filter(|line| !line.is_level);
        let x = extent(moving.flat_map(|line| &line.points).map(|point| point.x));
        let of_line = |line: &Line| {
            // Levels are drawn without their intervals.
            let shown = if line.is_level { 0.0 } else { 1.0 };
            let of_point = move |point: &Point| {
                let published = point.published.map_or(point.mean, |(mean, _)| mean);
                let half_width = shown * point.half_width;
                // No interval of few trials makes a score possible that is not.
                let (least, most) = point.metric.range();
                [point.mean, (point.mean - half_width).max(least), (point.mean + half_width).min(most), published]
            };
            line.points.iter().flat_map(of_point).collect::<Vec<f64>>()
        };
        let values = figure.lines.iter().flat_map(of_line);
        let y = extent(values.filter(|&value| !figure.y.is_log || value > 0.0));
        Self { figure, x: padded(x, &figure.x), y: padded(y, &figure.y) }
    }
}

/// What is so by default, or what a drawing says of all its texts at once: it need not stand in a page thousands of times.
const DEFAULTS: [&str; 5] = [
    " opacity=\"1\"",
    " stroke=\"none\" stroke-width=\"1\"",
    " stroke=\"none\"",
    " font-family=\"sans-serif\"",
    " font-size=\"12.096774193548388\" fill=\"#000000\"",
];
/// Height above the plot for a second axis.
const ABOVE: u32 = 44;
/// Size of letters for axes, as the library counts it, and as it comes out.
const FONT: u32 = 15;
const TICK: f64 = 12.0;

/// The axes with their grid, as SVG.
pub(super) fn axes(layers: &Layers) -> anyhow::Result<String> {
    let Series { mut body, hits: ticks, .. } = drawn(layers, &Layer::Axes)?;
    body = without_repeated_text(&body);
    let text = |x: f64, y: f64, words: &str| {
        format!("<text x=\"{x:.0}\" y=\"{y:.0}\" text-anchor=\"middle\">{}</text>", escaped(words))
    };
    let middle = f64::from(SIZE.1) / 2.0;
    let mut taken: Vec<(f64, f64, f64)> = Vec::new();
    for tick in &ticks {
        let (x, y) = (f64::from(tick.at.0), f64::from(tick.at.1));
        let y = if y < middle { y - 6.0 } else { y + 16.0 };
        let half = 0.35 * TICK * tick.words.chars().count() as f64;
        // A number for which there is no room is left out; the values stand in the table.
        if taken.iter().any(|other| other.1 == y && (other.0 - x).abs() < other.2 + half) {
            continue;
        }
        taken.push((x, y, half));
        body += &text(x, y, &tick.words);
    }
    if let Some(above) = &layers.figure.x_above {
        body += &text(f64::from(SIZE.0) / 2.0 + 27.0, 14.0, &above.label);
    }
    Ok(body)
}

/// A logarithmic axis may have the same number at the same place twice.
fn without_repeated_text(svg: &str) -> String {
    let mut known = BTreeSet::new();
    let mut kept = String::new();
    for part in svg.split_inclusive("</text>") {
        let (before, text) = part.split_at(part.rfind("<text").unwrap_or(part.len()));
        kept += before;
        if known.insert(text) {
            kept += text;
        }
    }
    kept
}

/// The places at which there are points.
fn ticks(figure: &Figure) -> Vec<f64> {
    let moving = figure.lines.iter().filter(|line| !line.is_level).flat_map(|line| &line.points);
    let mut budgets: Vec<f64> = moving.map(|point| point.x).filter(|x| x.is_finite()).collect();
    budgets.sort_unstable_by(f64::total_cmp);
    budgets.dedup();
    budgets
}

/// One line.
pub(super) fn series(layers: &Layers, line: &Line, colour: RGBColor) -> anyhow::Result<Series> {
    let Series { mut body, end, hits } = drawn(layers, &Layer::Series { line, colour })?;
    if line.is_reference() {
        // Its first stroke is the line itself. The library would draw every dash as a stroke of its own.
        body = body.replacen("<path ", "<path stroke-dasharray=\"5 4\" ", 1);
    }
    Ok(Series { body, end, hits })
}

fn drawn(layers: &Layers, layer: &Layer) -> anyhow::Result<Series> {
    let mut text = String::new();
    let (x, y) = (layers.x.0..layers.x.1, layers.y.0..layers.y.1);
    let series = match (layers.figure.x.is_log, layers.figure.y.is_log) {
        (false, false) => chart(&mut text, layers, layer, (x, y)),
        (false, true) => chart(&mut text, layers, layer, (x, y.log_scale())),
        (true, false) => chart(&mut text, layers, layer, (x.log_scale(), y)),
        (true, true) => chart(&mut text, layers, layer, (x.log_scale(), y.log_scale())),
    };
    let (end, hits) = series.map_err(|error| anyhow!("cannot draw {}: {error}", layers.figure.name))?;
    // What stands between the tag of the document and its end.
    let inner = text.split_once('>').map_or("", |(_, rest)| rest).trim_end();
    // What is so by default need not stand in a page thousands of times.
    let body = inner.strip_suffix("</svg>").unwrap_or(inner).trim();
    let body = DEFAULTS.iter().fold(body.to_owned(), |body, default| body.replace(default, ""));
    Ok(Series { body: strokes::joined(&body), end, hits })
}

type Wrong = Box<dyn std::error::Error>;

fn chart<X, Y>(
    text: &mut String,
    layers: &Layers,
    layer: &Layer,
    (x, y): (X, Y),
) -> Result<((i32, i32), Vec<Hit>), Wrong>
where
    X: AsRangedCoord<Value = f64>,
    X::CoordDescType: ValueFormatter<f64>,
    Y: AsRangedCoord<Value = f64>,
    Y::CoordDescType: ValueFormatter<f64>,
{
    let figure = layers.figure;
    let area = SVGBackend::with_string(text, SIZE).into_drawing_area();
    let top = figure.x_above.as_ref();
    let mut chart = ChartBuilder::on(&area)
        .margin(10)
        .margin_top(if top.is_some() { ABOVE } else { 10 })
        .x_label_area_size(46)
        .y_label_area_size(72)
        .build_cartesian_2d(x, y)?;
    let Layer::Series { line, colour } = layer else {
        chart
            .configure_mesh()
            .x_desc(figure.x.label.as_str())
            .y_desc(figure.y.label.as_str())
            .axis_desc_style(("sans-serif", FONT))
            .label_style(("sans-serif", FONT))
            // The numbers of a logarithmic axis lie on each other; its points get their own.
            .x_label_formatter(&|value| if figure.x.is_log { String::new() } else { number(*value) })
            .y_label_formatter(&|value| if figure.y.is_log { round_number(*value) } else { number(*value) })
            .bold_line_style(RGBColor(222, 226, 230))
            .light_line_style(TRANSPARENT)
            .draw()?;
        let mut hits = Vec::new();
        for x in ticks(figure) {
            if figure.x.is_log {
                hits.push(Hit { at: chart.backend_coord(&(x, layers.y.0)), words: number(x) });
            }
            if let Some(above) = top {
                hits.push(Hit { at: chart.backend_coord(&(x, layers.y.1)), words: number(x * above.factor) });
            }
        }
        area.present()?;
        drop(chart);
        drop(area);
        return Ok(((0, 0), hits));
    };
    let inside = |value: f64| value.clamp(layers.y.0, layers.y.1);
    let points = placed(line, layers.x);
    let means: Vec<(f64, f64)> = points.iter().map(|(x, point)| (*x, inside(point.mean))).collect();
    let width = if line.is_reference() { 1 } else { 2 };
    chart.draw_series(LineSeries::new(means.clone(), colour.stroke_width(width)))?;
    if !line.is_level {
        chart.draw_series(means.iter().map(|at| Circle::new(*at, 3, colour.filled())))?;
        let bars = points.iter().filter(|(_, point)| point.half_width > 0.0).map(|(x, point)| {
            let (least, most) = point.metric.range();
            let ends = [(point.mean - point.half_width).max(least), (point.mean + point.half_width).min(most)];
            let ends = ends.map(|end| (*x, inside(end)));
            PathElement::new(ends, colour.stroke_width(1))
        });
        chart.draw_series(bars)?;
    }
    // Published values stand as crosses.
    let published = points.iter().filter_map(|(x, point)| Some((*x, inside(point.published?.0))));
    chart.draw_series(published.map(|at| Cross::new(at, 5, colour.stroke_width(2))))?;
    let end = means.last().map_or((0, 0), |at| chart.backend_coord(at));
    let hit = |((_, point), at): (&(f64, &Point), &(f64, f64))| Hit {
        at: chart.backend_coord(at),
        words: words(line, point),
    };
    let hits = points.iter().zip(&means).map(hit).collect();
    area.present()?;
    drop(chart);
    drop(area);
    Ok((end, hits))
}

/// What a point says where a pointer stands on it.
fn words(line: &Line, point: &Point) -> String {
    let at = if line.is_level { String::new() } else { format!(" at {}", number(point.x)) };
    format!("{}{at}: {}", line.name, point.words())
}

fn extent(values: impl Iterator<Item = f64>) -> Extent {
    let finite = values.filter(|value| value.is_finite());
    finite.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| (low.min(value), high.max(value)))
}

/// With a margin; something to draw on even where there is one value or none.
fn padded((low, high): Extent, axis: &Axis) -> Extent {
    if low > high {
        return if axis.is_log { (0.1, 1.0) } else { (0.0, 1.0) };
    }
    if axis.is_log {
        return (low / 1.3, high * 1.3);
    }
    let margin = if high > low { (high - low) * 0.05 } else { (high.abs() * 0.05).max(0.5) };
    (low - margin, high + margin)
}

/// Points with their places: a level goes from one side to the other.
fn placed(line: &Line, (left, right): Extent) -> Vec<(f64, &Point)> {
    match line.points.as_slice() {
        [point, ..] if line.is_level => vec![(left, point), (right, point)],
        points => points.iter().filter(|point| point.x.is_finite()).map(|point| (point.x, point)).collect(),
    }
}

fn number(value: f64) -> String {
    if value.abs() < 1e-12 {
        "0".to_owned()
    } else if value.abs() < 0.01 {
        format!("{value:.0e}")
    } else {
        ((value * 1e6).round() / 1e6).to_string()
    }
}

/// Numbers of a logarithmic axis that have room: 1, 2 and 5 of each decade.
fn round_number(value: f64) -> String {
    let leading = value / 10_f64.powf((value.log10() + 1e-9).floor());
    let is_round = [1.0, 2.0, 5.0].iter().any(|round| (leading - round).abs() < 1e-6 * round);
    if is_round { number(value) } else { String::new() }
}
