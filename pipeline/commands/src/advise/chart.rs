//! What is found and what is gained: over epsilon on one axis, and the one over the other.

mod marks;

use anyhow::anyhow;
use plotters::prelude::*;
use veilgraph_runner::belief::{Answer, Range, nats};

use super::Advice;
use super::surrogates::Worth;
use marks::Mark;

/// The plot. The names of its lines stand below it, where they have room on every screen.
pub(super) const SIZE: (u32, u32) = (640, 400);
const FONT: (&str, u32) = ("sans-serif", 15);
const FOUND: RGBColor = RGBColor(213, 94, 0);
const HUBS: RGBColor = RGBColor(204, 121, 167);
const ACCURACY: RGBColor = RGBColor(0, 114, 178);
const FLOOR: RGBColor = RGBColor(90, 90, 90);
const CEILING: RGBColor = RGBColor(0, 158, 115);
/// Mechanisms of a frontier that are told apart by colour; further ones begin again.
const COLOURS: [RGBColor; 5] = [ACCURACY, FOUND, HUBS, RGBColor(230, 159, 0), RGBColor(86, 180, 233)];

/// A figure of the page.
pub(super) struct Figure {
    /// What stands inside the SVG.
    pub drawing: String,
    pub lines: Vec<Name>,
    pub caption: String,
    /// What it shows, for who cannot see it.
    pub alternative: String,
}

/// The name of a line, and how it looks.
pub(super) struct Name {
    pub words: String,
    /// As pages write it.
    pub colour: String,
    pub is_level: bool,
}

/// A line with a band around it, in shares.
struct Band {
    name: String,
    colour: RGBColor,
    points: Vec<Point>,
    /// Whether it is the same everywhere, as floors and ceilings are.
    is_level: bool,
}

/// A point of a line, with the least and the largest of its band.
struct Point {
    x: f64,
    least: f64,
    middle: f64,
    largest: f64,
    /// What stands beside it.
    words: String,
}

/// What an axis shows.
struct Axis {
    words: &'static str,
    /// What a unit of a point is in units of the axis.
    factor: f64,
    ends: (f64, f64),
}

/// One figure over epsilon for each mechanism, and where networks were trained, what they reach by what is found.
pub(super) fn figures(advice: &Advice) -> anyhow::Result<Vec<Figure>> {
    let mut series: Vec<&str> = advice.answers.iter().map(|answer| answer.question.series.as_str()).collect();
    series.dedup();
    let mut figures = Vec::new();
    for series in &series {
        figures.push(over_epsilon(advice, series)?);
    }
    if let Some(worth) = advice.worths.first() {
        figures.push(frontier(advice, worth, &series)?);
    }
    Ok(figures)
}

/// Shares found, and accuracies, over the budgets of one mechanism.
fn over_epsilon(advice: &Advice, series: &str) -> anyhow::Result<Figure> {
    let mine: Vec<(usize, &Answer)> = answers_of(advice, series);
    let bands = bands(advice, &mine);
    let budgets = || mine.iter().map(|(_, answer)| answer.question.epsilon);
    let (low, high) = (budgets().fold(f64::INFINITY, f64::min), budgets().fold(f64::NEG_INFINITY, f64::max));
    let ends = if low < high { (low, high) } else { (low - 0.5, high + 0.5) };
    let x = Axis { words: "epsilon, nats", factor: 1.0, ends };
    let accuracies = advice.worths.first().map_or(String::new(), |worth| {
        format!(", and bands of accuracies run over {}", super::worth_words::graphs_in_short(worth))
    });
    Ok(Figure {
        drawing: drawn(&bands, &x, "percent")?,
        lines: names(&bands),
        caption: format!("Budgets of {series}. Bands of shares show what is not known about the graph{accuracies}."),
        alternative: format!(
            "{series}: percent of links found, and accuracy, over epsilon; the tables have the numbers."
        ),
    })
}

