//! Which figures an experiment has, as data.

use std::collections::{BTreeMap, BTreeSet};

use crate::commands::summary::Row;
use crate::published::{Cell, Published};

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
    pub cell: Cell,
    pub epsilon_edge: f64,
    pub metric: &'static str,
    pub mean: f64,
    pub standard_deviation: f64,
    /// Of the 95 % interval of the mean; 0 for one trial.
    pub half_width: f64,
    pub trials: usize,
    /// Mean and standard deviation.
    pub published: Option<(f64, f64)>,
}

/// A score that is drawn: its name, its factor, and what lines are called beside their cell.
struct Drawn {
    metric: &'static str,
    factor: f64,
    suffix: &'static str,
}

/// Rows of one experiment on one dataset, and what is swept among them.
struct Part<'a> {
    rows: Vec<&'a Row>,
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
        rows.iter().map(|row| (row.experiment.as_str(), row.dataset.as_str())).collect();
    let several = parts.iter().map(|(experiment, _)| experiment).collect::<BTreeSet<_>>().len() > 1;
    let mut figures = Vec::new();
    for (experiment, dataset) in parts {
        let mine = rows.iter().filter(|row| row.experiment == experiment && row.dataset == dataset).collect();
        let prefix = if several { format!("{experiment}-{dataset}") } else { dataset.to_owned() };
        for mut figure in Part::new(mine, published).figures() {
            figure.name = format!("{prefix}-{}", figure.name);
            figure.title = format!("{}: {dataset}", figure.title);
            figures.push(figure);
        }
    }
    figures
}

impl<'a> Part<'a> {
    fn new(rows: Vec<&'a Row>, published: Option<&'a Published>) -> Self {
        // A fraction that follows from the rest need not be said.
        let rest = |row: &Row| {
            let names = [&row.mechanism, &row.estimate, &row.variant, &row.model].map(Clone::clone);
            (names, row.epsilon.to_bits())
        };
        let mut fractions = BTreeMap::new();
        let sweeps_fraction =
            rows.iter().any(|row| *fractions.entry(rest(row)).or_insert(row.degree_fraction) != row.degree_fraction);
        let sweeps_mechanism = rows.iter().any(|row| row.mechanism != rows[0].mechanism);
        let nodes: BTreeSet<u64> = rows.iter().filter_map(|row| n_nodes(row)).map(f64::to_bits).collect();
        Self { rows, published, sweeps_fraction, sweeps_mechanism, sweeps_nodes: nodes.len() > 1 }
    }

    fn figures(&self) -> Vec<Figure> {
        let mut figures = Vec::new();
        let models: BTreeSet<&str> = self
            .rows
            .iter()
            .map(|row| row.model.as_str())
            .filter(|model| !model.is_empty() && *model != "mlp")
            .collect();
        let accuracy = [Drawn { metric: "accuracy", factor: 100.0, suffix: "" }];
        for model in models {
            // A perceptron belongs beside every network.
            let rows: Vec<&Row> =
                self.rows.iter().copied().filter(|row| row.model == model || row.model == "mlp").collect();
            let title = format!("Accuracy of test nodes, {model}");
            if self.sweeps_fraction {
                figures.push(self.by_fraction(&rows, &format!("fraction-{model}"), &title, &accuracy));
            }
            self.by_budget(
                &mut figures,
                &rows,
                (&format!("accuracy-{model}"), &title, "accuracy, %"),
                &accuracy,
                false,
            );
        }
        let is_compared = self.sweeps_mechanism
            || self.sweeps_fraction
            || self.rows.iter().any(|row| row.estimate != self.rows[0].estimate);
        let mut errors = vec![Drawn { metric: "mae", factor: 1.0, suffix: "" }];
        if self.sweeps_mechanism {
            errors.push(Drawn { metric: "graph_mae", factor: 1.0, suffix: "" });
        } else if !is_compared {
            // Beside each other, estimates are told apart by their errors alone.
            errors.push(Drawn { metric: "expected_mae", factor: 1.0, suffix: "expected by the model" });
        }
        if !is_compared || self.sweeps_mechanism {
            errors.push(Drawn { metric: "mae_bound", factor: 1.0, suffix: "bound (theorem 4.4)" });
        }
        let posterior: Vec<&Row> =
            self.rows.iter().copied().filter(|row| row.mechanism != "blink" || row.variant.is_empty()).collect();
        let title = "Mean absolute error of link probabilities";
        if self.sweeps_nodes {
            figures.push(self.by_nodes(&posterior));
        } else {
            self.by_budget(&mut figures, &posterior, ("mae", title, "mean absolute error"), &errors, true);
        }
        let density = [
            Drawn { metric: "graph_entries", factor: 1.0, suffix: "entries" },
            Drawn { metric: "graph_true_positives", factor: 1.0, suffix: "true positives" },
        ];
        // Over sizes only the errors say something together.
        if !self.sweeps_nodes {
            let precision = [Drawn { metric: "average_precision", factor: 1.0, suffix: "" }];
            let title = "Average precision of link probabilities";
            self.by_budget(&mut figures, &posterior, ("precision", title, "average precision"), &precision, false);
            let title = "Links that the graph keeps, in both directions";
            self.by_budget(&mut figures, &self.rows, ("density", title, "entries"), &density, self.sweeps_mechanism);
        }
        figures.retain(|figure| !figure.lines.is_empty());
        figures
    }

