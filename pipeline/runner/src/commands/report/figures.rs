//! Which figures an experiment has, as data.

use std::collections::{BTreeMap, BTreeSet};

use veilgraph_evaluate::metric::{self, Metric};
use veilgraph_evaluate::{Cell, log_log_slope};

use super::{attacks, central};
use crate::commands::summary::{CENTRAL, Row};
use crate::config::fields::plain_text;
use crate::published::{Published, PublishedCell};

/// A figure with its caption and its data.
pub(crate) struct Figure {
    /// Name of its files.
    pub name: String,
    pub title: String,
    pub x: Axis,
    pub y: Axis,
    pub lines: Vec<Line>,
}

/// What an axis shows.
#[derive(Clone)]
pub(crate) struct Axis {
    pub label: String,
    pub is_log: bool,
}

/// Points that belong together.
pub(crate) struct Line {
    pub name: String,
    pub points: Vec<Point>,
    /// One value, whatever the budget.
    pub is_level: bool,
}

/// A score over trials, beside a published one if there is any.
#[derive(Clone)]
pub(crate) struct Point {
    pub x: f64,
    /// What the score is about.
    pub cell: Cell,
    pub metric: &'static Metric,
    pub mean: f64,
    pub standard_deviation: f64,
    /// Of the 95 % interval of the mean; 0 for one trial.
    pub half_width: f64,
    pub trials: usize,
    /// Mean and standard deviation.
    pub published: Option<(f64, f64)>,
}

/// A metric that is drawn, and what its lines are called beside their cell.
pub(super) struct Drawn {
    pub metric: &'static Metric,
    pub suffix: &'static str,
}

/// Rows of one experiment on one dataset, and what is swept among them.
pub(super) struct Part<'a> {
    pub rows: Vec<&'a Row>,
    /// Rows about attacks, which are drawn apart from the others.
    pub attacked: Vec<&'a Row>,
    /// Rows about models of a curator, likewise.
    pub central: Vec<&'a Row>,
    published: Option<&'a Published>,
    sweeps_fraction: bool,
    sweeps_mechanism: bool,
    sweeps_nodes: bool,
}

const BUDGET: &str = "epsilon, nats per list bit";
const EDGE_BUDGET: &str = "nats per undirected link";

/// Every figure of these rows.
pub(crate) fn all(rows: &[Row], published: Option<&Published>) -> Vec<Figure> {
    let parts: BTreeSet<(&str, &str)> =
        rows.iter().map(|row| (row.cell.experiment.as_str(), row.cell.dataset.as_str())).collect();
    let several = parts.iter().map(|(experiment, _)| experiment).collect::<BTreeSet<_>>().len() > 1;
    let mut figures = Vec::new();
    for (experiment, dataset) in parts {
        let mine = rows.iter().filter(|row| row.cell.experiment == experiment && row.cell.dataset == dataset).collect();
        let prefix = if several { format!("{experiment}-{dataset}") } else { dataset.to_owned() };
        for mut figure in Part::new(mine, published).figures() {
            // A dataset may have any name, and a file may not; what follows a dot would count as its ending.
            figure.name = plain_text(&format!("{prefix}-{}", figure.name)).replace('.', "_");
            figure.title = format!("{}: {dataset}", figure.title);
            figures.push(figure);
        }
    }
    figures
}

impl<'a> Part<'a> {
    fn new(rows: Vec<&'a Row>, published: Option<&'a Published>) -> Self {
        let (attacked, rows): (Vec<&Row>, Vec<&Row>) = rows.into_iter().partition(|row| attacks::is_about(&row.cell));
        let (central, rows): (Vec<&Row>, Vec<&Row>) = rows.into_iter().partition(|row| row.cell.mechanism == CENTRAL);
        // A fraction that follows from the rest need not be said.
        let rest = |row: &Row| {
            let Cell { mechanism, variant, model, .. } = &row.cell;
            let names = [mechanism, &row.cell.estimate(), variant, model].map(Clone::clone);
            (names, row.cell.epsilon.to_bits())
        };
        let mut fractions = BTreeMap::new();
        let sweeps_fraction = rows
            .iter()
            .any(|row| *fractions.entry(rest(row)).or_insert(row.cell.degree_fraction) != row.cell.degree_fraction);
        let sweeps_mechanism = rows.iter().any(|row| row.cell.mechanism != rows[0].cell.mechanism);
        let nodes: BTreeSet<u64> = rows.iter().filter_map(|row| n_nodes(row)).map(f64::to_bits).collect();
        Self { rows, attacked, central, published, sweeps_fraction, sweeps_mechanism, sweeps_nodes: nodes.len() > 1 }
    }

