//! Whether a claim holds.

use serde::Serialize;
use veilgraph_evaluate::metric::{Better, Metric};
use veilgraph_runner::systems::CENTRAL;
use veilgraph_statistics::{ALPHA, Difference, Summary};

use super::claim::{Asks, Claim};
use super::file::Mode;
use crate::comparison::{Rival, are_about_the_same_data, best};
use crate::pooled::pooled;
use crate::protected::{protects_links_alone, state_the_same};
use crate::summary::{Row, in_trials, with_interval};

/// What is said of a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Verdict {
    /// The scores say so.
    Holds,
    /// They say otherwise, and their interval does as well.
    Fails,
    /// They say otherwise, and their interval does not, or there is none.
    Undecided,
    /// Nothing was run.
    Skipped,
}

impl Verdict {
    pub(super) fn words(self) -> &'static str {
        match self {
            Self::Holds => "holds",
            Self::Fails => "FAILS",
            Self::Undecided => "undecided",
            Self::Skipped => "skipped",
        }
    }
}

/// A verdict, and what it rests on.
#[derive(Clone, Serialize)]
pub(super) struct Finding {
    pub verdict: Verdict,
    /// In words.
    pub found: String,
    /// What was scored, or the difference, in the unit of tables; absent where nothing was.
    pub value: Option<f64>,
    /// Half width of its 95 % interval; absent for one trial.
    pub half_width: Option<f64>,
    pub trials: usize,
}

impl Finding {
    pub(super) fn skipped(why: String) -> Self {
        Self { verdict: Verdict::Skipped, found: why, value: None, half_width: None, trials: 0 }
    }

    pub(super) fn failed(why: String) -> Self {
        Self { verdict: Verdict::Fails, ..Self::skipped(why) }
    }
}

/// What the rows of a claim's experiment say of it. A claim about several cells is about each of them, and the finding is
/// that of the worst.
pub(super) fn of(claim: &Claim, rows: &[Row], mode: Mode) -> Finding {
    let Some(field) = &claim.mean_over else { return of_rows(claim, rows, mode) };
    let pooled = match pooled(rows, field) {
        Ok(pooled) => pooled,
        Err(problem) => return Finding::failed(problem.to_string()),
    };
    let mut finding = of_rows(claim, &pooled, mode);
    if finding.value.is_some() {
        finding.found = format!("mean over {field}: {}", finding.found);
    }
    finding
}

fn of_rows(claim: &Claim, rows: &[Row], mode: Mode) -> Finding {
    let metric = claim.score;
    let is_scored = |row: &&Row| row.scores.contains_key(metric.name);
    let mine: Vec<&Row> = rows.iter().filter(is_scored).filter(|row| claim.cells.has(&row.cell)).collect();
    if mine.is_empty() && mode == Mode::Quick {
        return Finding::skipped("its cells are no part of --quick".to_owned());
    }
    if mine.is_empty() {
        return Finding::failed(format!("no cell has `{}` where {}", metric.name, claim.cells.words()));
    }
    let about = |row: &Row| match &claim.asks {
        Asks::Near { expected, tolerance } => near(row, metric, *expected, tolerance.of(mode, *expected)),
        Asks::AtLeast(bound) => near_side(row, metric, *bound, |value, bound| value >= bound, "at least"),
        Asks::AtMost(bound) => near_side(row, metric, *bound, |value, bound| value <= bound, "at most"),
        Asks::BetterThan { others, by } => {
            let others = rows.iter().filter(is_scored).filter(|other| others.has(&other.cell) && is_beside(other, row));
            better(row, best(others, metric), metric, *by)
        }
        Asks::NoBetterThan { others, by } => {
            let others = rows.iter().filter(is_scored).filter(|other| others.has(&other.cell) && is_beside(other, row));
            no_better(row, Rival::best(others, metric), metric, *by)
        }
    };
    let severity = |finding: &Finding| match finding.verdict {
        Verdict::Fails => 2,
        Verdict::Undecided => 1,
        Verdict::Holds | Verdict::Skipped => 0,
    };
    let mut worst: Option<Finding> = None;
    for finding in mine.iter().map(|row| about(row)) {
        if worst.as_ref().is_none_or(|known| severity(&finding) > severity(known)) {
            worst = Some(finding);
        }
    }
    worst.unwrap_or_else(|| Finding::failed("nothing was scored".to_owned()))
}

