//! What the page says at its top: what a budget buys, what it costs, and what the server learns by it.

mod words;

use std::collections::BTreeSet;

use serde::Serialize;
use veilgraph_evaluate::Cell;
use veilgraph_evaluate::metric::{self, Metric};

use super::figure::Figure;
use crate::commands::comparison::{Compared, Standing, best, compare, reference};
use crate::commands::summary::{CENTRAL, Row};
use words::{between, called, in_words, known_links, points, what_is_learned, what_it_costs};

/// The answer of one experiment about one dataset.
#[derive(Serialize)]
pub(super) struct Answer {
    pub title: String,
    /// The answer in sentences, the most important first.
    pub sentences: Vec<String>,
    pub head: Vec<String>,
    /// One line for each budget.
    pub lines: Vec<Vec<String>>,
    /// Place of the figure that shows it among those of the page, if there is one.
    pub figure: Option<usize>,
    /// What the words of the table mean.
    pub note: String,
}

/// The best of a method at one budget, chosen without a look at test nodes.
struct AtBudget<'a> {
    row: &'a Row,
    compared: Option<Compared>,
}

/// The method that is looked at.
struct Method<'a> {
    name: String,
    budgets: Vec<AtBudget<'a>>,
}

/// An answer for each experiment and dataset in which nodes were classified with links that cost something.
pub(super) fn answers(rows: &[Row], figures: &[Figure]) -> Vec<Answer> {
    let mut parts: Vec<(&str, &str)> = Vec::new();
    for row in rows {
        let part = (row.cell.experiment.as_str(), row.cell.dataset.as_str());
        if !parts.contains(&part) {
            parts.push(part);
        }
    }
    let mine = |(experiment, dataset): &(&str, &str)| -> Vec<&Row> {
        rows.iter().filter(|row| row.cell.experiment == *experiment && row.cell.dataset == *dataset).collect()
    };
    parts.iter().filter_map(|part| answer(&mine(part), figures)).collect()
}

fn answer(rows: &[&Row], figures: &[Figure]) -> Option<Answer> {
    let methods = methods(rows);
    // The one that is best over all budgets stands in the table.
    let total = |method: &Method| -> f64 {
        let means = method.budgets.iter().filter_map(|at| at.row.summary(metric::ACCURACY.name));
        means.map(|summary| summary.mean).sum::<f64>() / method.budgets.len() as f64
    };
    let shown = methods.iter().max_by(|a, b| total(a).total_cmp(&total(b)))?;
    let first = shown.budgets.first()?.row;
    let (experiment, dataset) = (&first.cell.experiment, &first.cell.dataset);
    let floor = reference(rows, first, Standing::Floor, &metric::ACCURACY);
    let ceiling = reference(rows, first, Standing::Ceiling, &metric::ACCURACY);
    let mut sentences: Vec<String> = Vec::new();
    for method in methods.iter().filter(|method| std::ptr::eq(*method, shown)).chain(others(&methods, shown)) {
        sentences.push(in_words(method, floor));
    }
    if methods.len() > SENTENCES {
        sentences.push(format!("{} further methods stand in the tables below.", methods.len() - SENTENCES));
    }
    sentences.push(between(first, floor, ceiling));
    sentences.extend(what_it_costs(shown));
    sentences.extend(what_is_learned(rows, shown));
    let (head, lines) = table(rows, shown, floor);
    let figure = figure(figures, first);
    let note = format!(
        "The table shows “{}”. At every budget, graph, network and settings are those with the lowest validation loss. Differences \
         are paired over trials; their tests are corrected over all budgets and methods (Holm).",
        shown.name
    );
    Some(Answer { title: format!("{experiment}, {dataset}"), sentences, head, lines, figure, note })
}

/// Methods that get a sentence of their own.
const SENTENCES: usize = 3;

fn others<'a, 'b>(methods: &'b [Method<'a>], shown: &'b Method<'a>) -> impl Iterator<Item = &'b Method<'a>> {
    methods.iter().filter(move |method| !std::ptr::eq(*method, shown)).take(SENTENCES - 1)
}

