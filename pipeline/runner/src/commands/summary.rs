//! Scores over trials as tables.

use std::collections::BTreeMap;

use comfy_table::presets;
use comfy_table::{CellAlignment, Table};
use serde_json::{Value, json};
use veilgraph_evaluate::{Metrics, Summary};

use crate::published::Cell;

/// What a row of a table is about.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Row {
    pub experiment: String,
    pub dataset: String,
    pub mechanism: String,
    /// In nats per list bit, and per undirected link.
    pub epsilon: f64,
    pub epsilon_edge: f64,
    pub degree_fraction: f64,
    pub estimate: String,
    pub variant: String,
    pub model: String,
    /// Hyperparameters that were chosen.
    pub setting: String,
    /// Scores of all trials by name.
    pub scores: BTreeMap<String, Vec<f64>>,
}

impl Row {
    /// What the row is about, as published figures name it.
    pub(crate) fn cell(&self) -> Cell {
        Cell {
            dataset: self.dataset.clone(),
            mechanism: self.mechanism.clone(),
            variant: self.variant.clone(),
            model: self.model.clone(),
            epsilon: self.epsilon,
            degree_fraction: Some(self.degree_fraction),
        }
    }

    /// Summary of the score `name` over trials.
    pub(crate) fn summary(&self, name: &str) -> Option<Summary> {
        Summary::of(self.scores.get(name)?)
    }
}

/// One row per cell: trials of one cell are gathered.
pub(crate) fn rows(metrics: &[Metrics]) -> Vec<Row> {
    let mut rows: Vec<Row> = Vec::new();
    for part in metrics {
        let same = |row: &Row| {
            row.experiment == part.experiment
                && row.dataset == part.dataset
                && row.mechanism == part.mechanism
                && row.epsilon == part.epsilon
                && row.degree_fraction == part.degree_fraction
                && row.estimate == part.estimate
                && row.variant == part.variant
                && row.model == part.model
                && row.setting == part.setting
        };
        let at = rows.iter().position(same).unwrap_or_else(|| {
            rows.push(Row {
                experiment: part.experiment.clone(),
                dataset: part.dataset.clone(),
                mechanism: part.mechanism.clone(),
                epsilon: part.epsilon,
                epsilon_edge: part.epsilon_edge,
                degree_fraction: part.degree_fraction,
                estimate: part.estimate.clone(),
                variant: part.variant.clone(),
                model: part.model.clone(),
                setting: part.setting.clone(),
                scores: BTreeMap::new(),
            });
            rows.len() - 1
        });
        for score in &part.rows {
            rows[at].scores.entry(score.metric.clone()).or_default().push(score.value);
        }
    }
    rows
}

/// A score of a table: its name in `metrics`, its heading, its factor and its digits.
pub(crate) struct Score(pub &'static str, pub &'static str, pub f64, pub Digits);

/// How a number is written.
#[derive(Clone, Copy)]
pub(crate) enum Digits {
    Fixed(usize),
    Scientific,
}

/// A kind of table: its title, which rows belong to it, and its scores.
pub(crate) struct Kind {
    pub title: &'static str,
    pub scores: &'static [Score],
}

/// The tables that a run prints.
pub(crate) const KINDS: [Kind; 3] = [
    Kind {
        title: "Links",
        scores: &[
            Score("mae", "MAE", 1.0, Digits::Scientific),
            Score("mae_bound", "bound (T4.4)", 1.0, Digits::Scientific),
            Score("average_precision", "average precision", 1.0, Digits::Fixed(4)),
            Score("roc_auc", "ROC AUC", 1.0, Digits::Fixed(4)),
            Score("log_loss_per_link", "log loss / link", 1.0, Digits::Fixed(3)),
        ],
    },
    Kind {
        title: "Graph",
        scores: &[
            Score("graph_entries", "entries", 1.0, Digits::Fixed(0)),
            Score("graph_true_positives", "true positives", 1.0, Digits::Fixed(0)),
            Score("graph_precision", "precision", 1.0, Digits::Fixed(3)),
            Score("graph_recall", "recall", 1.0, Digits::Fixed(3)),
            Score("graph_mae", "MAE", 1.0, Digits::Scientific),
        ],
    },
    Kind {
        title: "Classification of test nodes",
        scores: &[
            Score("accuracy", "accuracy %", 100.0, Digits::Fixed(1)),
            Score("macro_f1", "macro F1 %", 100.0, Digits::Fixed(1)),
            Score("validation_loss", "validation loss", 1.0, Digits::Fixed(3)),
        ],
    },
];

