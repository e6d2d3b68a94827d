//! Which figures an experiment has, as data.

use std::collections::{BTreeMap, BTreeSet};

use veilgraph_evaluate::Cell;
use veilgraph_evaluate::metric::{self, Metric};
use veilgraph_runner::config::fields::plain_text;
use veilgraph_runner::published::Published;
use veilgraph_runner::systems::CENTRAL;
use veilgraph_statistics::log_log_slope;

use super::figure::{Axis, AxisAbove, Figure, Line};
use super::protocol::Protocols;
use super::{attacks, central};
use crate::protected::{Protected, Standing};
use crate::summary::Row;

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
    /// What their budgets protect.
    pub(super) protected: Protected,
    pub(super) published: Option<&'a Published>,
    /// What of its protocol differs from the published one.
    pub(super) protocols: &'a Protocols,
    pub(super) sweeps_fraction: bool,
    pub(super) sweeps_mechanism: bool,
    sweeps_nodes: bool,
}

/// Every figure of these rows.
pub(crate) fn all(rows: &[Row], published: Option<&Published>, protocols: &Protocols) -> Vec<Figure> {
    let parts: BTreeSet<(&str, &str)> =
        rows.iter().map(|row| (row.cell.experiment.as_str(), row.cell.dataset.as_str())).collect();
    let several = parts.iter().map(|(experiment, _)| experiment).collect::<BTreeSet<_>>().len() > 1;
    let mut figures = Vec::new();
    for (experiment, dataset) in parts {
        let mine = rows.iter().filter(|row| row.cell.experiment == experiment && row.cell.dataset == dataset).collect();
        let prefix = if several { format!("{experiment}-{dataset}") } else { dataset.to_owned() };
        for mut figure in Part::new(mine, published, protocols).figures() {
            figure.name = file_name(&format!("{prefix}-{}", figure.name));
            let about = if several { format!("{dataset}, {experiment}") } else { dataset.to_owned() };
            figure.title = format!("{}: {about}", figure.title);
            figures.push(figure);
        }
    }
    figures
}

/// A name for files. A dataset may have any name, and a file may not; what follows a dot would count as its ending.
pub(super) fn file_name(name: &str) -> String {
    plain_text(&name.replace(", ", "-").replace(' ', "-")).replace('.', "_")
}

impl<'a> Part<'a> {
    fn new(rows: Vec<&'a Row>, published: Option<&'a Published>, protocols: &'a Protocols) -> Self {
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
        Self {
            protected: Protected::of(&rows),
            rows,
            attacked,
            central,
            published,
            protocols,
            sweeps_fraction,
            sweeps_mechanism,
            sweeps_nodes: nodes.len() > 1,
        }
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
            let before = figures.len();
            self.by_budget(&mut figures, &rows, (&format!("accuracy-{model}"), &title), &accuracy, false, &named);
            // A floor that was trained says more than a constant answer.
            if !rows.iter().any(|row| self.protected.standing(&row.cell) == Standing::Floor) {
                self.add_floor(&mut figures[before..], &rows, &metric::MAJORITY_ACCURACY, "majority class");
            }
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
        let before = figures.len();
        self.by_budget(&mut figures, &posterior, title, &errors, true, &named);
        self.add_floor(&mut figures[before..], &posterior, &metric::EMPTY_GRAPH_MAE, "no link believed");
        let density = [
            Drawn { metric: &metric::GRAPH_ENTRIES, suffix: "entries" },
            Drawn { metric: &metric::GRAPH_TRUE_POSITIVES, suffix: "true positives" },
        ];
        let precision = [Drawn { metric: &metric::AVERAGE_PRECISION, suffix: "" }];
        let title = ("precision", "Average precision of link probabilities");
        let before = figures.len();
        self.by_budget(&mut figures, &posterior, title, &precision, false, &named);
        self.add_floor(&mut figures[before..], &posterior, &metric::CHANCE_AVERAGE_PRECISION, "random order");
        let title = ("density", "Links that the graph keeps, in both directions");
        let before = figures.len();
        self.by_budget(&mut figures, &self.rows, title, &density, self.sweeps_mechanism, &named);
        self.add_true_number(&mut figures[before..]);
        figures.extend(central::figures(self));
        figures.extend(attacks::figures(self));
        figures.retain(|figure| !figure.lines.is_empty());
        figures
    }

