//! A table as Typst.

use super::pivot::{PivotCell, PivotTable};

pub(super) fn written(tables: &[PivotTable]) -> String {
    tables.iter().map(one).collect::<Vec<_>>().join("\n\n")
}

fn one(table: &PivotTable) -> String {
    let (methods, budgets) = (table.method_headings.len(), table.columns.len());
    let head: Vec<String> = table.method_headings.iter().chain(&table.columns).map(|text| quoted(text)).collect();
    let mut lines = table.comments("//");
    lines.extend([
        "#figure(".to_owned(),
        format!("  caption: {},", quoted(&format!("{}. {}", table.caption(), table.notes().join(" ")))),
        "  table(".to_owned(),
        format!("    columns: {},", methods + budgets),
        format!("    align: (left,) * {methods} + (right,) * {budgets},"),
        format!("    table.header({}),", head.join(", ")),
    ]);
    for line in &table.lines {
        let methods = line.method.iter().map(|text| if text.is_empty() { quoted("–") } else { quoted(text) });
        let cells = line.cells.iter().enumerate();
        let cells = cells
            .map(|(at, cell)| cell.as_ref().map_or_else(|| quoted(line.absent(at, "–")), |cell| of_cell(table, cell)));
        lines.push(format!("    {},", methods.chain(cells).collect::<Vec<_>>().join(", ")));
    }
    lines.extend(["  ),", ")"].map(str::to_owned));
    lines.join("\n")
}

fn of_cell(table: &PivotTable, cell: &PivotCell) -> String {
    let text = quoted(&table.text(cell));
    let text = if cell.is_among_best { format!("strong({text})") } else { text };
    match cell.mark() {
        "" => text,
        mark => {
            format!("[#{} #super({})]", if cell.is_among_best { text } else { format!("text({text})") }, quoted(mark))
        }
    }
}

/// A text of Typst, in which only quotes and backslashes have a meaning.
fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}
