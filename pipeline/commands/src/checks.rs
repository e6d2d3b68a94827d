//! Whether the scores and artifacts of an experiment say what its `[[check]]` tables ask of them.

mod artifacts;

use serde::Serialize;
use veilgraph_evaluate::Cell;
use veilgraph_evaluate::metric::{Better, Metric};
use veilgraph_runner::config::selection::Selection;
use veilgraph_runner::config::{Asks, Check, Rule};
use veilgraph_runner::task::{Done, Task};

use super::comparison::{Rival, Verdict, compare, reference};
use super::protected::{Protected, Standing};
use super::summary::Row;
pub(crate) use artifacts::refuse_unknown;

/// How a check ended.
#[derive(Serialize)]
pub(crate) struct Outcome {
    pub name: String,
    /// Whether every cell passes, and there is one.
    pub passed: bool,
    /// Whether the run fails where it does not.
    pub is_fatal: bool,
    /// Number of cells, or of artifacts, that were looked at.
    pub cells: usize,
    /// Which of the two they are.
    pub counted: &'static str,
    /// What is wrong, one by one.
    pub problems: Vec<String>,
}

/// The outcomes of all checks of an experiment: of its scores, and of the artifacts that its tasks made.
pub(crate) fn outcomes(checks: &[Check], rows: &[Row], tasks: &[Task], done: &[Done]) -> Vec<Outcome> {
    let outcome = |check: &Check| {
        let (counted, (cells, problems)) = match &check.asks {
            Asks::Score { score, cells, rule } => ("cells", of_score(score, cells, rule, rows)),
            Asks::Artifact { artifact, query, bound } => {
                ("artifacts", artifacts::judged(&artifacts::named(artifact, tasks, done), artifact, query, *bound))
            }
        };
        let (name, is_fatal) = (check.name.clone(), check.is_fatal);
        Outcome { name, passed: problems.is_empty(), is_fatal, cells, counted, problems }
    };
    checks.iter().map(outcome).collect()
}

/// A line for each check, and one for each problem.
pub(crate) fn words(outcomes: &[Outcome]) -> Vec<String> {
    let mut lines = Vec::new();
    for outcome in outcomes {
        let word = match (outcome.passed, outcome.is_fatal) {
            (true, _) => "passed",
            (false, true) => "FAILED",
            (false, false) => "warning",
        };
        lines.push(format!("check {word}: {} ({} {})", outcome.name, outcome.cells, outcome.counted));
        lines.extend(outcome.problems.iter().map(|problem| format!("  {problem}")));
    }
    lines
}

/// An error that names the checks with which the run fails, and what was wrong first.
pub(crate) fn ensure_passed(outcomes: &[Outcome]) -> anyhow::Result<()> {
    let fatal = outcomes.iter().filter(|outcome| outcome.is_fatal && !outcome.passed);
    let words = |outcome: &Outcome| match outcome.problems.split_first() {
        None => outcome.name.clone(),
        Some((first, [])) => format!("{} ({first})", outcome.name),
        Some((first, rest)) => format!("{} ({first}, and {} more)", outcome.name, rest.len()),
    };
    let failed: Vec<String> = fatal.map(words).collect();
    anyhow::ensure!(failed.is_empty(), "the scores stand, and these checks of them failed: {}", failed.join("; "));
    Ok(())
}

