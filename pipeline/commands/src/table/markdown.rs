//! A table as Markdown.

use super::pivot::{PivotCell, PivotTable};

pub(super) fn written(tables: &[PivotTable]) -> String {
    tables.iter().map(one).collect::<Vec<_>>().join("\n\n")
}

fn one(table: &PivotTable) -> String {
    let head: Vec<&String> = table.method_headings.iter().chain(&table.columns).collect();
    let mut lines = vec![format!("**{}**", table.caption()), String::new()];
    lines.push(row(head.iter().map(|text| escaped(text))));
    let sides = table.method_headings.iter().map(|_| "---").chain(table.columns.iter().map(|_| "---:"));
    lines.push(row(sides.map(str::to_owned)));
    for line in &table.lines {
        let methods = line.method.iter().map(|text| if text.is_empty() { "–".to_owned() } else { escaped(text) });
        let cells = line.cells.iter().enumerate();
        let cells = cells.map(|(at, cell)| {
            cell.as_ref().map_or_else(|| line.absent(at, "–").to_owned(), |cell| of_cell(table, cell))
        });
        lines.push(row(methods.chain(cells)));
    }
    lines.push(String::new());
    lines.extend(table.notes());
    lines.extend(table.gaps.iter().map(|gap| format!("{gap}.")));
    lines.join("\n")
}

fn row(cells: impl Iterator<Item = String>) -> String {
    format!("| {} |", cells.collect::<Vec<_>>().join(" | "))
}

fn of_cell(table: &PivotTable, cell: &PivotCell) -> String {
    let text = table.text(cell);
    let text = if cell.is_among_best { format!("**{text}**") } else { text };
    [text.as_str(), cell.mark()].join(" ").trim_end().to_owned()
}

fn escaped(text: &str) -> String {
    text.replace('|', "\\|")
}
