//! How far a score is from the floors and ceilings that it is read beside.

use veilgraph_evaluate::Cell;
use veilgraph_evaluate::metric::{Better, Metric};
use veilgraph_statistics::{ALPHA, Difference, Summary, holm};

use super::protected::{Protected, Standing, protects_links_alone};
use super::summary::Row;

/// A row that another one is compared with.
#[derive(Clone, Copy)]
pub(crate) struct Rival<'a> {
    pub row: &'a Row,
    /// It came out best among so many, by the same trials that are compared.
    pub best_of: usize,
}

impl<'a> Rival<'a> {
    /// The best of these rows; none for a metric of which neither direction is better.
    pub(crate) fn best(rows: impl Iterator<Item = &'a Row>, metric: &Metric) -> Option<Self> {
        let scored: Vec<&Row> = rows.filter(|row| row.summary(metric.name).is_some()).collect();
        best(scored.iter().copied(), metric).map(|row| Self { row, best_of: scored.len() })
    }
}

impl<'a> From<&'a Row> for Rival<'a> {
    /// A row that the trials did not pick.
    fn from(row: &'a Row) -> Self {
        Self { row, best_of: 1 }
    }
}

/// The reference of the wanted standing that comes out best in `metric` among those of the row's experiment, dataset and
/// other costs. The best is taken so that a row that is better than it is better than all of them.
pub(crate) fn reference<'a>(
    protected: Protected,
    rows: &[&'a Row],
    row: &Row,
    wanted: Standing,
    metric: &Metric,
) -> Option<Rival<'a>> {
    let belongs = |other: &&&Row| {
        protected.standing(&other.cell) == wanted
            && are_about_the_same_data(&other.cell, &row.cell)
            && other.cell.choice("audit.attack").is_none()
    };
    let all: Vec<&Row> = rows.iter().filter(belongs).copied().collect();
    let fitting = |other: &&Row| protected.may_stand_beside(&other.cell, &row.cell, wanted);
    let same = Rival::best(all.iter().copied().filter(fitting), metric);
    // The ceiling of a model costs more by its nature, and so does a perceptron beside models that protect links alone.
    let is_fallback = protected == Protected::Model && (wanted == Standing::Ceiling || protects_links_alone(&row.cell));
    same.or_else(|| if is_fallback { Rival::best(all.into_iter(), metric) } else { None })
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
    let mean = |row: &Row| Some(Summary::of(&row.compared_scores(metric)?.into_values().collect::<Vec<_>>())?.mean);
    let mut scored: Vec<(f64, &Row)> = rows.filter_map(|row| Some((goodness(metric, mean(row)?)?, row))).collect();
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
    /// p-value after the corrections of [`compare`]; none for one trial.
    pub corrected: Option<f64>,
    pub verdict: Verdict,
}

/// Each row against its rival, where it has one and shares a trial with it.
///
/// The p-values are corrected over all pairs together (Holm). Before that, the p-value of a row that is worse than the best of
/// several is multiplied by their number (Bonferroni): the trials that are compared picked the best, so that its mean is too good by
/// accident. What is better than the best needs no such correction, because the accident is against it.
pub(crate) fn compare(pairs: &[(&Row, Option<Rival>)], metric: &Metric) -> Vec<Option<Compared>> {
    let is_better = |difference: &Difference| goodness(metric, difference.mean).is_some_and(|gain| gain > 0.0);
    let difference = |(row, rival): &(&Row, Option<Rival>)| {
        let rival = rival.filter(|rival| !std::ptr::eq(rival.row, *row))?;
        row.difference(rival.row, metric)
    };
    let differences: Vec<Option<Difference>> = pairs.iter().map(difference).collect();
    let mut p_values = Vec::new();
    for (difference, (_, rival)) in differences.iter().zip(pairs) {
        let (Some(difference), Some(rival)) = (difference, rival) else { continue };
        let picked_from = if is_better(difference) { 1 } else { rival.best_of };
        p_values.extend(difference.p_value.map(|p| (p * picked_from as f64).min(1.0)));
    }
    let mut corrected = holm(&p_values).into_iter();
    let mut place = |difference: Difference| {
        let corrected = difference.p_value.and_then(|_| corrected.next());
        let verdict = match corrected {
            None => Verdict::OneTrial,
            Some(p) if p >= ALPHA => Verdict::NotSeparable,
            Some(_) if is_better(&difference) => Verdict::Better,
            Some(_) => Verdict::Worse,
        };
        Compared { difference, corrected, verdict }
    };
    differences.into_iter().map(|difference| difference.map(&mut place)).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use veilgraph_evaluate::metric::{ACCURACY, ATTACK_AUC};

    use super::*;

    fn row(scores: [f64; 5]) -> Row {
        let scores = BTreeMap::from([("accuracy".to_owned(), (0..).zip(scores).collect())]);
        Row { cell: Cell::default(), setting: String::new(), scores, missing: BTreeMap::new() }
    }

    /// Five differences with a mean of 1 and a standard deviation of 0.47: t = 4.7, p = 0.009.
    #[test]
    fn the_best_of_several_is_too_good_by_accident() {
        let (low, high) = (row([0.4, 1.6, 0.7, 1.3, 1.0]), row([2.0; 5]));
        let verdict = |row: &Row, rival: &Row, best_of: usize| {
            let compared = compare(&[(row, Some(Rival { row: rival, best_of }))], &ACCURACY);
            compared[0].map(|compared| (compared.verdict, compared.corrected.unwrap_or(f64::NAN)))
        };
        let (worse, p) = verdict(&low, &high, 1).expect("they share trials");
        assert!(worse == Verdict::Worse && (0.008..0.011).contains(&p), "{worse:?} {p}");
        let (of_six, p_of_six) = verdict(&low, &high, 6).expect("they share trials");
        assert!(of_six == Verdict::NotSeparable && (p_of_six - 6.0 * p).abs() < 1e-12, "{of_six:?} {p_of_six}");
        assert_eq!(verdict(&high, &low, 6), Some((Verdict::Better, p)));
    }

    /// An area of 0.4 tells as much as one of 0.6, and one of 0.5 tells nothing.
    #[test]
    fn an_attack_that_ranks_upside_down_is_no_protection() {
        let attacked = |areas: [f64; 5]| {
            let scores = BTreeMap::from([(ATTACK_AUC.name.to_owned(), (0..).zip(areas).collect())]);
            Row { scores, ..row([0.0; 5]) }
        };
        let (upside_down, by_chance) = (attacked([0.40, 0.41, 0.39, 0.42, 0.38]), attacked([0.5; 5]));
        let found = best([&upside_down, &by_chance].into_iter(), &ATTACK_AUC).expect("both are scored");
        assert!(std::ptr::eq(found, std::ptr::from_ref(&by_chance)));
        let compared =
            compare(&[(&upside_down, Some(Rival::from(&by_chance)))], &ATTACK_AUC)[0].expect("they share trials");
        assert!(compared.verdict == Verdict::Worse && (compared.difference.mean - 0.1).abs() < 1e-12);
    }

    /// What was not scored is none of those from which the best is taken.
    #[test]
    fn the_best_is_counted_among_what_was_scored() {
        let (low, high) = (row([0.1; 5]), row([0.2; 5]));
        let without = Row { scores: BTreeMap::new(), ..row([0.0; 5]) };
        let best = Rival::best([&low, &without, &high].into_iter(), &ACCURACY).expect("two are scored");
        assert!(std::ptr::eq(best.row, std::ptr::from_ref(&high)) && best.best_of == 2, "{}", best.best_of);
    }
}
