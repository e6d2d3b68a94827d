//! Figures as SVG and PNG.

use std::sync::Arc;

use anyhow::{Context, anyhow};
use plotters::coord::Shift;
use plotters::coord::ranged1d::{AsRangedCoord, ValueFormatter};
use plotters::prelude::*;
use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::{Options, Tree, fontdb};

use super::figures::{Axis, Figure, Line, Point};

/// Of a figure, without the names of its lines beside it.
const SIZE: (u32, u32) = (560, 370);
const NAMES_WIDTH: u32 = 290;
const NAME_HEIGHT: i32 = 17;
/// Pixels of a PNG for one unit of the SVG.
const SCALE: f32 = 2.0;
const COLOURS: [RGBColor; 12] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(230, 159, 0),
    RGBColor(86, 180, 233),
    RGBColor(90, 90, 90),
    RGBColor(160, 120, 0),
    RGBColor(120, 60, 170),
    RGBColor(200, 30, 60),
    RGBColor(70, 150, 60),
    RGBColor(20, 20, 20),
];

/// Least and largest of a scale.
type Extent = (f64, f64);

/// The figure as SVG.
pub(crate) fn svg(figure: &Figure) -> anyhow::Result<String> {
    let mut text = String::new();
    let height = SIZE.1.max(40 + NAME_HEIGHT.unsigned_abs() * (figure.lines.len() as u32 + 1));
    {
        let area = SVGBackend::with_string(&mut text, (SIZE.0 + NAMES_WIDTH, height)).into_drawing_area();
        let x = extent(
            figure.lines.iter().filter(|line| !line.is_level).flat_map(|line| &line.points).map(|point| point.x),
        );
        let values = figure.lines.iter().flat_map(|line| &line.points).flat_map(|point| {
            let published = point.published.map_or(point.mean, |(mean, _)| mean);
            [point.mean, point.mean - point.half_width, point.mean + point.half_width, published]
        });
        let y = extent(values.filter(|&value| !figure.y.is_log || value > 0.0));
        let (x, y) = (padded(x, &figure.x), padded(y, &figure.y));
        let wrong = |error: &dyn std::fmt::Display| anyhow!("cannot draw {}: {error}", figure.name);
        match (figure.x.is_log, figure.y.is_log) {
            (false, false) => chart(&area, figure, (x.0..x.1, y.0..y.1), x, y),
            (false, true) => chart(&area, figure, (x.0..x.1, (y.0..y.1).log_scale()), x, y),
            (true, false) => chart(&area, figure, ((x.0..x.1).log_scale(), y.0..y.1), x, y),
            (true, true) => chart(&area, figure, ((x.0..x.1).log_scale(), (y.0..y.1).log_scale()), x, y),
        }
        .map_err(|error| wrong(&error))?;
        area.present().map_err(|error| wrong(&error))?;
    }
    Ok(text)
}

/// The same as PNG; letters come from a font of the program, so that it looks alike everywhere.
pub(crate) fn png(svg: &str) -> anyhow::Result<Vec<u8>> {
    let mut fonts = fontdb::Database::new();
    fonts.load_font_data(notosans::REGULAR_TTF.to_vec());
    fonts.set_sans_serif_family("Noto Sans");
    let options = Options { fontdb: Arc::new(fonts), ..Options::default() };
    let tree = Tree::from_str(svg, &options).context("a figure is no SVG")?;
    let size = tree.size().to_int_size().scale_by(SCALE).context("a figure has no size")?;
    let mut pixels = Pixmap::new(size.width(), size.height()).context("a figure is too large")?;
    resvg::render(&tree, Transform::from_scale(SCALE, SCALE), &mut pixels.as_mut());
    pixels.encode_png().context("a figure cannot be written as PNG")
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

fn chart<X, Y>(
    area: &DrawingArea<SVGBackend, Shift>,
    figure: &Figure,
    (x, y): (X, Y),
    x_extent: Extent,
    y_extent: Extent,
) -> anyhow::Result<()>
where
    X: AsRangedCoord<Value = f64>,
    X::CoordDescType: ValueFormatter<f64>,
    Y: AsRangedCoord<Value = f64>,
    Y::CoordDescType: ValueFormatter<f64>,
{
    let wrong = |error: &dyn std::fmt::Display| anyhow!("{error}");
    area.fill(&WHITE).map_err(|error| wrong(&error))?;
    let (area, names) = area.split_horizontally(SIZE.0);
    let mut chart = ChartBuilder::on(&area)
        .margin(12)
        .x_label_area_size(40)
        .y_label_area_size(70)
        .build_cartesian_2d(x, y)
        .map_err(|error| wrong(&error))?;
    chart
        .configure_mesh()
        .x_desc(figure.x.label.as_str())
        .y_desc(figure.y.label.as_str())
        .x_label_formatter(&|value| number(*value))
        .y_label_formatter(&|value| number(*value))
        .light_line_style(WHITE)
        .draw()
        .map_err(|error| wrong(&error))?;
    let inside = |value: f64| value.clamp(y_extent.0, y_extent.1);
    for (number, line) in figure.lines.iter().enumerate() {
        let colour = COLOURS[number % COLOURS.len()];
        let width = if line.is_level { 1 } else { 2 };
        let points = placed(line, x_extent);
        let means = || points.iter().map(|(x, point)| (*x, inside(point.mean)));
        chart.draw_series(LineSeries::new(means(), colour.stroke_width(width))).map_err(|error| wrong(&error))?;
        if !line.is_level {
            chart.draw_series(means().map(|at| Circle::new(at, 3, colour.filled()))).map_err(|error| wrong(&error))?;
            let bars = points.iter().filter(|(_, point)| point.half_width > 0.0).map(|(x, point)| {
                let ends = [point.mean - point.half_width, point.mean + point.half_width].map(|end| (*x, inside(end)));
                PathElement::new(ends, colour.stroke_width(1))
            });
            chart.draw_series(bars).map_err(|error| wrong(&error))?;
        }
        // Published values stand as crosses.
        let published = points.iter().filter_map(|(x, point)| Some((*x, inside(point.published?.0))));
        let marks = published.map(|at| Cross::new(at, 5, colour.stroke_width(2)));
        chart.draw_series(marks).map_err(|error| wrong(&error))?;
        let y = 20 + NAME_HEIGHT * number as i32;
        names
            .draw(&PathElement::new([(0, y), (16, y)], colour.stroke_width(width)))
            .and_then(|()| names.draw(&Text::new(line.name.as_str(), (22, y - 6), ("sans-serif", 12))))
            .map_err(|error| wrong(&error))?;
    }
    if figure.lines.iter().flat_map(|line| &line.points).any(|point| point.published.is_some()) {
        let y = 20 + NAME_HEIGHT * figure.lines.len() as i32;
        names
            .draw(&Cross::new((8, y), 5, BLACK.stroke_width(2)))
            .and_then(|()| names.draw(&Text::new("published", (22, y - 6), ("sans-serif", 12))))
            .map_err(|error| wrong(&error))?;
    }
    Ok(())
}

/// Points with their places: a level goes from one side to the other.
fn placed(line: &Line, (left, right): Extent) -> Vec<(f64, &Point)> {
    match line.points.as_slice() {
        [point, ..] if line.is_level => vec![(left, point), (right, point)],
        points => points.iter().filter(|point| point.x.is_finite()).map(|point| (point.x, point)).collect(),
    }
}

fn number(value: f64) -> String {
    if value != 0.0 && value.abs() < 0.01 { format!("{value:.0e}") } else { ((value * 1e6).round() / 1e6).to_string() }
}
