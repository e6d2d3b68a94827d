//! Scores with methods as rows and budgets as columns.

use veilgraph_evaluate::Cell;
use veilgraph_evaluate::metric::{self, Metric};
use veilgraph_runner::config::ConfigError;
use veilgraph_statistics::Summary;

use super::axis::ColumnAxis;
use super::method::method_headings;

use crate::comparison::{Compared, Verdict, are_about_the_same_data, best, compare, reference};
use crate::partial::Lack;
use crate::protected::{Protected, Standing};
use crate::summary::Row;

/// What the cells of a table are compared with.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Against<'a> {
    /// The best floor of each cell's experiment.
    Floor,
    /// The alternative, mechanism or model of this name: at the same column, else the one without a budget.
    Named(&'a str),
}

/// The scores of one experiment on one dataset.
pub(crate) struct PivotTable {
    pub experiment: String,
    pub dataset: String,
    pub metric: &'static Metric,
    /// What the columns are.
    pub axis: String,
    /// Headings of what tells methods apart.
    pub method_headings: Vec<String>,
    /// Headings of the budgets; the score where there is one column for all.
    pub columns: Vec<String>,
    pub lines: Vec<PivotLine>,
    /// What the cells are compared with, in words; none where there is nothing.
    pub against: Option<String>,
    /// The swept field whose values count as trials, if they do.
    pub over: Option<String>,
    /// What has not run, in words.
    pub gaps: Vec<String>,
}

/// A method over its budgets.
pub(crate) struct PivotLine {
    pub method: Vec<String>,
    pub standing: Standing,
    pub cells: Vec<Option<PivotCell>>,
    /// Why a column has no cell although the experiment asks for one.
    pub lacks: Vec<Option<Lack>>,
}

