//! Names of lines at their ends, moved apart where they would overlap.

use plotters::style::RGBColor;

use super::escaped;
use super::names::shortened;
use crate::report::figure::Line;

/// Size of letters, which is that of all letters of a drawing.
const FONT: f64 = 12.0;
/// Width of a letter of that size, on average.
const LETTER: f64 = 6.3;
const SPACING: f64 = 16.0;
/// Least and largest width of all names, in letters.
const LETTERS: (usize, usize) = (8, 46);
/// Where names begin, right of the axes.
const LEFT: f64 = super::SIZE.0 as f64 + 6.0;

/// The name of a line beside its end.
pub(super) struct Label {
    pub number: usize,
    /// The whole name.
    text: String,
    /// As much of it as there is room for.
    shown: String,
    colour: RGBColor,
    /// Where the line ends.
    end: (f64, f64),
    /// Height of the middle of the name.
    y: f64,
}

impl Label {
    /// The name of a line, of which a figure has room for `shown`.
    pub(super) fn new(number: usize, line: &Line, shown: &str, end: (i32, i32), colour: RGBColor) -> Self {
        let role = line.role();
        let end = (f64::from(end.0), f64::from(end.1));
        Self { number, text: line.called(), shown: format!("{shown}{role}"), colour, end, y: end.1 }
    }

    pub(super) fn svg(&self) -> String {
        let RGBColor(red, green, blue) = self.colour;
        let colour = format!("#{red:02x}{green:02x}{blue:02x}");
        let ((x, y), text_y) = (self.end, self.y + FONT * 0.35);
        format!(
            "<path class=\"leader\" d=\"M{:.0} {y:.0} L{:.0} {:.1}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"0.7\" opacity=\"0.6\"/>\
             <text class=\"name\" x=\"{:.0}\" y=\"{text_y:.1}\" fill=\"{colour}\">{}<title>{}</title></text>",
            x + 4.0,
            LEFT - 2.0,
            self.y,
            LEFT + 2.0,
            escaped(&self.shown),
            escaped(&self.text),
        )
    }
}

/// The names of lines, of which each has room with what the line stands for.
pub(super) fn names(lines: &[Line]) -> Vec<String> {
    let room = |line: &Line| LETTERS.1 - line.role().chars().count();
    let names: Vec<(&str, usize)> = lines.iter().map(|line| (line.name.as_str(), room(line))).collect();
    shortened(&names)
}

/// Moves the labels apart, and above a note below them; the height that the figure needs.
pub(super) fn place(labels: &mut [Label], has_note: bool, height: u32) -> u32 {
    let least = SPACING;
    let margin = if has_note { 2.0 * SPACING } else { SPACING };
    let needed = SPACING * (labels.len() as f64 + 1.0) + margin;
    let height = f64::from(height).max(needed);
    labels.sort_by(|a, b| a.end.1.total_cmp(&b.end.1).then(a.number.cmp(&b.number)));
    let mut above = least - SPACING;
    for label in labels.iter_mut() {
        label.y = label.end.1.max(above + SPACING);
        above = label.y;
    }
    // What was pushed below the edge goes up again, and pushes the others.
    let mut below = height - margin;
    for label in labels.iter_mut().rev() {
        label.y = label.y.min(below);
        below = label.y - SPACING;
    }
    height.ceil() as u32
}

/// The width that the names need.
pub(super) fn width(labels: &[Label], note: Option<&str>) -> u32 {
    let letters =
        labels.iter().map(|label| label.shown.chars().count()).chain(note.map(|note| note.chars().count() + 2));
    let most = letters.max().unwrap_or(0).clamp(LETTERS.0, LETTERS.1);
    (LETTER * most as f64 + 18.0).ceil() as u32
}

/// What crosses mean, below the names.
pub(super) fn published(note: &str, height: u32) -> String {
    let y = f64::from(height) - 8.0;
    format!("<text class=\"name\" x=\"{:.0}\" y=\"{y:.0}\" fill=\"#141414\">× {}</text>\n", LEFT + 2.0, escaped(note))
}