    fn figures(&self) -> Vec<Figure> {
        let mut figures = Vec::new();
        let named = |row: &Row| self.line_name(row, self.sweeps_fraction);
        let models: BTreeSet<&str> = self
            .rows
            .iter()
            .map(|row| row.cell.model.as_str())
            .filter(|model| !model.is_empty() && !BESIDE_EVERY_NETWORK.contains(model))
            .collect();
        let accuracy = [Drawn { metric: &metric::ACCURACY, suffix: "" }];
        for model in models {
            let belongs =
                |row: &&Row| [&[model], &BESIDE_EVERY_NETWORK[..]].concat().contains(&row.cell.model.as_str());
            let rows: Vec<&Row> = self.rows.iter().copied().filter(belongs).collect();
            let title = format!("Accuracy of test nodes, {model}");
            if self.sweeps_fraction {
                figures.push(self.by_fraction(&rows, &format!("fraction-{model}"), &title, &accuracy));
            }
            self.by_budget(&mut figures, &rows, (&format!("accuracy-{model}"), &title), &accuracy, false, &named);
        }
        let is_compared = self.sweeps_mechanism
            || self.sweeps_fraction
            || self.rows.iter().any(|row| row.cell.estimate() != self.rows[0].cell.estimate());
        let mut errors = vec![Drawn { metric: &metric::MAE, suffix: "" }];
        if self.sweeps_mechanism {
            errors.push(Drawn { metric: &metric::GRAPH_MAE, suffix: "" });
        } else if !is_compared {
            // Beside each other, estimates are told apart by their errors alone.
            errors.push(Drawn { metric: &metric::EXPECTED_MAE, suffix: "expected by the model" });
        }
        if !is_compared || self.sweeps_mechanism {
            errors.push(Drawn { metric: &metric::MAE_BOUND, suffix: "bound (theorem 4.4)" });
        }
        let posterior: Vec<&Row> = self
            .rows
            .iter()
            .copied()
            .filter(|row| row.cell.mechanism != "blink" || row.cell.variant.is_empty())
            .collect();
        figures.extend(self.sweeps_nodes.then(|| self.by_nodes(&posterior)));
        let title = ("mae", "Mean absolute error of link probabilities");
        self.by_budget(&mut figures, &posterior, title, &errors, true, &named);
        let density = [
            Drawn { metric: &metric::GRAPH_ENTRIES, suffix: "entries" },
            Drawn { metric: &metric::GRAPH_TRUE_POSITIVES, suffix: "true positives" },
        ];
        let precision = [Drawn { metric: &metric::AVERAGE_PRECISION, suffix: "" }];
        let title = ("precision", "Average precision of link probabilities");
        self.by_budget(&mut figures, &posterior, title, &precision, false, &named);
        let title = ("density", "Links that the graph keeps, in both directions");
        self.by_budget(&mut figures, &self.rows, title, &density, self.sweeps_mechanism, &named);
        figures.extend(central::figures(self));
        figures.extend(attacks::figures(self));
        figures.retain(|figure| !figure.lines.is_empty());
        figures
    }

    /// A figure over the budget per list bit; and, where mechanisms differ in who reports a link, one over that per
    /// link.
    pub(super) fn by_budget(
        &self,
        figures: &mut Vec<Figure>,
        rows: &[&Row],
        (name, title): (&str, &str),
        drawn: &[Drawn],
        is_log: bool,
        named: &dyn Fn(&Row) -> String,
    ) {
        let y = Axis { label: drawn[0].metric.heading.to_owned(), is_log };
        let lines = |x: &dyn Fn(&Row) -> f64| self.lines(rows, drawn, x, named);
        let figure = |name: String, title: String, label: &str, lines| {
            let x = Axis { label: label.to_owned(), is_log: false };
            Figure { name, title, x, y: y.clone(), lines }
        };
        figures.push(figure(name.to_owned(), title.to_owned(), BUDGET, lines(&|row| row.cell.epsilon)));
        let ratio = |row: &&Row| row.cell.epsilon_edge / row.cell.epsilon;
        let ratios: BTreeSet<u64> =
            rows.iter().filter(|row| !is_level(row)).map(ratio).map(|ratio| (8.0 * ratio) as u64).collect();
        if ratios.len() > 1 {
            let (name, title) = (format!("{name}-per-link"), format!("{title}, by what a link costs"));
            figures.push(figure(name, title, EDGE_BUDGET, lines(&|row| row.cell.epsilon_edge)));
        }
    }

    fn by_fraction(&self, rows: &[&Row], name: &str, title: &str, drawn: &[Drawn]) -> Figure {
        let x = Axis { label: "degree_fraction".to_owned(), is_log: false };
        let y = Axis { label: drawn[0].metric.heading.to_owned(), is_log: false };
        let named =
            |row: &Row| format!("epsilon {} {}", row.cell.epsilon, self.line_name(row, false)).trim_end().to_owned();
        let lines = self.lines(rows, drawn, &|row| row.cell.degree_fraction, &named);
        Figure { name: name.to_owned(), title: format!("{title}, by fraction"), x, y, lines }
    }

