//! Tables and figures as a page shows them.

use minijinja::{Value, context};
use veilgraph_evaluate::metric::{self, ScoreTable};

use super::draw;
use super::figure::Figure;
use crate::protected::Standing;
use crate::summary::{self, Row};
use crate::table::{Against, PivotLine, PivotTable, pivots};

/// The scores that are read first, with methods as rows and budgets as columns.
pub(super) fn pivots_on_page(rows: &[Row]) -> anyhow::Result<Vec<Value>> {
    let mut all = Vec::new();
    for metric in [&metric::ACCURACY, &metric::AVERAGE_PRECISION] {
        let is_asked = |row: &&Row| row.is_about(metric.name) && row.cell.choice("audit.attack").is_none();
        let scored: Vec<&Row> = rows.iter().filter(is_asked).collect();
        all.extend(pivots(&scored, metric, Against::Floor, None)?.iter().map(pivot_on_page));
    }
    Ok(all)
}

fn pivot_on_page(table: &PivotTable) -> Value {
    let method = table.method_headings.join(", ");
    let head: Vec<String> = std::iter::once(method).chain(table.columns.iter().cloned()).collect();
    let cell = |line: &PivotLine, at: usize| match &line.cells[at] {
        None => context! { text => line.absent(at, "–") },
        Some(cell) => context! {
            text => table.text(cell),
            mark => cell.mark(),
            best => cell.is_among_best,
            verdict => cell.compared.map(|compared| compared.verdict.words()),
            words => cell.words(table),
        },
    };
    let lines: Vec<Value> = table
        .lines
        .iter()
        .map(|line| {
            let named = table.method_headings.iter().zip(&line.method).filter(|(_, part)| !part.is_empty());
            // A number alone says nothing, and a reference is often called as its mechanism is.
            let mut parts: Vec<String> = named
                .map(
                    |(heading, part)| {
                        if part.parse::<f64>().is_ok() { format!("{heading} {part}") } else { part.clone() }
                    },
                )
                .collect();
            parts.dedup();
            let standing = match line.standing {
                Standing::Floor => "floor",
                Standing::Ceiling => "ceiling",
                Standing::Private => "private",
            };
            context! { method => parts.join(", "), standing, cells => (0..line.cells.len()).map(|at| cell(line, at)).collect::<Vec<_>>() }
        })
        .collect();
    context! { caption => table.caption(), head, lines, notes => table.notes() }
}

/// A figure with the names of its lines and its values as text.
pub(super) fn figure_on_page(figure: &Figure, svg: String) -> Value {
    let points = figure.lines.iter().flat_map(|line| line.points.iter().map(move |point| (line, point)));
    let points: Vec<[String; 3]> = points
        .map(|(line, point)| {
            let at = if line.is_level { "any".to_owned() } else { point.x.to_string() };
            [line.called(), at, point.words()]
        })
        .collect();
    context! {
        name => figure.name.as_str(),
        title => figure.title.as_str(),
        svg,
        lines => figure
            .lines
            .iter()
            .zip(draw::page_colours(figure))
            .map(|(line, colour)| context! { name => line.called(), colour, is_dashed => line.is_reference() })
            .collect::<Vec<_>>(),
        x => figure.x.label.as_str(),
        y => figure.y.label.as_str(),
        is_long => points.len() > MOST_VALUES,
        points => if points.len() > MOST_VALUES { Vec::new() } else { points },
    }
}

/// Values of a figure that stand on the page; more stand in its file alone, so that the page of a whole paper stays small.
const MOST_VALUES: usize = 60;
/// Lines of a table that stand on the page, likewise.
pub(super) const MOST_LINES: usize = 400;

pub(super) fn tables(rows: &[Row]) -> Vec<Value> {
    let table = |kind: ScoreTable| {
        let mut lines = summary::cells(kind, rows).into_iter();
        let head = lines.next()?;
        let lines: Vec<Vec<String>> = lines.collect();
        let number = lines.len();
        let shown = if number > MOST_LINES { Vec::new() } else { lines };
        Some(context! { title => kind.title(), head, lines => shown, number })
    };
    ScoreTable::ALL.into_iter().filter_map(table).collect()
}

/// The lines if they are at most so many, else none.
pub(super) fn up_to<T>(most: usize, lines: Vec<T>) -> Vec<T> {
    if lines.len() > most { Vec::new() } else { lines }
}
