//! What is found and what is gained, over epsilon, on one axis.

use anyhow::anyhow;
use plotters::prelude::*;

use super::Advice;

const SIZE: (u32, u32) = (900, 420);
const NAMES_WIDTH: u32 = 300;
const NAME_HEIGHT: i32 = 18;
const FOUND: RGBColor = RGBColor(213, 94, 0);
const HUBS: RGBColor = RGBColor(204, 121, 167);
const ACCURACY: RGBColor = RGBColor(0, 114, 178);
const FLOOR: RGBColor = RGBColor(90, 90, 90);
const CEILING: RGBColor = RGBColor(0, 158, 115);

/// A line with a band around it, in percent.
struct Band {
    name: String,
    colour: RGBColor,
    /// Epsilon, least, middle and largest.
    points: Vec<(f64, [f64; 3])>,
}

/// The figure of the first mechanism that is asked about.
pub(super) fn svg(advice: &Advice) -> anyhow::Result<String> {
    let bands = bands(advice);
    let budgets =
        || bands.iter().flat_map(|band| &band.points).map(|point| point.0).filter(|budget| budget.is_finite());
    let (low, high) = (budgets().fold(f64::INFINITY, f64::min), budgets().fold(f64::NEG_INFINITY, f64::max));
    let (low, high) = if low < high { (low, high) } else { (low.min(1.0) - 0.5, high.max(1.0) + 0.5) };
    let mut text = String::new();
    draw(&bands, (low, high), &mut text).map_err(|error| anyhow!("cannot draw the advice: {error}"))?;
    Ok(text)
}

fn bands(advice: &Advice) -> Vec<Band> {
    let Some(first) = advice.answers.first() else { return Vec::new() };
    let mechanism = &first.question.mechanism;
    let mine = || advice.answers.iter().enumerate().filter(|(_, answer)| answer.question.mechanism == *mechanism);
    let attack = |name: &str, colour, of: fn(&super::Answer) -> [f64; 3]| Band {
        name: name.to_owned(),
        colour,
        points: mine().map(|(_, answer)| (answer.question.epsilon, of(answer))).collect(),
    };
    let mut bands = vec![
        attack("links found by the server", FOUND, |answer| [answer.found.low, answer.middle.found, answer.found.high]),
        attack("links of hubs found", HUBS, |answer| {
            [answer.found_of_hubs.low, answer.middle.found_of_hubs, answer.found_of_hubs.high]
        }),
    ];
    let Some(worth) = &advice.worth else { return bands };
    let three = |values: &[f64]| {
        let range = super::Range::over(values.iter().copied());
        [range.low, values.iter().sum::<f64>() / values.len().max(1) as f64, range.high]
    };
    let trained =
        mine().filter_map(|(place, answer)| Some((answer.question.epsilon, three(worth.with_links.get(&place)?))));
    bands.push(Band { name: "accuracy of a network".to_owned(), colour: ACCURACY, points: trained.collect() });
    let floors = worth.floors();
    for (name, colour, values) in [
        ("best accuracy without links (floor)", FLOOR, &floors),
        ("accuracy with true links (ceiling)", CEILING, &worth.non_private),
    ] {
        if values.is_empty() {
            continue;
        }
        let level = three(values);
        let points = mine().map(|(_, answer)| (answer.question.epsilon, level)).collect();
        bands.push(Band { name: name.to_owned(), colour, points });
    }
    bands
}

fn draw(bands: &[Band], (low, high): (f64, f64), text: &mut String) -> Result<(), Box<dyn std::error::Error>> {
    let area = SVGBackend::with_string(text, SIZE).into_drawing_area();
    area.fill(&WHITE)?;
    let (area, names) = area.split_horizontally(SIZE.0 - NAMES_WIDTH);
    let mut chart = ChartBuilder::on(&area)
        .margin(12)
        .x_label_area_size(40)
        .y_label_area_size(60)
        .build_cartesian_2d(low..high, 0.0..100.0)?;
    chart.configure_mesh().x_desc("epsilon, nats").y_desc("percent").light_line_style(WHITE).draw()?;
    for (number, band) in bands.iter().enumerate() {
        let finite = || band.points.iter().filter(|point| point.0.is_finite());
        let line = |which: usize| finite().map(move |(x, values)| (*x, 100.0 * values[which]));
        let outline: Vec<(f64, f64)> = line(0).chain(line(2).collect::<Vec<_>>().into_iter().rev()).collect();
        chart.draw_series(std::iter::once(Polygon::new(outline, band.colour.mix(0.15).filled())))?;
        chart.draw_series(LineSeries::new(line(1), band.colour.stroke_width(2)))?;
        chart.draw_series(line(1).map(|at| Circle::new(at, 3, band.colour.filled())))?;
        let y = 20 + NAME_HEIGHT * number as i32;
        names.draw(&PathElement::new([(0, y), (16, y)], band.colour.stroke_width(2)))?;
        names.draw(&Text::new(band.name.as_str(), (22, y - 6), ("sans-serif", 13)))?;
    }
    area.present()?;
    Ok(())
}