/// Accuracies over shares found: what a mechanism buys for what it gives away.
fn frontier(advice: &Advice, worth: &Worth, series: &[&str]) -> anyhow::Result<Figure> {
    let mut bands = Vec::new();
    for (name, colour) in series.iter().zip(COLOURS.into_iter().cycle()) {
        let mut points = Vec::new();
        for (place, answer) in answers_of(advice, name) {
            let Some(accuracies) = worth.with_links.get(&place) else { continue };
            let words = nats(answer.question.epsilon);
            points.push(Point { words, ..over_graphs(answer.middle.found, accuracies) });
        }
        points.sort_by(|a, b| a.x.total_cmp(&b.x));
        let is_bound = answers_of(advice, name).iter().any(|(_, answer)| answer.is_bound());
        let name = if is_bound { format!("{name} (at most so many links)") } else { (*name).to_owned() };
        bands.push(Band { name, colour, points, is_level: false });
    }
    bands.extend(levels(worth, &[0.0, 1.0]));
    let x = Axis { words: "links found by the server, percent", factor: 100.0, ends: (0.0, 100.0) };
    Ok(Figure {
        drawing: drawn(&bands, &x, "accuracy, percent")?,
        lines: names(&bands),
        caption: format!(
            "What is bought for what is given away: accuracy on {} over the share of links found. Numbers beside the points \
             are budgets in nats. A budget left and above of another one is better in both.",
            super::worth_words::graphs_in_short(worth)
        ),
        alternative: "Accuracy over the percent of links found; the tables have the numbers.".to_owned(),
    })
}

/// The answers of one mechanism by budget, each with its place among all.
fn answers_of<'a>(advice: &'a Advice, series: &str) -> Vec<(usize, &'a Answer)> {
    let is_mine = |(_, answer): &(usize, &Answer)| answer.question.series == *series;
    let mut mine: Vec<(usize, &Answer)> = advice.answers.iter().enumerate().filter(is_mine).collect();
    mine.sort_by(|a, b| a.1.question.epsilon.total_cmp(&b.1.question.epsilon));
    mine
}

fn bands(advice: &Advice, mine: &[(usize, &Answer)]) -> Vec<Band> {
    let attack = |name: &str, colour, middle: fn(&Answer) -> f64, range: fn(&Answer) -> Range| {
        let point = |(_, answer): &(usize, &Answer)| {
            let Range { low, high } = range(answer);
            Point {
                x: answer.question.epsilon,
                least: low,
                middle: middle(answer),
                largest: high,
                words: String::new(),
            }
        };
        Band { name: name.to_owned(), colour, points: mine.iter().map(point).collect(), is_level: false }
    };
    let is_bound = mine.iter().any(|(_, answer)| answer.is_bound());
    let found = if is_bound { "most links that can be found" } else { "links found by the server" };
    let mut bands = vec![attack(found, FOUND, |answer| answer.middle.found, |answer| answer.found)];
    // A bound on all links is none on those of hubs.
    if !is_bound {
        let of_hubs = (|answer: &Answer| answer.middle.found_of_hubs, |answer: &Answer| answer.found_of_hubs);
        bands.push(attack("links of hubs found", HUBS, of_hubs.0, of_hubs.1));
    }
    let Some(worth) = advice.worths.first() else { return bands };
    let mut points = Vec::new();
    for (place, answer) in mine {
        if let Some(accuracies) = worth.with_links.get(place) {
            points.push(over_graphs(answer.question.epsilon, accuracies));
        }
    }
    bands.push(Band { name: "accuracy of a network".to_owned(), colour: ACCURACY, points, is_level: false });
    let budgets: Vec<f64> = mine.iter().map(|(_, answer)| answer.question.epsilon).collect();
    bands.extend(levels(worth, &budgets));
    bands
}

/// Floor and ceiling, which are the same everywhere.
fn levels(worth: &Worth, places: &[f64]) -> Vec<Band> {
    let levels = [
        ("best accuracy without links (floor)", FLOOR, worth.floors()),
        ("accuracy with true links (ceiling)", CEILING, worth.non_private.clone()),
    ];
    let is_known = |(_, _, values): &(&str, RGBColor, Vec<f64>)| !values.is_empty();
    let band = |(name, colour, values): (&str, RGBColor, Vec<f64>)| Band {
        name: name.to_owned(),
        colour,
        points: places.iter().map(|&x| over_graphs(x, &values)).collect(),
        is_level: true,
    };
    levels.into_iter().filter(is_known).map(band).collect()
}

