//! Words beside points, where there is room for them.

use std::fmt::Write;

/// Size of letters, and the width of a letter of that size, on average.
const FONT: f64 = 12.0;
const LETTER: f64 = 6.6;
/// Points of a line that are no further apart have their words in one place.
const NEAR: f64 = 10.0;
/// Half of the size of a point, with some room around it.
const POINT: f64 = 4.0;
/// Where words may stand beside a point: how far to its right (or left, if below 0), and their line below it.
const PLACES: [(f64, f64); 8] =
    [(6.0, -6.0), (-6.0, -6.0), (6.0, 16.0), (-6.0, 16.0), (6.0, -20.0), (-6.0, -20.0), (6.0, 30.0), (-6.0, 30.0)];

/// Words beside a point of a line, in pixels of the drawing.
#[derive(Clone, Debug)]
pub(super) struct Mark {
    /// The line that it belongs to.
    pub line: usize,
    pub at: (f64, f64),
    pub words: String,
}

/// A rectangle.
#[derive(Clone, Copy, Debug)]
struct Room {
    left: f64,
    top: f64,
    right: f64,
    bottom: f64,
}

/// The words as SVG. Nothing lies on something else or beyond the edge; what has no room is left out, for the tables have
/// the numbers.
pub(super) fn svg(marks: &[Mark], size: (u32, u32)) -> String {
    let mut text = String::new();
    for (room, words) in placed(marks, size) {
        let (x, y) = (room.left, room.bottom - 3.0);
        let _ = write!(text, "<text x=\"{x:.1}\" y=\"{y:.1}\" font-size=\"{FONT}\" fill=\"#000000\">{words}</text>");
    }
    text
}

/// The words of all points that have room, and where.
fn placed(marks: &[Mark], size: (u32, u32)) -> Vec<(Room, String)> {
    let of_point = |mark: &Mark| Room::around(mark.at, POINT);
    let mut taken: Vec<Room> = marks.iter().map(of_point).collect();
    let frame = Room { left: 0.0, top: 0.0, right: f64::from(size.0), bottom: f64::from(size.1) };
    let mut found = Vec::new();
    for mark in gathered(marks) {
        let width = LETTER * mark.words.chars().count() as f64;
        let rooms = PLACES.map(|place| Room::of_words(mark.at, place, width));
        let fitting =
            rooms.into_iter().find(|room| room.is_inside(frame) && !taken.iter().any(|other| room.meets(*other)));
        if let Some(room) = fitting {
            taken.push(room);
            found.push((room, mark.words));
        }
    }
    found
}

/// One mark for points of one line that lie together.
fn gathered(marks: &[Mark]) -> Vec<Mark> {
    let mut all: Vec<Mark> = Vec::new();
    for mark in marks {
        let is_near = |known: &Mark| {
            let (x, y) = (known.at.0 - mark.at.0, known.at.1 - mark.at.1);
            known.line == mark.line && x.abs() <= NEAR && y.abs() <= NEAR
        };
        match all.iter_mut().find(|known| is_near(known)) {
            Some(known) => known.words = format!("{}, {}", known.words, mark.words),
            None => all.push(mark.clone()),
        }
    }
    all
}

impl Room {
    fn around((x, y): (f64, f64), half: f64) -> Self {
        Self { left: x - half, top: y - half, right: x + half, bottom: y + half }
    }

    fn of_words((x, y): (f64, f64), (right, below): (f64, f64), width: f64) -> Self {
        let left = if right < 0.0 { x + right - width } else { x + right };
        let bottom = y + below + 3.0;
        Self { left, top: bottom - FONT, right: left + width, bottom }
    }

    fn is_inside(self, frame: Self) -> bool {
        self.left >= frame.left && self.right <= frame.right && self.top >= frame.top && self.bottom <= frame.bottom
    }

    fn meets(self, other: Self) -> bool {
        self.left < other.right && other.left < self.right && self.top < other.bottom && other.top < self.bottom
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mark(line: usize, at: (f64, f64), words: &str) -> Mark {
        Mark { line, at, words: words.to_owned() }
    }

    #[test]
    fn points_that_lie_together_have_their_words_in_one_place() {
        let marks = [mark(0, (590.0, 20.0), "5"), mark(0, (595.0, 18.0), "6"), mark(0, (597.0, 18.0), "8")];
        let found = placed(&marks, (600, 400));
        assert_eq!(found.iter().map(|(_, words)| words.as_str()).collect::<Vec<_>>(), ["5, 6, 8"]);
        assert!(found[0].0.right <= 600.0, "nothing is cut: {found:?}");
    }

    #[test]
    fn nothing_lies_on_something_else() {
        let marks: Vec<Mark> =
            (0..6_u32).map(|line| mark(line as usize, (300.0 + f64::from(line), 200.0), "12.5")).collect();
        let found = placed(&marks, (600, 400));
        assert!(found.len() >= 4, "{found:?}");
        for (place, (room, _)) in found.iter().enumerate() {
            assert!(found[place + 1..].iter().all(|(other, _)| !room.meets(*other)), "{found:?}");
            assert!(marks.iter().all(|mark| !room.meets(Room::around(mark.at, 3.0))), "no point is covered: {found:?}");
        }
    }
}
