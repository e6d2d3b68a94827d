//! The strokes of a drawing in fewer words.

/// The same drawing, with strokes that follow each other in one style as one path. The lines of a grid, bars and crosses are
/// drawn one by one, and would be most of a page of many figures.
pub(super) fn joined(svg: &str) -> String {
    let mut joined = String::new();
    // The style of the path that is being written.
    let mut open: Option<String> = None;
    for line in svg.split_inclusive('\n') {
        let Some((style, points)) = stroke(line.trim_end()) else {
            close(&mut joined, open.take().is_some());
            joined += line;
            continue;
        };
        if open.as_ref() != Some(&style) {
            close(&mut joined, open.is_some());
            joined += &format!("<path {style} d=\"");
            open = Some(style);
        }
        let mut command = 'M';
        for point in points.split_whitespace() {
            joined.push(command);
            joined += point;
            command = 'L';
        }
    }
    close(&mut joined, open.is_some());
    joined
}

fn close(joined: &mut String, is_open: bool) {
    if is_open {
        *joined += "\"/>\n";
    }
}

/// The style and the points of a stroke: of several points, or of the two ends of a line.
fn stroke(element: &str) -> Option<(String, String)> {
    let element = element.strip_suffix("\"/>")?;
    if let Some(polyline) = element.strip_prefix("<polyline ") {
        let (style, points) = polyline.split_once(" points=\"")?;
        return Some((style.to_owned(), points.to_owned()));
    }
    let (style, ends) = element.strip_prefix("<line ")?.split_once(" x1=\"")?;
    // What stands between the numbers are their names.
    let ends: Vec<&str> = ends.split('"').step_by(2).collect();
    let [x1, y1, x2, y2] = ends[..] else { return None };
    Some((format!("fill=\"none\" {style}"), format!("{x1},{y1} {x2},{y2}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strokes_of_one_style_are_one_path() {
        let dash = |colour: &str, points: &str| {
            format!("<polyline fill=\"none\" stroke=\"{colour}\" stroke-width=\"1\" points=\"{points}\"/>\n")
        };
        let svg = [dash("#000", "1,2 3,4 "), dash("#000", "5,6 7,8 "), dash("#f00", "1,1 2,2 3,3 ")].concat();
        let svg = format!("<text>\na\n</text>\n{svg}<circle/>\n{}", dash("#000", "9,9 8,8 "));
        assert_eq!(
            joined(&svg),
            "<text>\na\n</text>\n<path fill=\"none\" stroke=\"#000\" stroke-width=\"1\" d=\"M1,2L3,4M5,6L7,8\"/>\n\
             <path fill=\"none\" stroke=\"#f00\" stroke-width=\"1\" d=\"M1,1L2,2L3,3\"/>\n<circle/>\n\
             <path fill=\"none\" stroke=\"#000\" stroke-width=\"1\" d=\"M9,9L8,8\"/>\n"
        );
        assert_eq!(joined("<g>\n</g>"), "<g>\n</g>");
    }

    #[test]
    fn lines_are_strokes_too() {
        let line =
            |x: i32| format!("<line stroke=\"#000\" stroke-width=\"1\" x1=\"{x}\" y1=\"2\" x2=\"{x}\" y2=\"4\"/>\n");
        let stroke = "<polyline fill=\"none\" stroke=\"#000\" stroke-width=\"1\" points=\"5,6 7,8 \"/>\n";
        assert_eq!(
            joined(&[line(1), line(3), stroke.to_owned()].concat()),
            "<path fill=\"none\" stroke=\"#000\" stroke-width=\"1\" d=\"M1,2L1,4M3,2L3,4M5,6L7,8\"/>\n"
        );
    }
}