/// Cells of a table as text: headings, then rows. Empty if no row has such scores.
pub(crate) fn cells(kind: &Kind, rows: &[Row]) -> Vec<Vec<String>> {
    let mine: Vec<&Row> = rows.iter().filter(|row| row.scores.contains_key(kind.scores[0].0)).collect();
    if mine.is_empty() {
        return Vec::new();
    }
    let mut table = vec![vec![
        "dataset".to_owned(),
        "mechanism".to_owned(),
        "epsilon".to_owned(),
        "per link".to_owned(),
        "fraction".to_owned(),
        "estimate".to_owned(),
        "graph".to_owned(),
        "model".to_owned(),
        "trials".to_owned(),
    ]];
    table[0].extend(kind.scores.iter().map(|score| score.1.to_owned()));
    for row in mine {
        let trials = row.scores[kind.scores[0].0].len();
        let mut line = vec![
            row.dataset.clone(),
            row.mechanism.clone(),
            row.epsilon.to_string(),
            row.epsilon_edge.to_string(),
            row.degree_fraction.to_string(),
            dash(&row.estimate),
            dash(&row.variant),
            dash(&row.model),
            trials.to_string(),
        ];
        line.extend(
            kind.scores
                .iter()
                .map(|score| row.summary(score.0).map_or("-".to_owned(), |summary| written(&summary, score))),
        );
        table.push(line);
    }
    // A column that says nothing in any row is left out.
    let silent: Vec<bool> =
        (0..table[0].len()).map(|column| table[1..].iter().all(|line| line[column] == "-")).collect();
    table
        .into_iter()
        .map(|line| line.into_iter().zip(&silent).filter(|(_, silent)| !**silent).map(|(cell, _)| cell).collect())
        .collect()
}

fn dash(text: &str) -> String {
    if text.is_empty() { "-".to_owned() } else { text.to_owned() }
}

/// What the numbers of a table mean, where they rest on several trials.
pub(crate) const LEGEND: &str = "mean ± standard deviation over trials (± half width of the 95 % interval of the mean)";

/// `mean ± standard deviation (± half width)`; the mean alone where all trials agree.
fn written(summary: &Summary, Score(_, _, factor, digits): &Score) -> String {
    let number = |value: f64| match digits {
        Digits::Fixed(digits) => format!("{:.digits$}", value * factor),
        Digits::Scientific => format!("{:.3e}", value * factor),
    };
    if summary.standard_deviation <= 1e-12 * summary.mean.abs() {
        number(summary.mean)
    } else {
        format!("{} ± {} (± {})", number(summary.mean), number(summary.standard_deviation), number(summary.half_width))
    }
}

/// The tables as text.
pub(crate) fn tables(metrics: &[Metrics]) -> String {
    let rows = rows(metrics);
    let mut parts = Vec::new();
    for kind in &KINDS {
        let mut lines = cells(kind, &rows).into_iter();
        let Some(headings) = lines.next() else { continue };
        let mut table = Table::new();
        table.load_style(presets::ASCII_MARKDOWN).set_header(headings);
        for line in lines {
            table.add_row(line);
        }
        for column in table.column_iter_mut().skip(1) {
            column.set_cell_alignment(CellAlignment::Right);
        }
        parts.push(format!("{}\n{table}", kind.title));
    }
    if metrics.iter().any(|part| part.rows.iter().any(|row| row.trial > 0)) {
        parts.push(LEGEND.to_owned());
    }
    parts.join("\n\n")
}

/// The scores as JSON.
pub(crate) fn json(metrics: &[Metrics]) -> Value {
    let rows = rows(metrics);
    let all = rows.iter().flat_map(|row| {
        row.scores.iter().filter_map(|(metric, values)| {
            let summary = Summary::of(values)?;
            let half_width = summary.half_width.is_finite().then_some(summary.half_width);
            Some(json!({
                "dataset": row.dataset, "mechanism": row.mechanism, "epsilon": row.epsilon, "degree_fraction": row.degree_fraction,
                "estimate": row.estimate, "variant": row.variant, "model": row.model, "setting": row.setting, "metric": metric,
                "values": values, "mean": summary.mean, "standard_deviation": summary.standard_deviation,
                "half_width": half_width,
            }))
        })
    });
    all.collect()
}