    /// A figure over the budget per list bit; and, where mechanisms differ in who reports a link, one over that per link.
    fn by_budget(
        &self,
        figures: &mut Vec<Figure>,
        rows: &[&Row],
        (name, title, label): (&str, &str, &str),
        drawn: &[Drawn],
        is_log: bool,
    ) {
        let y = Axis { label: label.to_owned(), is_log };
        let lines =
            |x: &dyn Fn(&Row) -> f64| self.lines(rows, drawn, x, &|row| self.line_name(row, self.sweeps_fraction));
        let figure = |name: String, title: String, label: &str, lines| {
            let x = Axis { label: label.to_owned(), is_log: false };
            Figure { name, title, x, y: y.clone(), lines }
        };
        figures.push(figure(name.to_owned(), title.to_owned(), BUDGET, lines(&|row| row.epsilon)));
        let ratio = |row: &&Row| row.epsilon_edge / row.epsilon;
        let ratios: BTreeSet<u64> =
            rows.iter().filter(|row| !is_level(row)).map(ratio).map(|ratio| (8.0 * ratio) as u64).collect();
        if ratios.len() > 1 {
            let (name, title) = (format!("{name}-per-link"), format!("{title}, by what a link costs"));
            figures.push(figure(name, title, EDGE_BUDGET, lines(&|row| row.epsilon_edge)));
        }
    }

    fn by_fraction(&self, rows: &[&Row], name: &str, title: &str, drawn: &[Drawn]) -> Figure {
        let x = Axis { label: "degree_fraction".to_owned(), is_log: false };
        let y = Axis { label: "accuracy, %".to_owned(), is_log: false };
        let named = |row: &Row| format!("epsilon {} {}", row.epsilon, self.line_name(row, false)).trim_end().to_owned();
        let lines = self.lines(rows, drawn, &|row| row.degree_fraction, &named);
        Figure { name: name.to_owned(), title: format!("{title}, by fraction"), x, y, lines }
    }

    /// Both axes in logarithms, so that corollary 4.6 is a straight line.
    fn by_nodes(&self, rows: &[&Row]) -> Figure {
        let x = Axis { label: "nodes".to_owned(), is_log: true };
        let y = Axis { label: "mean absolute error".to_owned(), is_log: true };
        let drawn = [
            Drawn { metric: "mae", factor: 1.0, suffix: "" },
            Drawn { metric: "mae_bound", factor: 1.0, suffix: "bound (theorem 4.4)" },
        ];
        let named = |row: &Row| format!("epsilon {}", row.epsilon);
        let mut lines = self.lines(rows, &drawn, &|row| n_nodes(row).unwrap_or(f64::NAN), &named);
        for line in &mut lines {
            line.name = format!("{} (slope {:.2})", line.name, slope(&line.points));
        }
        let title = "Mean absolute error by number of nodes (corollary 4.6)".to_owned();
        Figure { name: "nodes".to_owned(), title, x, y, lines }
    }

    /// What a line is called: only what tells it from others.
    fn line_name(&self, row: &Row, with_fraction: bool) -> String {
        let is_blink = row.mechanism == "blink";
        let mechanism = if self.sweeps_mechanism { row.mechanism.as_str() } else { "" };
        let variant = if is_blink { row.variant.as_str() } else { "" };
        let fraction = match row.degree_fraction {
            _ if !with_fraction || !is_blink => String::new(),
            0.0 => "evidence alone".to_owned(),
            1.0 => "prior alone".to_owned(),
            fraction => format!("fraction {fraction}"),
        };
        let estimate = if self.sweeps_nodes { "" } else { row.estimate.as_str() };
        let parts = [estimate, mechanism, variant, &fraction];
        parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ")
    }

    fn lines(
        &self,
        rows: &[&Row],
        drawn: &[Drawn],
        x: &dyn Fn(&Row) -> f64,
        name: &dyn Fn(&Row) -> String,
    ) -> Vec<Line> {
        let mut lines: Vec<Line> = Vec::new();
        for Drawn { metric, factor, suffix } in drawn {
            for row in rows {
                let Some(summary) = row.summary(metric) else { continue };
                let name = [name(row).as_str(), suffix].join(" ").trim().to_owned();
                let cell = row.cell();
                // Accuracy was published at whatever fraction was best, and apart from that by fraction.
                let fraction = cell.degree_fraction.filter(|_| self.sweeps_fraction || *metric != "accuracy");
                let wanted = Cell { degree_fraction: fraction, ..cell.clone() };
                let published = self.published.and_then(|published| published.score(&wanted, metric));
                let half_width = if summary.half_width.is_finite() { summary.half_width } else { 0.0 };
                let spread = if summary.standard_deviation.is_finite() { summary.standard_deviation } else { 0.0 };
                let point = Point {
                    x: x(row),
                    cell,
                    epsilon_edge: row.epsilon_edge,
                    metric,
                    mean: factor * summary.mean,
                    standard_deviation: factor * spread,
                    half_width: factor * half_width,
                    trials: row.scores.get(*metric).map_or(0, Vec::len),
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

/// Whether a row stands for all budgets.
fn is_level(row: &Row) -> bool {
    matches!(row.mechanism.as_str(), "non-private" | "no-links")
}

fn n_nodes(row: &Row) -> Option<f64> {
    row.scores.get("n_nodes")?.first().copied()
}

/// Of the least-squares line through the logarithms.
fn slope(points: &[Point]) -> f64 {
    let logs: Vec<(f64, f64)> = points.iter().map(|point| (point.x.ln(), point.mean.ln())).collect();
    let n = logs.len() as f64;
    let (x, y) = logs.iter().fold((0.0, 0.0), |sum, log| (sum.0 + log.0 / n, sum.1 + log.1 / n));
    let (up, across) =
        logs.iter().fold((0.0, 0.0), |sum, log| (sum.0 + (log.0 - x) * (log.1 - y), sum.1 + (log.0 - x) * (log.0 - x)));
    up / across
}