    /// A figure over the budget, with the same by another relation above it; and, where mechanisms differ in who reports a
    /// link, one over the cost of a link.
    pub(super) fn by_budget(
        &self,
        figures: &mut Vec<Figure>,
        rows: &[&Row],
        (name, title): (&str, &str),
        drawn: &[Drawn],
        is_log: bool,
        named: &dyn Fn(&Row) -> String,
    ) {
        let protected = self.protected;
        let lines = |x: &dyn Fn(&Row) -> f64| self.lines(rows, drawn, x, named);
        let figure = |name: String, title: String, unit: &str, lines| {
            // Budgets of features span decades, and those of links do not.
            let x = Axis { label: format!("nats per {unit}"), is_log: protected != Protected::Links };
            let y = Axis { label: drawn[0].metric.heading.to_owned(), is_log };
            Figure { name, title, x, y, x_above: None, lines }
        };
        let budget = |row: &Row| match protected {
            Protected::Links => row.cell.epsilon,
            _ => protected.budget(&row.cell).unwrap_or(f64::INFINITY),
        };
        let unit = rows.first().map_or("", |row| protected.unit(&row.cell));
        let mut first = figure(name.to_owned(), title.to_owned(), unit, lines(&budget));
        let paying = || rows.iter().filter(|row| !self.is_level(row) && protected.budget(&row.cell).is_some());
        let other = |row: &&&Row| {
            let (nats, unit) = protected.other_budget(&row.cell)?;
            Some((nats / protected.budget(&row.cell)?, unit))
        };
        // A millionth more or less is rounding.
        let ratios: BTreeSet<u64> =
            paying().filter_map(|row| other(&row)).map(|(ratio, _)| (1e6 * ratio).round() as u64).collect();
        if let (1, Some((factor, unit))) = (ratios.len(), paying().find_map(|row| other(&row))) {
            first.x_above = Some(AxisAbove { label: format!("nats per {unit}"), factor });
        }
        figures.push(first);
        if ratios.len() > 1 && protected == Protected::Links {
            let (name, title) = (format!("{name}-per-link"), format!("{title}, by what a link costs"));
            figures.push(figure(name, title, "undirected link", lines(&|row| row.cell.epsilon_edge)));
        }
    }

    /// Adds a level that follows from the graph alone to figures that have lines.
    pub(super) fn add_floor(&self, figures: &mut [Figure], rows: &[&Row], floor: &'static Metric, name: &str) {
        let is_scored = |row: &&&Row| row.scores.contains_key(floor.name);
        let Some(row) = rows.iter().find(is_scored) else { return };
        for figure in figures.iter_mut().filter(|figure| !figure.lines.is_empty()) {
            let drawn = [Drawn { metric: floor, suffix: "" }];
            let found = self.lines(&[*row], &drawn, &|_| 0.0, &|_| name.to_owned());
            figure.lines.extend(found.into_iter().map(|line| Line {
                standing: Standing::Floor,
                is_level: true,
                ..line
            }));
        }
    }

    /// Adds the number of links that there are to figures that have lines, where all rows are about one graph. Levels of this
    /// number, such as that of a network on the true links, say the same and are left out.
    fn add_true_number(&self, figures: &mut [Figure]) {
        let metric = &metric::TRUE_ENTRIES;
        let scored = || self.rows.iter().filter_map(|row| Some((*row, row.summary(metric.name)?.mean)));
        let Some((row, number)) = scored().next().filter(|first| scored().all(|other| other.1 == first.1)) else {
            return;
        };
        for figure in figures.iter_mut().filter(|figure| !figure.lines.is_empty()) {
            let says_the_same = |line: &Line| line.is_level && line.points.iter().all(|point| point.mean == number);
            figure.lines.retain(|line| !says_the_same(line));
            let name = |_: &Row| "links that there are".to_owned();
            let found = self.lines(&[row], &[Drawn { metric, suffix: "" }], &|_| 0.0, &name);
            let level = |line: Line| Line { standing: Standing::Private, is_level: true, ..line };
            figure.lines.extend(found.into_iter().map(level));
        }
    }

    fn by_fraction(&self, rows: &[&Row], name: &str, title: &str, drawn: &[Drawn]) -> Figure {
        let x = Axis { label: "degree_fraction".to_owned(), is_log: false };
        let y = Axis { label: drawn[0].metric.heading.to_owned(), is_log: false };
        let named = |row: &Row| {
            let name = self.line_name(row, false);
            // What stands for all budgets has none in its name.
            if self.is_level(row) { name } else { format!("epsilon {} {name}", row.cell.epsilon) }
        };
        let lines = self.lines(rows, drawn, &|row| row.cell.degree_fraction, &named);
        Figure { name: name.to_owned(), title: format!("{title}, by fraction"), x, y, x_above: None, lines }
    }

    /// Both axes in logarithms, so that corollary 4.6 is a straight line.
    fn by_nodes(&self, rows: &[&Row]) -> Figure {
        let x = Axis { label: "nodes".to_owned(), is_log: true };
        let y = Axis { label: "mean absolute error".to_owned(), is_log: true };
        let drawn = [
            Drawn { metric: &metric::MAE, suffix: "" },
            Drawn { metric: &metric::MAE_BOUND, suffix: "bound (theorem 4.4)" },
        ];
        let rows: Vec<&Row> = rows.iter().copied().filter(|row| !self.is_level(row)).collect();
        let told_apart = |row: &Row| row.cell.told_apart_by(|choice| choice.field != "ingest.synthetic.nodes");
        let named = |row: &Row| format!("epsilon {} {}", row.cell.epsilon, told_apart(row)).trim_end().to_owned();
        let mut lines = self.lines(&rows, &drawn, &|row| n_nodes(row).unwrap_or(f64::NAN), &named);
        for line in &mut lines {
            let slope = log_log_slope(line.points.iter().map(|point| (point.x, point.mean)));
            // One point has no slope, and neither has an error of zero.
            if slope.is_finite() {
                line.name = format!("{} (slope {slope:.2})", line.name);
            }
        }
        let title = "Mean absolute error by number of nodes (corollary 4.6)".to_owned();
        Figure { name: "nodes".to_owned(), title, x, y, x_above: None, lines }
    }
}

/// What predicts without links or without a network belongs beside every network.
const BESIDE_EVERY_NETWORK: [&str; 3] = ["mlp", "beliefs", "majority"];

fn n_nodes(row: &Row) -> Option<f64> {
    row.values(metric::N_NODES.name).first().copied()
}
