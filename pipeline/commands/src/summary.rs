//! Scores over trials, one row per cell, as tables and as JSON.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::ensure;
use comfy_table::presets;
use comfy_table::{CellAlignment, Table as TextTable};
use serde_json::{Map, Value, json};
use veilgraph_contract::Relation;
use veilgraph_evaluate::metric::{self, ATTACK_AUC, Better, Metric, ScoreTable};
use veilgraph_evaluate::{Cell, Metrics};
use veilgraph_runner::published::PublishedCell;
use veilgraph_runner::systems::CENTRAL;
use veilgraph_statistics::{Difference, Summary, paired_differences};

use super::partial::Lack;

/// The scores of one cell over its trials.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    pub cell: Cell,
    /// Hyperparameters that were chosen.
    pub setting: String,
    /// Scores by metric and trial.
    pub scores: BTreeMap<String, BTreeMap<u32, f64>>,
    /// Metrics of which scores are missing because something has not run, each with what became of it.
    pub missing: BTreeMap<String, Lack>,
}

impl Row {
    /// What the row is about, as published figures name it.
    pub(crate) fn published_cell(&self) -> PublishedCell {
        PublishedCell {
            dataset: self.cell.dataset.clone(),
            mechanism: self.cell.mechanism.clone(),
            variant: self.cell.variant.clone(),
            model: self.cell.model.clone(),
            epsilon: self.cell.epsilon,
            degree_fraction: Some(self.cell.degree_fraction),
        }
    }

    /// The scores of a metric, by trial.
    pub(crate) fn values(&self, metric: &str) -> Vec<f64> {
        self.scores.get(metric).into_iter().flat_map(BTreeMap::values).copied().collect()
    }

    /// The scores of a metric by trial, as they are compared. Of an attack whose mean area under the ROC curve lies below
    /// one half, these are the areas of its reverse: who takes the least likely pairs for linked knows as much.
    pub(crate) fn compared_scores(&self, metric: &Metric) -> Option<BTreeMap<u32, f64>> {
        let scores = self.scores.get(metric.name)?;
        let turns = metric.name == ATTACK_AUC.name && self.summary(metric.name)?.mean < 0.5;
        Some(scores.iter().map(|(&trial, &score)| (trial, if turns { 1.0 - score } else { score })).collect())
    }

    /// How a metric differs from that of another row, over the trials that both have.
    pub(crate) fn difference(&self, other: &Self, metric: &Metric) -> Option<Difference> {
        Difference::of(&self.compared_scores(metric)?, &other.compared_scores(metric)?)
    }

    /// The same in each of these trials.
    pub(crate) fn differences(&self, other: &Self, metric: &Metric) -> Vec<f64> {
        let both = self.compared_scores(metric).zip(other.compared_scores(metric));
        both.map_or(Vec::new(), |(ours, theirs)| paired_differences(&ours, &theirs))
    }

    /// Whether the row has scores of a metric, or would have some if everything had run.
    pub(crate) fn is_about(&self, metric: &str) -> bool {
        self.scores.contains_key(metric) || self.missing.contains_key(metric)
    }

    /// Summary of a metric over trials.
    pub(crate) fn summary(&self, metric: &str) -> Option<Summary> {
        Summary::of(&self.values(metric))
    }
}

/// One row per cell, whose trials are gathered.
///
/// # Errors
/// When a cell has a trial twice, or more trials than the config: then two things bear one name.
pub(crate) fn rows(metrics: &[Metrics], trials: u32) -> anyhow::Result<Vec<Row>> {
    let mut rows: Vec<Row> = Vec::new();
    let mut places: BTreeMap<String, usize> = BTreeMap::new();
    for part in metrics {
        let name = format!("{:?} {}", part.cell, part.setting);
        let place = *places.entry(name).or_insert(rows.len());
        if place == rows.len() {
            let (cell, setting) = (part.cell.clone(), part.setting.clone());
            rows.push(Row { cell, setting, scores: BTreeMap::new(), missing: BTreeMap::new() });
        }
        for score in &part.rows {
            let earlier = rows[place].scores.entry(score.metric.clone()).or_default().insert(score.trial, score.value);
            ensure!(
                earlier.is_none() && score.trial < trials,
                "{} of trial {} stands twice in the cell {:?}, or is none of its {trials} trials; please report this",
                score.metric,
                score.trial,
                part.cell
            );
        }
    }
    Ok(rows)
}