/// Number of cells, and what is wrong with them.
fn of_score(metric: &Metric, selection: &Selection, rule: &Rule, rows: &[Row]) -> (usize, Vec<String>) {
    let has_score = |row: &&Row| row.scores.contains_key(metric.name) && selection.has(&row.cell);
    let protected = Protected::of(&rows.iter().collect::<Vec<_>>());
    let mut mine: Vec<&Row> = rows.iter().filter(has_score).collect();
    if matches!(rule, Rule::NoWorseThanFloor | Rule::NoWorseWithEpsilon) {
        mine.retain(|row| protected.standing(&row.cell) == Standing::Private);
    }
    let (cells, mut problems) = match rule {
        Rule::Bound(bound) => (mine.len(), beyond(&mine, metric, |mean| bound.holds(mean))),
        Rule::Near { other, within } => (mine.len(), away(&mine, metric, other, *within)),
        Rule::NoWorseThanFloor => {
            let all: Vec<&Row> = rows.iter().collect();
            let pairs: Vec<(&Row, Option<Rival>)> =
                mine.iter().map(|row| (*row, reference(protected, &all, row, Standing::Floor, metric))).collect();
            (pairs.iter().filter(|pair| pair.1.is_some()).count(), worse(&pairs, metric))
        }
        Rule::NoWorseWithEpsilon => {
            let pairs: Vec<(&Row, Option<Rival>)> =
                mine.iter().map(|row| (*row, step_before(&mine, row).map(Rival::from))).collect();
            (pairs.iter().filter(|pair| pair.1.is_some()).count(), worse(&pairs, metric))
        }
    };
    if cells == 0 {
        let missing = match rule {
            Rule::NoWorseThanFloor => "that has a floor beside it; add references = [\"features-only\", \"no-links\"]",
            Rule::NoWorseWithEpsilon => "with a smaller budget beside it",
            _ => "",
        };
        let meant = match selection.words().as_str() {
            "" => String::new(),
            words => format!(" where {words}"),
        };
        problems.push(format!("no cell has this score{meant} {missing}").trim_end().to_owned());
    }
    (cells, problems)
}

/// What a cell is called in a problem.
fn called(cell: &Cell) -> String {
    let epsilon = format!("epsilon {}", cell.epsilon);
    let parts =
        [&cell.dataset, &cell.estimate(), &cell.mechanism, &epsilon, &cell.variant, &cell.model].map(Clone::clone);
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(", ")
}

fn beyond(rows: &[&Row], metric: &Metric, is_right: impl Fn(f64) -> bool) -> Vec<String> {
    let of = |row: &&Row| {
        let mean = row.summary(metric.name)?.mean;
        (!is_right(mean * metric.unit.factor())).then(|| format!("{}: {}", called(&row.cell), metric.written(mean)))
    };
    rows.iter().filter_map(of).collect()
}

fn away(rows: &[&Row], metric: &Metric, other: &Metric, within: f64) -> Vec<String> {
    let of = |row: &&Row| {
        let mean = row.summary(metric.name)?.mean;
        let Some(wanted) = row.summary(other.name) else {
            return Some(format!("{}: it has no score `{}`", called(&row.cell), other.name));
        };
        let is_near = (mean - wanted.mean).abs() <= within * wanted.mean.abs();
        (!is_near).then(|| {
            format!(
                "{}: {} beside {} {}",
                called(&row.cell),
                metric.written(mean),
                other.heading,
                other.written(wanted.mean)
            )
        })
    };
    rows.iter().filter_map(of).collect()
}

/// The same method at the next smaller budget of links.
fn step_before<'a>(rows: &[&'a Row], row: &Row) -> Option<&'a Row> {
    let rest = |cell: &Cell| {
        let choices = cell.choices.iter().filter(|choice| choice.field != "privatize.links.epsilon");
        let names = [&cell.experiment, &cell.dataset, &cell.alternative, &cell.mechanism, &cell.variant, &cell.model];
        (names.map(Clone::clone), choices.cloned().collect::<Vec<_>>())
    };
    let smaller = rows
        .iter()
        .copied()
        .filter(|other| other.cell.epsilon < row.cell.epsilon && rest(&other.cell) == rest(&row.cell));
    smaller.max_by(|a, b| a.cell.epsilon.total_cmp(&b.cell.epsilon))
}

/// Rows that are worse than what they are compared with, and not by the accident of few trials. With one trial, the scores
/// themselves decide.
fn worse(pairs: &[(&Row, Option<Rival>)], metric: &Metric) -> Vec<String> {
    let mut problems = Vec::new();
    for ((row, other), compared) in pairs.iter().zip(compare(pairs, metric)) {
        let (Some(other), Some(compared)) = (other, compared) else { continue };
        let gain = compared.difference.mean;
        let is_lower = if metric.better == Better::Lower { gain > 0.0 } else { gain < 0.0 };
        if compared.verdict == Verdict::Worse || (compared.verdict == Verdict::OneTrial && is_lower) {
            let mean =
                |row: &Row| row.summary(metric.name).map_or(String::new(), |summary| metric.written(summary.mean));
            problems.push(format!(
                "{}: {}, and {}: {}",
                called(&row.cell),
                mean(row),
                called(&other.row.cell),
                mean(other.row)
            ));
        }
    }
    problems
}
