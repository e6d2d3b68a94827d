//! What a figure is, before it is drawn.

use veilgraph_evaluate::Cell;
use veilgraph_evaluate::metric::{self, Metric};

use crate::protected::Standing;
use crate::summary::{Row, in_trials};

/// A figure with its caption and its data.
#[derive(Clone)]
pub(crate) struct Figure {
    /// Name of its files.
    pub name: String,
    pub title: String,
    pub x: Axis,
    pub y: Axis,
    /// The same values in another unit, above the figure.
    pub x_above: Option<AxisAbove>,
    pub lines: Vec<Line>,
}

/// What an axis shows.
#[derive(Clone)]
pub(crate) struct Axis {
    pub label: String,
    pub is_log: bool,
}

/// A second horizontal axis: its values are those of the first, times a factor.
#[derive(Clone)]
pub(crate) struct AxisAbove {
    pub label: String,
    pub factor: f64,
}

/// Points that belong together.
#[derive(Clone)]
pub(crate) struct Line {
    pub name: String,
    pub points: Vec<Point>,
    pub standing: Standing,
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
    /// Whether that was found with the same protocol.
    pub is_comparable: bool,
}

impl Figure {
    /// What the marks of published values mean; none where there are none.
    pub(crate) fn published_note(&self) -> Option<String> {
        let mut marked =
            self.lines.iter().flat_map(|line| &line.points).filter(|point| point.published.is_some()).peekable();
        marked.peek()?;
        let words =
            if marked.all(|point| point.is_comparable) { "published" } else { "published, by another protocol" };
        Some(words.to_owned())
    }
}

impl Line {
    /// Its name with what it stands for.
    pub(crate) fn called(&self) -> String {
        format!("{}{}", self.name, self.role())
    }

    /// What it stands for among the others, as its name says it.
    pub(crate) fn role(&self) -> &'static str {
        match self.standing {
            Standing::Floor => " (floor)",
            Standing::Ceiling => " (ceiling)",
            Standing::Private => "",
        }
    }

    /// Whether it is what others are read beside: a floor, a ceiling, a level, or the most that reports about a fact itself allow.
    /// In every figure such lines are dashed and grey, and their names tell them apart.
    pub(crate) fn is_reference(&self) -> bool {
        let is_cap = |point: &Point| [metric::ATTACK_AUC_CAP, metric::ATTACK_TPR_AT_1E_3_CAP].contains(point.metric);
        self.is_level || self.standing != Standing::Private || self.points.first().is_some_and(is_cap)
    }
}

impl Point {
    /// The score of a row; none where it has no such score.
    pub(crate) fn scored(row: &Row, metric: &'static Metric, x: f64) -> Option<Self> {
        let summary = row.summary(metric.name)?;
        let factor = metric.unit.factor();
        // Equal scores have a mean that differs from them in rounding.
        let is_spread = |value: f64| value.is_finite() && value > 1e-12 * summary.mean.abs();
        let spread = |value: f64| if is_spread(value) { factor * value } else { 0.0 };
        Some(Self {
            x,
            cell: row.cell.clone(),
            metric,
            mean: factor * summary.mean,
            standard_deviation: spread(summary.standard_deviation),
            half_width: spread(summary.half_width),
            trials: summary.trials,
            published: None,
            is_comparable: false,
        })
    }

    /// The score with its interval and its number of trials.
    pub(crate) fn words(&self) -> String {
        let number = |value: f64| self.metric.written(value / self.metric.unit.factor());
        let interval = if self.half_width > 0.0 { format!(" ± {}", number(self.half_width)) } else { String::new() };
        let trials = in_trials(self.trials);
        let protocol = if self.is_comparable { "published" } else { "published, by another protocol" };
        let published = self.published.map_or(String::new(), |(mean, _)| format!("; {protocol}: {}", number(mean)));
        format!("{}{interval} ({trials}){published}", number(self.mean))
    }
}