/// Swept fields that tell these rows apart and have no column of their own, by the name of the field, with headings.
fn swept(rows: &[&Row]) -> Vec<(String, String)> {
    let mut fields: Vec<(String, String)> = Vec::new();
    for choice in rows.iter().flat_map(|row| &row.cell.choices).filter(|choice| choice.needs_column()) {
        if fields.iter().all(|known| known.0 != choice.field) {
            fields.push((choice.field.clone(), choice.name.clone()));
        }
    }
    fields
}

/// Cells of a table as text: headings, then rows. Empty if no row has such scores.
pub(crate) fn cells(table: ScoreTable, rows: &[Row]) -> Vec<Vec<String>> {
    let printed: Vec<&Metric> = table.printed().collect();
    let mine: Vec<&Row> = rows.iter().filter(|row| printed.iter().any(|metric| row.is_about(metric.name))).collect();
    if mine.is_empty() {
        return Vec::new();
    }
    let fields = swept(&mine);
    let is_one = mine.iter().all(|row| row.cell.experiment == mine[0].cell.experiment);
    let before = [
        "experiment",
        "dataset",
        "alternative",
        "mechanism",
        "epsilon",
        "per link",
        "fraction",
        "features",
        "label",
        "own data",
        "node",
        "claimed",
    ];
    let mut lines = vec![before.map(str::to_owned).to_vec()];
    lines[0].extend(fields.iter().map(|(_, heading)| heading.clone()));
    let after = ["graph", "model", "trials"].into_iter().chain(printed.iter().map(|metric| metric.heading));
    lines[0].extend(after.map(str::to_owned));
    for row in mine {
        let cell = &row.cell;
        let trials: BTreeSet<u32> =
            printed.iter().filter_map(|metric| row.scores.get(metric.name)).flat_map(BTreeMap::keys).copied().collect();
        let mut line = vec![
            if is_one { dash("") } else { cell.experiment.clone() },
            cell.dataset.clone(),
            dash(&cell.alternative),
            cell.mechanism.clone(),
            of_links(cell, cell.epsilon),
            of_links(cell, cell.epsilon_edge),
            of_links(cell, cell.degree_fraction),
            cost(cell, Relation::NodeFeatures),
            cost(cell, Relation::Label),
            cost(cell, Relation::OwnData),
            cost(cell, Relation::Node),
            claimed(cell),
        ];
        line.extend(fields.iter().map(|(field, _)| dash(cell.choice(field).unwrap_or_default())));
        line.extend([dash(&cell.variant), dash(&cell.model), trials.len().to_string()]);
        line.extend(printed.iter().map(|metric| match row.summary(metric.name) {
            None => row.missing.get(metric.name).map_or("-", |lack| lack.word()).to_owned(),
            // A score that is not finite in some trial is about the others.
            Some(s) if s.trials < trials.len() => format!("{} ({} of {})", written(&s, metric), s.trials, trials.len()),
            Some(all) => written(&all, metric),
        }));
        lines.push(line);
    }
    // A column that says nothing in any row is left out.
    let says = |column: usize| lines[1..].iter().any(|line| line[column] != "-");
    let kept: Vec<usize> = (0..lines[0].len()).filter(|&column| says(column)).collect();
    lines.iter().map(|line| kept.iter().map(|&column| line[column].clone()).collect()).collect()
}

/// What everything behind a score costs under a relation, in nats; a dash where nothing was released about it.
fn cost(cell: &Cell, relation: Relation) -> String {
    cell.costs
        .iter()
        .find(|cost| cost.relation == relation)
        .map_or("-".to_owned(), |cost| written_cost(cell, cost.epsilon))
}

/// A number about the release of links; a dash where a curator released a model instead, and where it is not the model's own
/// relation.
fn of_links(cell: &Cell, number: f64) -> String {
    if cell.mechanism == CENTRAL && number == 0.0 { "-".to_owned() } else { written_cost(cell, number) }
}

/// What the source of a method states for what holds at another cost; a dash where both are the same.
fn claimed(cell: &Cell) -> String {
    let mut claims = cell.costs.iter().filter_map(|cost| cost.claimed_epsilon);
    claims.next().map_or("-".to_owned(), |nats| written_cost(cell, nats))
}