    /// Both axes in logarithms, so that corollary 4.6 is a straight line.
    fn by_nodes(&self, rows: &[&Row]) -> Figure {
        let x = Axis { label: "nodes".to_owned(), is_log: true };
        let y = Axis { label: "mean absolute error".to_owned(), is_log: true };
        let drawn = [
            Drawn { metric: &metric::MAE, suffix: "" },
            Drawn { metric: &metric::MAE_BOUND, suffix: "bound (theorem 4.4)" },
        ];
        let told_apart = |row: &Row| row.cell.told_apart_by(|choice| choice.field != "ingest.synthetic.nodes");
        let named = |row: &Row| format!("epsilon {} {}", row.cell.epsilon, told_apart(row)).trim_end().to_owned();
        let mut lines = self.lines(rows, &drawn, &|row| n_nodes(row).unwrap_or(f64::NAN), &named);
        for line in &mut lines {
            line.name = format!(
                "{} (slope {:.2})",
                line.name,
                log_log_slope(line.points.iter().map(|point| (point.x, point.mean)))
            );
        }
        let title = "Mean absolute error by number of nodes (corollary 4.6)".to_owned();
        Figure { name: "nodes".to_owned(), title, x, y, lines }
    }

    /// What a line is called: only what tells it from others.
    pub(super) fn line_name(&self, row: &Row, with_fraction: bool) -> String {
        let cell = &row.cell;
        let is_blink = cell.mechanism == "blink";
        let mechanism = if self.sweeps_mechanism { cell.mechanism.as_str() } else { "" };
        let variant = if is_blink { cell.variant.as_str() } else { "" };
        let fraction = match cell.degree_fraction {
            _ if !with_fraction || !is_blink => String::new(),
            0.0 => "evidence alone".to_owned(),
            1.0 => "prior alone".to_owned(),
            fraction => format!("fraction {fraction}"),
        };
        let estimate = cell.estimate();
        // A perceptron on a graph stands beside the networks that read its links.
        let model = if cell.model == "mlp" && cell.mechanism != "no-links" { "mlp" } else { "" };
        let parts = [estimate.as_str(), mechanism, variant, model, &fraction];
        parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ")
    }

    pub(super) fn lines(
        &self,
        rows: &[&Row],
        drawn: &[Drawn],
        x: &dyn Fn(&Row) -> f64,
        name: &dyn Fn(&Row) -> String,
    ) -> Vec<Line> {
        let mut lines: Vec<Line> = Vec::new();
        for Drawn { metric, suffix } in drawn {
            let factor = metric.unit.factor();
            for row in rows {
                let Some(summary) = row.summary(metric.name) else { continue };
                let name = [name(row).as_str(), suffix].join(" ").trim().to_owned();
                let cell = row.published_cell();
                // Accuracy was published at whatever fraction was best, and apart from that by fraction.
                let fraction = cell.degree_fraction.filter(|_| self.sweeps_fraction || **metric != metric::ACCURACY);
                let wanted = PublishedCell { degree_fraction: fraction, ..cell };
                let published = self.published.and_then(|published| published.score(&wanted, metric.name));
                let half_width = if summary.half_width.is_finite() { summary.half_width } else { 0.0 };
                let spread = if summary.standard_deviation.is_finite() { summary.standard_deviation } else { 0.0 };
                let point = Point {
                    x: x(row),
                    cell: row.cell.clone(),
                    metric,
                    mean: factor * summary.mean,
                    standard_deviation: factor * spread,
                    half_width: factor * half_width,
                    trials: summary.trials,
                    published: published.map(|(mean, deviation)| (factor * mean, factor * deviation)),
                };
                match lines.iter_mut().find(|line| line.name == name) {
                    Some(line) => line.points.push(point),
                    None => lines.push(Line { name, points: vec![point], is_level: is_level(row) }),
                }
            }
        }
        lines.iter_mut().for_each(|line| line.points.sort_by(|a, b| a.x.total_cmp(&b.x)));
        lines.sort_by(|a, b| (a.is_level, &a.name).cmp(&(b.is_level, &b.name)));
        lines
    }
}

/// What predicts without links or without a network belongs beside every network.
const BESIDE_EVERY_NETWORK: [&str; 3] = ["mlp", "beliefs", "majority"];

/// Whether a row stands for all budgets.
pub(super) fn is_level(row: &Row) -> bool {
    matches!(row.cell.mechanism.as_str(), "non-private" | "no-links") || central::is_level(&row.cell)
}

fn n_nodes(row: &Row) -> Option<f64> {
    row.values(metric::N_NODES.name).first().copied()
}
