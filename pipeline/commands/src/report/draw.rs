//! Figures as SVG and PNG.

mod label;
mod layer;
mod names;
mod strokes;

use std::fmt::Write;
use std::sync::Arc;

use anyhow::Context;
use plotters::style::RGBColor;
use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::{Options, Tree, fontdb};

use super::figure::{Figure, Line};
use label::Label;
use layer::{Layers, axes, series};

/// Of a figure, without the names of its lines beside it.
const SIZE: (u32, u32) = (500, 340);
/// Pixels of a PNG for one unit of the SVG.
const SCALE: f32 = 2.0;
/// Colours that people with any colour vision tell apart, the first seven at least (Okabe, Ito 2008).
const COLOURS: [RGBColor; 11] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(230, 159, 0),
    RGBColor(86, 180, 233),
    RGBColor(160, 120, 0),
    RGBColor(120, 60, 170),
    RGBColor(200, 30, 60),
    RGBColor(70, 150, 60),
    RGBColor(20, 20, 20),
];
/// What others are read beside, as floors and ceilings are, has no colour of its own: a dashed line and its name tell it.
const REFERENCE: RGBColor = RGBColor(105, 105, 105);

/// The figure as SVG. Every line is a group of class `series`, so that a page can hide it, and every point has a title.
pub(crate) fn svg(figure: &Figure) -> anyhow::Result<String> {
    let colours = colours(&figure.lines);
    let names = label::names(&figure.lines);
    let layers = Layers::of(figure);
    let mut groups = Vec::new();
    let mut labels = Vec::new();
    for (number, line) in figure.lines.iter().enumerate() {
        let layer = series(&layers, line, colours[number])?;
        labels.push(Label::new(number, line, &names[number], layer.end, colours[number]));
        let mut hits = String::new();
        for hit in &layer.hits {
            let (x, y) = hit.at;
            let _ = write!(
                hits,
                "<circle class=\"hit\" cx=\"{x}\" cy=\"{y}\" r=\"9\"><title>{}</title></circle>",
                escaped(&hit.words)
            );
        }
        groups.push(format!("{}<g fill-opacity=\"0\">{hits}</g>", layer.body));
    }
    let note = figure.published_note();
    let height = label::place(&mut labels, note.is_some(), SIZE.1);
    let width = SIZE.0 + label::width(&labels, note.as_deref());
    let mut text = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" font-family=\"sans-serif\" font-size=\"12\" role=\"img\" \
         style=\"--width: {:.3}\" aria-label=\"{}\">\n<g class=\"axes\">{}</g>\n",
        f64::from(width) / f64::from(SIZE.0),
        escaped(&format!("{}; the values stand in a table", figure.title)),
        axes(&layers)?
    );
    for (number, group) in groups.into_iter().enumerate() {
        let label = labels.iter().find(|label| label.number == number).map_or(String::new(), Label::svg);
        let _ = writeln!(text, "<g class=\"series\" data-series=\"{number}\">{group}{label}</g>");
    }
    if let Some(note) = note {
        text += &label::published(&note, height);
    }
    text += "</svg>\n";
    Ok(text)
}

/// The same on white ground, for files.
pub(crate) fn on_white(svg: &str) -> String {
    svg.replacen("<g class=\"axes\">", "<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/><g class=\"axes\">", 1)
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

/// The colour of each line, as pages write it.
pub(crate) fn page_colours(figure: &Figure) -> Vec<String> {
    colours(&figure.lines)
        .into_iter()
        .map(|RGBColor(red, green, blue)| format!("#{red:02x}{green:02x}{blue:02x}"))
        .collect()
}

/// A colour for each line.
fn colours(lines: &[Line]) -> Vec<RGBColor> {
    let mut next = COLOURS.into_iter().cycle();
    let of = |line: &Line| if line.is_reference() { REFERENCE } else { next.next().unwrap_or(REFERENCE) };
    lines.iter().map(of).collect()
}

/// Text as it may stand in SVG.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