/// Every alternative and mechanism with a budget of links, each at every budget with what validates best there.
fn methods<'a>(rows: &[&'a Row]) -> Vec<Method<'a>> {
    let is_asked = |row: &&&Row| {
        let cell = &row.cell;
        Standing::of(cell) == Standing::Private
            && cell.mechanism != CENTRAL
            && cell.epsilon > 0.0
            && cell.epsilon.is_finite()
            && row.scores.contains_key(metric::ACCURACY.name)
    };
    let asked: Vec<&Row> = rows.iter().filter(is_asked).copied().collect();
    let name =
        |cell: &Cell| if cell.alternative.is_empty() { cell.mechanism.clone() } else { cell.alternative.clone() };
    let mut names: Vec<String> = Vec::new();
    for row in &asked {
        if !names.contains(&name(&row.cell)) {
            names.push(name(&row.cell));
        }
    }
    let mut chosen: Vec<(usize, &Row)> = Vec::new();
    for (method, own) in names.iter().enumerate() {
        let of_method: Vec<&Row> = asked.iter().copied().filter(|row| name(&row.cell) == *own).collect();
        let budgets: BTreeSet<u64> = of_method.iter().map(|row| row.cell.epsilon.to_bits()).collect();
        for budget in budgets {
            let at = of_method.iter().copied().filter(|row| row.cell.epsilon.to_bits() == budget);
            chosen.extend(validated(at.collect()).map(|row| (method, row)));
        }
    }
    let pairs: Vec<(&Row, Option<&Row>)> =
        chosen.iter().map(|(_, row)| (*row, reference(rows, row, Standing::Floor, &metric::ACCURACY))).collect();
    let compared = compare(&pairs, &metric::ACCURACY);
    let mut methods: Vec<Method> = names.into_iter().map(|name| Method { name, budgets: Vec::new() }).collect();
    for ((method, row), compared) in chosen.into_iter().zip(compared) {
        methods[method].budgets.push(AtBudget { row, compared });
    }
    methods
        .iter_mut()
        .for_each(|method| method.budgets.sort_by(|a, b| a.row.cell.epsilon.total_cmp(&b.row.cell.epsilon)));
    methods
}

/// The row with the lowest validation loss; where one has none, that with the best accuracy.
fn validated(rows: Vec<&Row>) -> Option<&Row> {
    let has_loss = rows.iter().all(|row| row.scores.contains_key(metric::VALIDATION_LOSS.name));
    let metric: &Metric = if has_loss { &metric::VALIDATION_LOSS } else { &metric::ACCURACY };
    best(rows.into_iter(), metric)
}

fn table(rows: &[&Row], method: &Method, floor: Option<&Row>) -> (Vec<String>, Vec<Vec<String>>) {
    let beside = floor.map_or("beside the best floor".to_owned(), |floor| format!("points beside {}", called(floor)));
    let head = [
        "nats per list bit",
        "nats per link",
        "accuracy %",
        &beside,
        "verdict",
        "graph, network",
        "true links held",
        "held links that are true",
        "trials",
    ];
    let line = |at: &AtBudget| {
        let cell = &at.row.cell;
        let (recall, precision) = known_links(rows, at.row).unwrap_or(("–".to_owned(), "–".to_owned()));
        let summary = at.row.summary(metric::ACCURACY.name);
        let accuracy = summary.map_or("–".to_owned(), |summary| {
            let interval = if summary.trials > 1 {
                format!(" ± {}", metric::ACCURACY.written(summary.half_width))
            } else {
                String::new()
            };
            format!("{}{interval}", metric::ACCURACY.written(summary.mean))
        });
        let built = [cell.variant.as_str(), cell.model.as_str()];
        vec![
            cell.epsilon.to_string(),
            cell.epsilon_edge.to_string(),
            accuracy,
            at.compared.map_or("–".to_owned(), |compared| points(&compared)),
            at.compared.map_or("–", |compared| compared.verdict.words()).to_owned(),
            built.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(", "),
            recall,
            precision,
            summary.map_or(0, |summary| summary.trials).to_string(),
        ]
    };
    (head.map(str::to_owned).to_vec(), method.budgets.iter().map(line).collect())
}

/// The accuracy figure of the network that the answer is about.
fn figure(figures: &[Figure], row: &Row) -> Option<usize> {
    let end = format!("-accuracy-{}", row.cell.model);
    let is_it = |figure: &Figure| {
        let cell = figure.lines.first().and_then(|line| line.points.first()).map(|point| &point.cell);
        let is_about =
            cell.is_some_and(|cell| cell.experiment == row.cell.experiment && cell.dataset == row.cell.dataset);
        is_about && figure.name.ends_with(&end)
    };
    figures.iter().position(is_it)
}