impl PivotLine {
    /// What stands in a column that has no cell; `dash` where the experiment asks for none.
    pub(crate) fn absent(&self, at: usize, dash: &'static str) -> &'static str {
        self.lacks[at].map_or(dash, Lack::word)
    }
}

/// The score of a method at one budget.
pub(crate) struct PivotCell {
    pub summary: Summary,
    pub compared: Option<Compared>,
    /// Whether it is the best of its column among what is private, or not separable from that.
    pub is_among_best: bool,
    pub epsilon: f64,
    pub epsilon_edge: f64,
    /// Number of test nodes, where the score is about them.
    pub test_nodes: Option<f64>,
    /// The scores of the trials.
    pub scores: Vec<f64>,
    /// Their differences to what the cell is compared with.
    pub differences: Vec<f64>,
}

/// A table for each experiment and dataset.
pub(crate) fn pivots(
    rows: &[&Row],
    metric: &'static Metric,
    against: Against,
    columns: Option<&str>,
) -> Result<Vec<PivotTable>, ConfigError> {
    let mut parts: Vec<(String, String)> = Vec::new();
    for row in rows {
        let part = (row.cell.experiment.clone(), row.cell.dataset.clone());
        if !parts.contains(&part) {
            parts.push(part);
        }
    }
    let mut tables = Vec::new();
    for (experiment, dataset) in parts {
        let mine: Vec<&Row> = rows
            .iter()
            .copied()
            .filter(|row| row.cell.experiment == experiment && row.cell.dataset == dataset)
            .collect();
        let axis = ColumnAxis::of(&mine, columns)?;
        tables.push(pivot(&mine, metric, against, &axis)?);
    }
    Ok(tables)
}

fn pivot(
    rows: &[&Row],
    metric: &'static Metric,
    against: Against,
    axis: &ColumnAxis,
) -> Result<PivotTable, ConfigError> {
    let protected = Protected::of(rows);
    let headings = method_headings(rows, axis);
    let references: Vec<Option<&Row>> =
        rows.iter().map(|row| other(protected, rows, row, metric, against, axis)).collect();
    if let Against::Named(name) = against
        && references.iter().all(Option::is_none)
    {
        let problem =
            format!("--against {name}: no alternative, mechanism or model is called so, or it shares no column");
        return Err(ConfigError(problem));
    }
    // Floors and ceilings are read, not judged.
    let is_judged = |row: &Row| protected.standing(&row.cell) == Standing::Private;
    let pairs: Vec<(&Row, Option<&Row>)> =
        rows.iter().zip(&references).map(|(row, other)| (*row, other.filter(|_| is_judged(row)))).collect();
    let compared = compare(&pairs, metric);
    let best_of_column: Vec<(&Row, Option<&Row>)> =
        rows.iter().map(|row| (*row, best_beside(protected, rows, row, metric, axis))).collect();
    let to_best = compare(&best_of_column, metric);
    let columns = columns_of(rows, axis);
    let mut lines: Vec<PivotLine> = Vec::new();
    for (place, row) in rows.iter().enumerate() {
        let method: Vec<String> = headings.iter().map(|heading| heading.value(&row.cell)).collect();
        let at = columns.iter().position(|column| *column == axis.value(&row.cell)).unwrap_or_default();
        let standing = protected.standing(&row.cell);
        let Some(summary) = row.summary(metric.name) else {
            if let Some(lack) = row.missing.get(metric.name) {
                line_of(&mut lines, method, standing, (at, columns.len())).lacks[at] = Some(*lack);
            }
            continue;
        };
        let is_best = best_of_column[place].1.is_some_and(|best| std::ptr::eq(best, *row));
        let is_inseparable = to_best[place].is_some_and(|compared| compared.verdict == Verdict::NotSeparable);
        let cell = PivotCell {
            summary,
            compared: compared[place],
            is_among_best: summary.trials > 1 && (is_best || is_inseparable),
            epsilon: row.cell.epsilon,
            epsilon_edge: row.cell.epsilon_edge,
            test_nodes: row.summary(metric::TEST_NODES.name).map(|summary| summary.mean),
            scores: row.values(metric.name),
            differences: pairs[place].1.map_or(Vec::new(), |other| row.differences(other, metric.name)),
        };
        line_of(&mut lines, method, standing, (at, columns.len())).cells[at] = Some(cell);
    }
    lines.sort_by_key(|line| match line.standing {
        Standing::Floor => 0,
        Standing::Private => 1,
        Standing::Ceiling => 2,
    });
    let is_compared = compared.iter().any(Option::is_some);
    let against = match against {
        Against::Floor => "the best floor".to_owned(),
        Against::Named(name) => format!("`{name}`"),
    };
    Ok(PivotTable {
        experiment: rows[0].cell.experiment.clone(),
        dataset: rows[0].cell.dataset.clone(),
        metric,
        axis: axis.words(),
        method_headings: headings.iter().map(|heading| heading.name.clone()).collect(),
        columns: axis.headings(columns, metric),
        lines,
        against: is_compared.then_some(against),
        over: None,
        gaps: Vec::new(),
    })
}

/// The values of the columns, from the smallest on; first what has none.
fn columns_of(rows: &[&Row], axis: &ColumnAxis) -> Vec<String> {
    let mut columns: Vec<String> = Vec::new();
    for row in rows {
        let value = axis.value(&row.cell);
        if !columns.contains(&value) {
            columns.push(value);
        }
    }
    let number = |text: &str| text.replace('∞', "inf").parse::<f64>().unwrap_or(f64::NEG_INFINITY);
    columns.sort_by(|a, b| number(a).total_cmp(&number(b)));
    columns
}

/// The line of a method whose column, of so many, is still empty. The line of a method with budgets holds the ceiling that
/// it is at a budget without bound.
fn line_of(
    lines: &mut Vec<PivotLine>,
    method: Vec<String>,
    standing: Standing,
    (at, columns): (usize, usize),
) -> &mut PivotLine {
    let is_empty = |line: &PivotLine| line.cells[at].is_none() && line.lacks[at].is_none();
    let is_mine = |line: &PivotLine| line.method == method && is_empty(line);
    let place = lines.iter().position(is_mine).unwrap_or(lines.len());
    if place == lines.len() {
        let cells = (0..columns).map(|_| None).collect();
        lines.push(PivotLine { method, standing, cells, lacks: vec![None; columns] });
    } else if lines[place].standing != standing {
        lines[place].standing = Standing::Private;
    }
    &mut lines[place]
}

/// What a row is compared with.
fn other<'a>(
    protected: Protected,
    rows: &[&'a Row],
    row: &Row,
    metric: &Metric,
    against: Against,
    axis: &ColumnAxis,
) -> Option<&'a Row> {
    let Against::Named(name) = against else {
        return reference(protected, rows, row, Standing::Floor, metric);
    };
    let is_called = |cell: &Cell| [&cell.alternative, &cell.mechanism, &cell.model].contains(&&name.to_owned());
    let named: Vec<&Row> = rows
        .iter()
        .copied()
        .filter(|other| is_called(&other.cell) && protects_the_rest_alike(protected, &other.cell, &row.cell))
        .collect();
    let here = |other: &&Row| axis.value(&other.cell) == axis.value(&row.cell);
    let is_like = |other: &&Row| {
        let is_one = other.cell.variant == row.cell.variant && other.cell.model == row.cell.model;
        is_one && other.cell.choices == row.cell.choices
    };
    // The one that differs in nothing else, else the best of that name; without a budget of its own where it has none.
    let at: Vec<&Row> =
        named.iter().copied().filter(here).filter(|other| is_at_one_budget(protected, other, row, axis)).collect();
    let level = || named.iter().copied().filter(|other| protected.standing(&other.cell) != Standing::Private);
    let like = at.iter().copied().find(is_like);
    like.or_else(|| best(at.into_iter(), metric)).or_else(|| best(level(), metric))
}

/// The best row of the row's column among those that are private at the same cost, where the row is one of them.
fn best_beside<'a>(
    protected: Protected,
    rows: &[&'a Row],
    row: &Row,
    metric: &Metric,
    axis: &ColumnAxis,
) -> Option<&'a Row> {
    let is_private = |cell: &Cell| protected.standing(cell) == Standing::Private;
    if !is_private(&row.cell) {
        return None;
    }
    let here = rows.iter().copied().filter(|other| {
        is_private(&other.cell)
            && axis.value(&other.cell) == axis.value(&row.cell)
            && is_at_one_budget(protected, other, row, axis)
            && protects_the_rest_alike(protected, &other.cell, &row.cell)
    });
    best(here, metric)
}

/// Whether both are about the same data and cost the same of everything but what the budget protects.
fn protects_the_rest_alike(protected: Protected, a: &Cell, b: &Cell) -> bool {
    let rest = protected == Protected::Model || protected.may_stand_beside(a, b, Standing::Ceiling);
    rest && are_about_the_same_data(a, b)
}

/// Whether both spend the same, where the columns are something else than the budget.
fn is_at_one_budget(protected: Protected, a: &Row, b: &Row, axis: &ColumnAxis) -> bool {
    axis.is(protected.field()) || protected.budget(&a.cell) == protected.budget(&b.cell)
}
