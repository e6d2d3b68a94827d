//! Scores with methods as rows and budgets as columns.

use std::collections::BTreeSet;

use veilgraph_evaluate::RelationCost;
use veilgraph_evaluate::metric::{self, Metric};
use veilgraph_runner::config::ConfigError;
use veilgraph_runner::plan::rounded;
use veilgraph_statistics::Summary;

use super::axis::ColumnAxis;
use super::beside::Beside;
use super::method::{MethodHeading, method_headings};
use crate::comparison::{Compared, Rival, Verdict, compare, reference};
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
    /// The budget of all that is private, in words, where it is one and no column.
    pub budget: Option<String>,
    /// Headings of what tells methods apart.
    pub method_headings: Vec<String>,
    /// What programs call them.
    pub method_columns: Vec<String>,
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
    /// What its reports cost, under each relation.
    pub costs: Vec<RelationCost>,
    /// Number of test nodes, where the score is about them.
    pub test_nodes: Option<f64>,
    /// The scores of the trials.
    pub scores: Vec<f64>,
    /// Their differences to what the cell is compared with.
    pub differences: Vec<f64>,
}

impl PivotCell {
    /// Whether the guarantee holds as executed, as far as this program can tell.
    pub(super) fn is_sound(&self) -> bool {
        self.costs.iter().all(|cost| cost.sound)
    }
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
    let beside = Beside { protected, rows, metric, axis };
    let references = rows.iter().map(|row| match against {
        Against::Floor => reference(protected, rows, row, Standing::Floor, metric),
        Against::Named(name) => beside.named(row, name),
    });
    let references: Vec<Option<Rival>> = references.collect();
    if let Against::Named(name) = against
        && references.iter().all(Option::is_none)
    {
        let problem =
            format!("--against {name}: no alternative, mechanism or model is called so, or it shares no column");
        return Err(ConfigError(problem));
    }
    // Floors and ceilings are read, not judged.
    let is_judged = |row: &Row| protected.standing(&row.cell) == Standing::Private;
    let pairs: Vec<(&Row, Option<Rival>)> =
        rows.iter().zip(&references).map(|(row, rival)| (*row, rival.filter(|_| is_judged(row)))).collect();
    let compared = compare(&pairs, metric);
    let best_of_column: Vec<(&Row, Option<Rival>)> = rows.iter().map(|row| (*row, beside.best(row))).collect();
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
        let is_best = best_of_column[place].1.is_some_and(|best| std::ptr::eq(best.row, *row));
        let is_inseparable = to_best[place].is_some_and(|compared| compared.verdict == Verdict::NotSeparable);
        let cell = PivotCell {
            summary,
            compared: compared[place],
            is_among_best: summary.trials > 1 && (is_best || is_inseparable),
            epsilon: row.cell.epsilon,
            epsilon_edge: row.cell.epsilon_edge,
            costs: row.cell.costs.clone(),
            test_nodes: row.summary(metric::TEST_NODES.name).map(|summary| summary.mean),
            scores: row.values(metric.name),
            differences: pairs[place].1.map_or(Vec::new(), |rival| row.differences(rival.row, metric)),
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
        budget: common_budget(protected, rows, axis),
        method_headings: headings.iter().map(|heading| heading.name.clone()).collect(),
        method_columns: headings.iter().map(MethodHeading::column).collect(),
        columns: axis.headings(columns, metric),
        lines,
        against: is_compared.then_some(against),
        over: None,
        gaps: Vec::new(),
    })
}

/// The budget of all that is private, in words, where it is one and no column.
fn common_budget(protected: Protected, rows: &[&Row], axis: &ColumnAxis) -> Option<String> {
    if axis.is(protected.field()) {
        return None;
    }
    let mut budgets = BTreeSet::new();
    for Row { cell, .. } in rows.iter().filter(|row| protected.standing(&row.cell) == Standing::Private) {
        let mut words = format!("{} nats per {}", rounded(protected.budget(cell)?), protected.unit(cell));
        if let Some((nats, unit)) = protected.other_budget(cell) {
            words += &format!(", {} per {unit}", rounded(nats));
        }
        budgets.insert(words);
    }
    budgets.pop_first().filter(|_| budgets.is_empty())
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