/// Whether both are of the same data, and at the same budgets where both have them.
fn is_beside(a: &Row, b: &Row) -> bool {
    let has_budget = |row: &Row| row.cell.epsilon > 0.0 && row.cell.epsilon.is_finite();
    let at_one_budget = !has_budget(a) || !has_budget(b) || a.cell.epsilon == b.cell.epsilon;
    let budgets = a.cell.choices.iter().filter(|choice| choice.field.ends_with(".epsilon"));
    let mut both = budgets.filter_map(|choice| Some((choice.value.as_str(), b.cell.choice(&choice.field)?)));
    let are_models = a.cell.mechanism == CENTRAL && b.cell.mechanism == CENTRAL;
    let state_the_same = !are_models || protects_links_alone(&a.cell) || state_the_same(&a.cell, &b.cell);
    let at_one_budget = at_one_budget && state_the_same && both.all(|(own, theirs)| own == theirs);
    are_about_the_same_data(&a.cell, &b.cell) && at_one_budget
}

fn scored(row: &Row, metric: &Metric) -> Option<(Summary, String)> {
    let summary = row.summary(metric.name)?;
    let no_interval = if summary.trials == 1 { " and no interval" } else { "" };
    let text = format!("{}, {}{no_interval}", with_interval(&summary, metric), in_trials(summary.trials));
    Some((summary, text))
}

fn finding(verdict: Verdict, found: String, summary: &Summary, metric: &Metric) -> Finding {
    let factor = metric.unit.factor();
    Finding {
        verdict,
        found,
        value: Some(factor * summary.mean),
        half_width: Some(factor * summary.half_width).filter(|half_width| half_width.is_finite()),
        trials: summary.trials,
    }
}

/// How far a mean may be off by chance; one trial says nothing about that.
fn slack(trials: usize, half_width: f64) -> f64 {
    if trials > 1 { half_width } else { f64::INFINITY }
}

fn near(row: &Row, metric: &Metric, expected: f64, tolerance: f64) -> Finding {
    let Some((summary, text)) = scored(row, metric) else { return Finding::failed("nothing was scored".to_owned()) };
    let factor = metric.unit.factor();
    let off = (factor * summary.mean - expected).abs();
    let slack = factor * slack(summary.trials, summary.half_width);
    let verdict = match () {
        () if off <= tolerance => Verdict::Holds,
        () if off <= tolerance + slack => Verdict::Undecided,
        () => Verdict::Fails,
    };
    finding(verdict, format!("{text}; claimed {expected}, tolerance {tolerance}"), &summary, metric)
}

fn near_side(row: &Row, metric: &Metric, bound: f64, is_met: fn(f64, f64) -> bool, words: &str) -> Finding {
    let Some((summary, text)) = scored(row, metric) else { return Finding::failed("nothing was scored".to_owned()) };
    let factor = metric.unit.factor();
    let slack = factor * slack(summary.trials, summary.half_width);
    let mean = factor * summary.mean;
    let verdict = match () {
        () if is_met(mean, bound) => Verdict::Holds,
        () if is_met(mean + slack, bound) || is_met(mean - slack, bound) => Verdict::Undecided,
        () => Verdict::Fails,
    };
    finding(verdict, format!("{text}; claimed {words} {bound}"), &summary, metric)
}

