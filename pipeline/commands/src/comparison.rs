//! How far a score is from the floors and ceilings that it is read beside.

use veilgraph_evaluate::Cell;
use veilgraph_evaluate::metric::{Better, Metric};
use veilgraph_statistics::{ALPHA, Difference, holm};

use super::protected::{Protected, Standing, protects_links_alone};
use super::summary::Row;

/// The reference of the wanted standing that comes out best in `metric` among those of the row's experiment, dataset and
/// other costs. The best is taken so that what is said against it holds against all of them.
pub(crate) fn reference<'a>(
    protected: Protected,
    rows: &[&'a Row],
    row: &Row,
    wanted: Standing,
    metric: &Metric,
) -> Option<&'a Row> {
    let belongs = |other: &&&Row| {
        protected.standing(&other.cell) == wanted
            && are_about_the_same_data(&other.cell, &row.cell)
            && other.cell.choice("audit.attack").is_none()
    };
    let all: Vec<&Row> = rows.iter().filter(belongs).copied().collect();
    let fitting = |other: &&Row| protected.may_stand_beside(&other.cell, &row.cell, wanted);
    let same = best(all.iter().copied().filter(fitting), metric);
    // The ceiling of a model costs more by its nature, and so does a perceptron beside models that protect links alone.
    let is_fallback = protected == Protected::Model && (wanted == Standing::Ceiling || protects_links_alone(&row.cell));
    same.or_else(|| if is_fallback { best(all.into_iter(), metric) } else { None })
}

/// Whether both were scored on the same graph, with the same nodes for training and for tests.
pub(crate) fn are_about_the_same_data(a: &Cell, b: &Cell) -> bool {
    let data = |cell: &Cell| {
        let choices = cell.choices.iter().filter(|choice| choice.stage() == "ingest");
        choices.map(|choice| (choice.field.clone(), choice.value.clone())).collect::<Vec<_>>()
    };
    a.experiment == b.experiment && a.dataset == b.dataset && data(a) == data(b)
}

/// The row with the best mean; none for a metric of which neither direction is better.
pub(crate) fn best<'a>(rows: impl Iterator<Item = &'a Row>, metric: &Metric) -> Option<&'a Row> {
    let mut scored: Vec<(f64, &Row)> =
        rows.filter_map(|row| Some((goodness(metric, row.summary(metric.name)?.mean)?, row))).collect();
    // The first of equals is taken, so that the answer does not depend on a sort.
    scored.sort_by(|a, b| b.0.total_cmp(&a.0));
    scored.first().map(|(_, row)| *row)
}

/// A value that is the larger the better.
fn goodness(metric: &Metric, value: f64) -> Option<f64> {
    match metric.better {
        Better::Higher => Some(value),
        Better::Lower => Some(-value),
        Better::Neither => None,
    }
}

/// How a row compares with another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// It is better, and that is no accident of few trials.
    Better,
    /// It is worse, likewise.
    Worse,
    /// The trials do not tell which is better.
    NotSeparable,
    /// There is one shared trial, which gives no interval.
    OneTrial,
}

impl Verdict {
    /// In words.
    pub(crate) fn words(self) -> &'static str {
        match self {
            Self::Better => "better",
            Self::Worse => "worse",
            Self::NotSeparable => "not separable",
            Self::OneTrial => "one trial",
        }
    }
}

/// The difference to a reference, with its place among all differences of a table.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Compared {
    pub difference: Difference,
    /// p-value after Holm's correction over the table; none for one trial.
    pub corrected: Option<f64>,
    pub verdict: Verdict,
}

/// Each row against its reference, where it has one and shares a trial with it; corrected over all of them together.
pub(crate) fn compare(pairs: &[(&Row, Option<&Row>)], metric: &Metric) -> Vec<Option<Compared>> {
    let differences: Vec<Option<Difference>> = pairs
        .iter()
        .map(|(row, reference)| row.difference(reference.filter(|other| !std::ptr::eq(*other, *row))?, metric.name))
        .collect();
    let p_values: Vec<f64> = differences.iter().flatten().filter_map(|difference| difference.p_value).collect();
    let mut corrected = holm(&p_values).into_iter();
    let mut place = |difference: Difference| {
        let corrected = difference.p_value.and_then(|_| corrected.next());
        let verdict = match corrected {
            None => Verdict::OneTrial,
            Some(p) if p >= ALPHA => Verdict::NotSeparable,
            Some(_) if goodness(metric, difference.mean).is_some_and(|gain| gain > 0.0) => Verdict::Better,
            Some(_) => Verdict::Worse,
        };
        Compared { difference, corrected, verdict }
    };
    differences.into_iter().map(|difference| difference.map(&mut place)).collect()
}