/// Nats with all their digits; of a curator's model, which may cost what nobody chose, with three.
fn written_cost(cell: &Cell, nats: f64) -> String {
    let is_short = cell.mechanism != CENTRAL || nats < 1e-3 || nats == (nats * 1e3).round() / 1e3;
    if is_short { nats.to_string() } else { format!("{nats:.3}") }
}

fn dash(text: &str) -> String {
    if text.is_empty() { "-".to_owned() } else { text.to_owned() }
}

/// What the numbers of a table mean, where they rest on several trials.
pub(crate) const LEGEND: &str = "mean ± standard deviation over trials (± half width of the 95 % interval of the mean)";

/// `mean ± standard deviation (± half width)`; the mean alone where all trials agree.
fn written(summary: &Summary, metric: &Metric) -> String {
    let number = |value: f64| metric.written(value);
    if summary.standard_deviation <= 1e-12 * summary.mean.abs() {
        number(summary.mean)
    } else {
        format!("{} ± {} (± {})", number(summary.mean), number(summary.standard_deviation), number(summary.half_width))
    }
}

/// `mean ± half width` of the 95 % interval; the mean alone where one trial gives none.
pub(crate) fn with_interval(summary: &Summary, metric: &Metric) -> String {
    let interval =
        if summary.trials > 1 { format!(" ± {}", metric.written(summary.half_width)) } else { String::new() };
    format!("{}{interval}", metric.written(summary.mean))
}

/// So many trials.
pub(crate) fn in_trials(trials: usize) -> String {
    if trials == 1 { "one trial".to_owned() } else { format!("{trials} trials") }
}

/// The tables as text.
pub(crate) fn tables(rows: &[Row]) -> String {
    let mut parts = Vec::new();
    for kind in ScoreTable::ALL {
        let mut lines = cells(kind, rows).into_iter();
        let Some(headings) = lines.next() else { continue };
        let mut table = TextTable::new();
        table.load_preset(presets::ASCII_MARKDOWN).set_header(headings);
        for line in lines {
            table.add_row(line);
        }
        for column in table.column_iter_mut().skip(1) {
            column.set_cell_alignment(CellAlignment::Right);
        }
        parts.push(format!("{}\n{table}", kind.title()));
    }
    if rows.iter().any(|row| row.scores.values().any(|trials| trials.len() > 1)) {
        parts.push(LEGEND.to_owned());
    }
    parts.join("\n\n")
}

/// The scores as JSON: one row per cell and metric.
pub(crate) fn json(rows: &[Row]) -> Value {
    let all = rows.iter().flat_map(|row| {
        row.scores.keys().filter_map(move |metric| {
            let values = row.values(metric);
            let summary = Summary::of(&values)?;
            // One trial says nothing of others.
            let deviation = (summary.trials > 1).then_some(summary.standard_deviation);
            let half_width = summary.half_width.is_finite().then_some(summary.half_width);
            let cell = &row.cell;
            let choices: Map<String, Value> =
                cell.choices.iter().map(|choice| (choice.field.clone(), choice.value.clone().into())).collect();
            let mut line = json!({
                "experiment": cell.experiment, "dataset": cell.dataset, "alternative": cell.alternative,
                "mechanism": cell.mechanism, "epsilon": in_json(cell.epsilon), "epsilon_edge": in_json(cell.epsilon_edge),
                "degree_fraction": cell.degree_fraction, "estimate": cell.estimate(), "variant": cell.variant,
                "model": cell.model, "choices": choices, "costs": cell.costs, "setting": row.setting,
                "metric": metric, "better": better(metric), "values": values, "mean": summary.mean,
                "standard_deviation": deviation, "half_width": half_width,
            });
            for name in ["attack", "pool", "belief"] {
                if let Some(value) = cell.choice(&format!("audit.{name}")) {
                    line[name] = value.into();
                }
            }
            Some(line)
        })
    });
    all.collect()
}

/// Nats as a number, or as `"inf"`: JSON has no infinity.
fn in_json(nats: f64) -> Value {
    if nats.is_infinite() { "inf".into() } else { nats.into() }
}

/// Which direction of a metric is better, if one is.
fn better(name: &str) -> Option<&'static str> {
    metric::named(name).and_then(|metric| match metric.better {
        Better::Higher => Some("higher"),
        Better::Lower => Some("lower"),
        Better::Neither => None,
    })
}