/// How much better a row is than another, in the unit of tables and the direction of the score, with its p-value.
fn gain(row: &Row, other: Option<&Row>, metric: &Metric) -> Option<(Difference, String)> {
    let other = other?;
    let mut difference = row.difference(other, metric)?;
    let sign = if metric.better == Better::Lower { -1.0 } else { 1.0 };
    difference.mean *= sign * metric.unit.factor();
    difference.half_width *= metric.unit.factor();
    let interval = if difference.trials > 1 { format!(" ± {:.3}", difference.half_width) } else { String::new() };
    let (_, own) = scored(row, metric)?;
    let (_, theirs) = scored(other, metric)?;
    Some((difference, format!("{own}, beside {theirs}: better by {:.3}{interval}", difference.mean)))
}

fn of_gain(difference: &Difference, verdict: Verdict, text: String) -> Finding {
    Finding {
        verdict,
        found: text,
        value: Some(difference.mean),
        half_width: Some(difference.half_width).filter(|half_width| half_width.is_finite()),
        trials: difference.trials,
    }
}

fn better(row: &Row, other: Option<&Row>, metric: &Metric, by: f64) -> Finding {
    let Some((difference, text)) = gain(row, other, metric) else {
        return Finding::failed("there is nothing to compare with, or no shared trial".to_owned());
    };
    let is_separable = difference.p_value.is_some_and(|p| p < ALPHA);
    let slack = slack(difference.trials, difference.half_width);
    let verdict = match () {
        () if difference.mean >= by && difference.mean > 0.0 && is_separable => Verdict::Holds,
        () if difference.mean + slack > by.max(0.0) => Verdict::Undecided,
        () => Verdict::Fails,
    };
    of_gain(&difference, verdict, format!("{text}; claimed at least {by}"))
}

fn no_better(row: &Row, other: Option<Rival>, metric: &Metric, by: f64) -> Finding {
    let best_of = other.as_ref().map_or(1, |rival| rival.best_of);
    let Some((difference, text)) = gain(row, other.map(|rival| rival.row), metric) else {
        return Finding::failed("there is nothing to compare with, or no shared trial".to_owned());
    };
    let slack = slack(difference.trials, difference.half_width);
    // The best of several rows was picked by the same trials, which make it look better than it is.
    let slack_of_best = self::slack(difference.trials, difference.half_width_among(best_of));
    // A test that finds nothing proves nothing: the whole interval has to lie below what is allowed.
    let verdict = match () {
        () if difference.mean + slack_of_best <= by => Verdict::Holds,
        () if difference.mean - slack > by => Verdict::Fails,
        () => Verdict::Undecided,
    };
    let has_interval = difference.trials > 1;
    let among = if best_of > 1 && has_interval {
        format!(" (± {slack_of_best:.3} for the best of {best_of})")
    } else {
        String::new()
    };
    of_gain(&difference, verdict, format!("{text}{among}; claimed no more than {by}"))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use veilgraph_evaluate::Cell;
    use veilgraph_evaluate::metric::ACCURACY;

    use super::*;

    fn row(scores: [f64; 5]) -> Row {
        let scores = BTreeMap::from([(ACCURACY.name.to_owned(), (0..).zip(scores).collect())]);
        Row { cell: Cell::default(), setting: String::new(), scores, missing: BTreeMap::new() }
    }

    /// The best of several was picked by the same trials, so that an interval for one alone is too narrow.
    #[test]
    fn no_gain_over_the_best_of_several_needs_a_wider_interval() {
        let (ours, theirs) = (row([0.52, 0.5, 0.53, 0.51, 0.49]), row([0.5, 0.5, 0.5, 0.5, 0.5]));
        let difference = ours.difference(&theirs, &ACCURACY).expect("shared trials");
        let by = 100.0 * (difference.mean + 1.2 * difference.half_width);
        let judged = |best_of: usize| no_better(&ours, Some(Rival { row: &theirs, best_of }), &ACCURACY, by);
        assert_eq!(judged(1).verdict, Verdict::Holds);
        assert_eq!(judged(6).verdict, Verdict::Undecided);
        assert!(judged(6).found.contains("for the best of 6"), "{}", judged(6).found);
    }
}
