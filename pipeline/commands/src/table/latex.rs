//! A table as LaTeX, with the rules of the package `booktabs`.

use super::pivot::{PivotCell, PivotTable};

pub(super) fn written(tables: &[PivotTable]) -> String {
    tables.iter().map(one).collect::<Vec<_>>().join("\n\n")
}

fn one(table: &PivotTable) -> String {
    let columns = "l".repeat(table.method_headings.len()) + &"r".repeat(table.columns.len());
    let head: Vec<String> = table.method_headings.iter().chain(&table.columns).map(|text| escaped(text)).collect();
    let mut lines = table.comments("%");
    lines.extend([
        "% \\usepackage{booktabs}".to_owned(),
        "\\begin{table}".to_owned(),
        "\\centering".to_owned(),
        format!("\\caption{{{}. {}}}", escaped(&table.caption()), escaped(&table.notes().join(" "))),
        format!("\\label{{{}}}", label(table)),
        format!("\\begin{{tabular}}{{{columns}}}"),
        "\\toprule".to_owned(),
        row(&head),
        "\\midrule".to_owned(),
    ]);
    let mut before = table.lines.first().map(|line| line.standing);
    for line in &table.lines {
        // Floors, methods and ceilings stand apart.
        if before.replace(line.standing) != Some(line.standing) {
            lines.push("\\midrule".to_owned());
        }
        let methods = line.method.iter().map(|text| if text.is_empty() { "--".to_owned() } else { escaped(text) });
        let cells = line.cells.iter().enumerate();
        let cells = cells.map(|(at, cell)| {
            cell.as_ref().map_or_else(|| line.absent(at, "--").to_owned(), |cell| of_cell(table, cell))
        });
        lines.push(row(&methods.chain(cells).collect::<Vec<_>>()));
    }
    lines.extend(["\\bottomrule", "\\end{tabular}", "\\end{table}"].map(str::to_owned));
    lines.join("\n")
}

fn row(cells: &[String]) -> String {
    format!("{} \\\\", cells.join(" & "))
}

fn of_cell(table: &PivotTable, cell: &PivotCell) -> String {
    let text = escaped(&table.text(cell));
    let text = if cell.is_among_best { format!("\\textbf{{{text}}}") } else { text };
    match escaped(cell.mark()).as_str() {
        "" => text,
        mark => format!("{text}\\textsuperscript{{{mark}}}"),
    }
}

/// What a paper refers to a table by; TeX takes most signs in a dataset's name for commands.
fn label(table: &PivotTable) -> String {
    let name = format!("{}-{}-{}", table.experiment, table.dataset, table.metric.name);
    let plain = name.chars().map(|letter| if letter.is_ascii_alphanumeric() { letter } else { '-' });
    format!("tab:{}", plain.collect::<String>())
}

/// Text in which no character has a meaning of its own.
fn escaped(text: &str) -> String {
    let mut out = String::new();
    for letter in text.chars() {
        match letter {
            '\\' => out.push_str("\\textbackslash{}"),
            '&' | '%' | '$' | '#' | '_' | '{' | '}' => out.extend(['\\', letter]),
            '~' => out.push_str("\\textasciitilde{}"),
            '^' => out.push_str("\\textasciicircum{}"),
            '±' => out.push_str("$\\pm$"),
            '−' => out.push_str("$-$"),
            '≈' => out.push_str("$\\approx$"),
            '∞' => out.push_str("$\\infty$"),
            '√' => out.push_str("$\\surd$"),
            '–' => out.push_str("--"),
            '`' => out.push_str("\\textasciigrave{}"),
            letter => out.push(letter),
        }
    }
    out
}
