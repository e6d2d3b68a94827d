//! What the page says at its top: what a budget buys, what it costs, and what the server learns by it.

mod lead;
mod method;
mod picture;
mod question;
mod table;
mod telling_graph;
mod words;

use serde::Serialize;
use veilgraph_evaluate::metric;

use super::figure::Figure;
use crate::comparison::{Rival, are_about_the_same_data, reference};
use crate::protected::{Protected, Standing};
use crate::summary::Row;
use method::{Method, methods};
use question::{explanation, question};

/// The answer of one experiment about one dataset.
#[derive(Serialize)]
pub(super) struct Answer {
    pub title: String,
    /// The answer in sentences, the most important first.
    pub sentences: Vec<String>,
    pub head: Vec<String>,
    /// One line for each budget.
    pub lines: Vec<Vec<String>>,
    /// Place of the figure that shows it among those of the page.
    pub figure: usize,
    /// What the words of the table mean.
    pub note: String,
    /// What is asked: the same for all experiments that protect the same.
    #[serde(skip)]
    pub question: &'static str,
    /// The question for somebody who has never seen the page.
    #[serde(skip)]
    pub explanation: &'static str,
}

/// The rows of an experiment about one dataset, and what they are about.
struct Asked<'a> {
    protected: Protected,
    rows: Vec<&'a Row>,
}

/// Answers of one page at most: whoever sweeps over more graphs or splits reads the tables.
const ANSWERS: usize = 8;

/// An answer for each experiment, dataset and swept choice about data in which nodes were classified with something that
/// cost a budget, each with its figure.
pub(super) fn answers(rows: &[Row]) -> Vec<(Answer, Figure)> {
    let mut parts: Vec<Vec<&Row>> = Vec::new();
    for row in rows {
        match parts.iter_mut().find(|part| are_about_the_same_data(&part[0].cell, &row.cell)) {
            Some(part) => part.push(row),
            None => parts.push(vec![row]),
        }
    }
    let mut answers = Vec::new();
    for rows in parts {
        let asked = Asked { protected: Protected::of(&rows), rows };
        if let Some((answer, figure)) = asked.answer()
            && answers.len() < ANSWERS
        {
            answers.push((Answer { figure: answers.len(), ..answer }, figure));
        }
    }
    answers
}

/// How differences were judged.
const PAIRED: &str = " Differences are paired over trials; their tests are corrected over all budgets and methods (Holm), and \
     those of what is worse than the best floor also over all floors (Bonferroni).";
/// Methods that get a sentence of their own.
const SENTENCES: usize = 3;

impl Asked<'_> {
    fn answer(&self) -> Option<(Answer, Figure)> {
        let methods = methods(self);
        // The one that is best over all budgets stands in the table.
        let shown = methods.iter().max_by(|a, b| a.mean_accuracy().total_cmp(&b.mean_accuracy()))?;
        let first = shown.budgets.first()?.row;
        let others = methods.iter().filter(|method| !std::ptr::eq(*method, shown));
        let mut sentences: Vec<String> = self.lead(shown).into_iter().collect();
        for method in std::iter::once(shown).chain(others).take(SENTENCES) {
            sentences.push(self.in_words(method));
        }
        match methods.len().saturating_sub(SENTENCES) {
            0 => {}
            1 => sentences.push("What one further method gives stands in the tables below.".to_owned()),
            left => sentences.push(format!("What {left} further methods give stands in the tables below.")),
        }
        sentences.extend(self.no_floor(shown));
        sentences.push(self.between(shown));
        sentences.extend(self.what_it_costs(shown));
        sentences.extend(self.what_is_learned(shown));
        let (head, lines) = self.table(shown);
        let chosen = if shown.is_chosen_by_validation {
            "At every budget, graph, network and settings are those with the lowest validation loss."
        } else {
            "Some rows have no validation loss, so graph, network and settings are those with the best test accuracy, which \
             flatters them."
        };
        let answer = Answer {
            title: title(first),
            sentences,
            head,
            lines,
            figure: 0,
            note: format!(
                "The table shows “{}”. {chosen}{}",
                shown.name,
                if shown.budgets.iter().any(|at| at.compared.is_some()) { PAIRED } else { "" }
            ),
            question: question(self.protected),
            explanation: explanation(self.protected),
        };
        Some((answer, self.picture(&methods, shown)))
    }

    fn reference(&self, row: &Row, wanted: Standing) -> Option<&Row> {
        self.rival(row, wanted).map(|rival| rival.row)
    }

    fn rival(&self, row: &Row, wanted: Standing) -> Option<Rival<'_>> {
        reference(self.protected, &self.rows, row, wanted, &metric::ACCURACY)
    }
}

/// The experiment, its dataset, and what was swept about it.
fn title(row: &Row) -> String {
    let mut title = format!("{}, {}", row.cell.experiment, row.cell.dataset);
    for choice in row.cell.choices.iter().filter(|choice| choice.stage() == "ingest" && !choice.has_column()) {
        title = format!("{title}, {} {}", choice.name, choice.value);
    }
    title
}