/// The mean over graphs, with the least and the largest.
fn over_graphs(x: f64, values: &[f64]) -> Point {
    let Range { low, high } = Range::over(values.iter().copied());
    let middle = values.iter().sum::<f64>() / values.len().max(1) as f64;
    Point { x, least: low, middle, largest: high, words: String::new() }
}

/// The names of lines, in their order.
fn names(bands: &[Band]) -> Vec<Name> {
    let name = |band: &Band| {
        let RGBColor(red, green, blue) = band.colour;
        let colour = format!("#{red:02x}{green:02x}{blue:02x}");
        Name { words: band.name.clone(), colour, is_level: band.is_level }
    };
    bands.iter().map(name).collect()
}

/// The drawing without the tag of the document.
fn drawn(bands: &[Band], x: &Axis, y: &str) -> anyhow::Result<String> {
    let mut text = String::new();
    let marks = draw(bands, x, y, &mut text).map_err(|error| anyhow!("cannot draw the advice: {error}"))?;
    let inner = text.split_once('>').map_or("", |(_, rest)| rest).trim_end();
    let inner = inner.strip_suffix("</svg>").unwrap_or(inner).trim();
    Ok(format!("{inner}{}", marks::svg(&marks, SIZE)))
}

/// Draws everything but the words beside points, which it returns with their places.
fn draw(bands: &[Band], x: &Axis, y: &str, text: &mut String) -> Result<Vec<Mark>, Box<dyn std::error::Error>> {
    let area = SVGBackend::with_string(text, SIZE).into_drawing_area();
    let mut chart = ChartBuilder::on(&area)
        .margin(10)
        .margin_right(16)
        .x_label_area_size(46)
        .y_label_area_size(72)
        .build_cartesian_2d(x.ends.0..x.ends.1, 0.0..100.0)?;
    chart
        .configure_mesh()
        .x_desc(x.words)
        .y_desc(y)
        .axis_desc_style(FONT)
        .label_style(FONT)
        .x_label_formatter(&|value| ((value * 1e6).round() / 1e6).to_string())
        .y_label_formatter(&|value| format!("{value:.0}"))
        .bold_line_style(RGBColor(222, 226, 230))
        .light_line_style(TRANSPARENT)
        .draw()?;
    let mut marks = Vec::new();
    for (number, band) in bands.iter().enumerate() {
        let points: Vec<&Point> = band.points.iter().filter(|point| point.x.is_finite()).collect();
        let at = |point: &Point, share: f64| (x.factor * point.x, 100.0 * share);
        let below = points.iter().map(|point| at(point, point.least));
        let above = points.iter().rev().map(|point| at(point, point.largest));
        let line: Vec<(f64, f64)> = points.iter().map(|point| at(point, point.middle)).collect();
        chart.draw_series(std::iter::once(Polygon::new(
            below.chain(above).collect::<Vec<_>>(),
            band.colour.mix(0.15).filled(),
        )))?;
        if band.is_level {
            chart.draw_series(DashedLineSeries::new(line, 5, 4, band.colour.stroke_width(1)))?;
            continue;
        }
        chart.draw_series(LineSeries::new(line.clone(), band.colour.stroke_width(2)))?;
        chart.draw_series(line.iter().map(|at| Circle::new(*at, 3, band.colour.filled())))?;
        for (point, at) in points.iter().zip(line).filter(|(point, _)| !point.words.is_empty()) {
            let place = chart.backend_coord(&at);
            let at = (f64::from(place.0), f64::from(place.1));
            marks.push(Mark { line: number, at, words: point.words.clone() });
        }
    }
    area.present()?;
    drop(chart);
    drop(area);
    Ok(marks)
}
