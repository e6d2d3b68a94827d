//! What the page says at its top: what a budget buys, what it costs, and what the server learns by it.

mod method;
mod table;
mod words;

use serde::Serialize;
use veilgraph_evaluate::metric;

use super::figure::Figure;
use crate::commands::comparison::reference;
use crate::commands::protected::{Protected, Standing};
use crate::commands::summary::Row;
use method::{Method, methods};

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
    /// What is asked: the same for all experiments that protect the same.
    #[serde(skip)]
    pub question: &'static str,
}

/// The rows of an experiment about one dataset, and what they are about.
struct Asked<'a> {
    protected: Protected,
    rows: Vec<&'a Row>,
}

/// An answer for each experiment and dataset in which nodes were classified with something that cost a budget.
pub(super) fn answers(rows: &[Row], figures: &[Figure]) -> Vec<Answer> {
    let mut parts: Vec<(&str, &str)> = Vec::new();
    for row in rows {
        let part = (row.cell.experiment.as_str(), row.cell.dataset.as_str());
        if !parts.contains(&part) {
            parts.push(part);
        }
    }
    let mut answers = Vec::new();
    for (experiment, dataset) in parts {
        let is_mine = |row: &&Row| row.cell.experiment == experiment && row.cell.dataset == dataset;
        let rows: Vec<&Row> = rows.iter().filter(is_mine).collect();
        let asked = Asked { protected: Protected::of(&rows), rows };
        answers.extend(asked.answer(figures));
    }
    answers
}

/// Methods that get a sentence of their own.
const SENTENCES: usize = 3;

impl Asked<'_> {
    fn answer(&self, figures: &[Figure]) -> Option<Answer> {
        let methods = methods(self);
        // The one that is best over all budgets stands in the table.
        let shown = methods.iter().max_by(|a, b| a.mean_accuracy().total_cmp(&b.mean_accuracy()))?;
        let first = shown.budgets.first()?.row;
        let floor = self.reference(first, Standing::Floor);
        let ceiling = self.reference(first, Standing::Ceiling);
        let others = methods.iter().filter(|method| !std::ptr::eq(*method, shown));
        let mut sentences: Vec<String> = Vec::new();
        for method in std::iter::once(shown).chain(others).take(SENTENCES) {
            sentences.push(self.in_words(method));
        }
        if methods.len() > SENTENCES {
            let left = methods.len() - SENTENCES;
            sentences.push(format!("What {left} further methods give stands in the tables below."));
        }
        sentences.push(self.between(first, floor, ceiling));
        sentences.extend(self.what_it_costs(shown));
        sentences.extend(self.what_is_learned(shown));
        let (head, lines) = self.table(shown);
        Some(Answer {
            title: format!("{}, {}", first.cell.experiment, first.cell.dataset),
            sentences,
            head,
            lines,
            figure: self.figure(figures, first),
            note: format!(
                "The table shows “{}”. At every budget, graph, network and settings are those with the lowest validation \
                 loss. Differences are paired over trials; their tests are corrected over all budgets and methods (Holm).",
                shown.name
            ),
            question: match self.protected {
                Protected::Links => "what do nats about links buy?",
                Protected::Features => "what do nats about features buy?",
                Protected::Labels => "what do nats about labels buy?",
                Protected::Model => "what does a private model of a curator give?",
            },
        })
    }

    fn reference(&self, row: &Row, wanted: Standing) -> Option<&Row> {
        reference(self.protected, &self.rows, row, wanted, &metric::ACCURACY)
    }

    /// The figure that shows accuracies over the budget, of the network that the answer is about.
    fn figure(&self, figures: &[Figure], row: &Row) -> Option<usize> {
        let of_model = format!("-accuracy-{}", row.cell.model);
        let is_it = |figure: &Figure| {
            let cell = figure.lines.first().and_then(|line| line.points.first()).map(|point| &point.cell);
            let is_mine = |cell: &veilgraph_evaluate::Cell| {
                cell.experiment == row.cell.experiment && cell.dataset == row.cell.dataset
            };
            let is_asked = match self.protected {
                Protected::Model => figure.name.contains("-central-"),
                _ => figure.name.ends_with(&of_model),
            };
            is_asked && cell.is_some_and(is_mine)
        };
        figures.iter().position(is_it)
    }
}
