//! The strokes of a drawing in fewer words.

/// The same drawing, with strokes that follow each other in one style as one path. Dashes are drawn one by one, and would be
/// most of a page of many figures.
pub(super) fn joined(svg: &str) -> String {
    let mut joined = String::new();
    // The style of the path that is being written.
    let mut open = None;
    for line in svg.split_inclusive('\n') {
        let Some((style, points)) = stroke(line.trim_end()) else {
            close(&mut joined, open.take());
            joined += line;
            continue;
        };
        if open != Some(style) {
            close(&mut joined, open);
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
    close(&mut joined, open);
    joined
}

fn close(joined: &mut String, open: Option<&str>) {
    if open.is_some() {
        *joined += "\"/>\n";
    }
}

/// The style and the points of a stroke.
fn stroke(line: &str) -> Option<(&str, &str)> {
    line.strip_prefix("<polyline ")?.strip_suffix("\"/>")?.split_once(" points=\"")
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
}
