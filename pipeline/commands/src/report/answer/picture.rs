//! The answer as a figure: every method over its budgets, between floor and ceiling.

use veilgraph_evaluate::metric;

use super::{Asked, Method, title};
use crate::protected::{Protected, Standing};
use crate::report::figure::{Axis, AxisAbove, Figure, Line, Point};
use crate::report::figures::file_name;

/// Methods that are drawn at most; the figures below show all.
const DRAWN: usize = 6;

impl Asked<'_> {
    pub(super) fn picture(&self, methods: &[Method], shown: &Method) -> Figure {
        let mut drawn: Vec<&Method> = methods.iter().collect();
        drawn.sort_by(|a, b| b.mean_accuracy().total_cmp(&a.mean_accuracy()));
        drawn.truncate(DRAWN);
        let mut lines: Vec<Line> = drawn.into_iter().map(of_method).collect();
        let first = shown.budgets[0].row;
        lines.extend(self.floor(shown));
        if let Some(ceiling) = self.reference(first, Standing::Ceiling)
            && let Some(point) = Point::scored(ceiling, &metric::ACCURACY, 0.0)
        {
            let name = self.ceiling_name(ceiling).to_owned();
            lines.push(Line { name, points: vec![point], standing: Standing::Ceiling, is_level: true });
        }
        let has_floor = lines.iter().any(|line| line.standing == Standing::Floor);
        if let Some(point) = Point::scored(first, &metric::MAJORITY_ACCURACY, 0.0).filter(|_| !has_floor) {
            let name = "most frequent class".to_owned();
            lines.push(Line { name, points: vec![point], standing: Standing::Floor, is_level: true });
        }
        let unit = self.unit(shown);
        let above = self.protected.other_budget(&first.cell).zip(self.protected.budget(&first.cell));
        let is_fixed = |factor: f64| {
            methods.iter().flat_map(|method| &method.budgets).all(|at| {
                let other = self.protected.other_budget(&at.row.cell).map(|(nats, _)| nats / at.budget);
                other.is_some_and(|other| (other - factor).abs() <= 1e-6 * factor)
            })
        };
        let above = above.map(|((nats, unit), budget)| (nats / budget, unit)).filter(|(factor, _)| is_fixed(*factor));
        Figure {
            name: file_name(&format!("{}-answer", title(first))),
            title: format!("Accuracy by budget: {}", title(first)),
            x: Axis { label: format!("nats per {unit}"), is_log: self.protected != Protected::Links },
            y: Axis { label: metric::ACCURACY.heading.to_owned(), is_log: false },
            x_above: above.map(|(factor, unit)| AxisAbove { label: format!("nats per {unit}"), factor }),
            lines,
        }
    }

    /// The best floor: a level where it is the same at all budgets.
    fn floor(&self, method: &Method) -> Option<Line> {
        let (_, without) = self.subject();
        let mut points = Vec::new();
        for at in &method.budgets {
            points.extend(Point::scored(self.reference(at.row, Standing::Floor)?, &metric::ACCURACY, at.budget));
        }
        let is_level = points.iter().all(|point| point.mean == points[0].mean);
        if is_level {
            points.truncate(1);
        }
        Some(Line { name: format!("the best that {without}"), points, standing: Standing::Floor, is_level })
    }
}

fn of_method(method: &Method) -> Line {
    let points = method.budgets.iter().filter_map(|at| Point::scored(at.row, &metric::ACCURACY, at.budget));
    Line { name: method.name.clone(), points: points.collect(), standing: Standing::Private, is_level: false }
}
