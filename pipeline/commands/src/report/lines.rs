//! The lines of a figure: which rows are one, and what it is called.

use veilgraph_evaluate::Cell;
use veilgraph_evaluate::metric;
use veilgraph_runner::published::PublishedCell;
use veilgraph_runner::systems::CENTRAL;

use super::central;
use super::figure::{Figure, Line, Point};
use super::figures::{Drawn, Part};
use crate::protected::{Protected, Standing, draws_no_noise_on_links};
use crate::summary::Row;

impl Part<'_> {
    /// What a line is called: only what tells it from others.
    pub(super) fn line_name(&self, row: &Row, with_fraction: bool) -> String {
        let cell = &row.cell;
        let is_blink = cell.mechanism == "blink";
        // A reference is called as its alternative is.
        let is_named = self.protected.standing(cell) != Standing::Private && !cell.alternative.is_empty();
        let mechanism = if self.sweeps_mechanism && !is_named { cell.mechanism.as_str() } else { "" };
        let variant = if is_blink { cell.variant.as_str() } else { "" };
        let fraction = match cell.degree_fraction {
            _ if !with_fraction || !is_blink => String::new(),
            0.0 => "evidence alone".to_owned(),
            1.0 => "prior alone".to_owned(),
            fraction => format!("fraction {fraction}"),
        };
        let estimate = cell.told_apart_by(|choice| choice.field != self.protected.field());
        // A perceptron on a graph stands beside the networks that read its links.
        let model = if cell.model == "mlp" && cell.mechanism != "no-links" { "mlp" } else { "" };
        let noise = if self.is_without_noise(cell) { "without noise" } else { "" };
        let mut parts: Vec<&str> = Vec::new();
        for part in [estimate.as_str(), mechanism, variant, model, &fraction] {
            // An alternative may be called as the mechanism is that it names.
            if !part.is_empty() && !parts.contains(&part) {
                parts.push(part);
            }
        }
        // A line that nothing tells from others has a name all the same.
        if parts.is_empty() {
            parts.push(&cell.mechanism);
        }
        if !noise.is_empty() {
            parts.push(noise);
        }
        parts.join(" ")
    }

    /// Whether a cell is a mechanism's whose budget is without bound. It is no point of the line of the budgets: it is a
    /// level beside them.
    fn is_without_noise(&self, cell: &Cell) -> bool {
        let is_endless = |value: &str| value.parse::<f64>().is_ok_and(f64::is_infinite);
        match self.protected {
            Protected::Links => draws_no_noise_on_links(cell),
            protected => cell.choice(protected.field()).is_some_and(is_endless),
        }
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
            // A bound on errors is about budgets, and what stands for all of them has none.
            let is_drawn = |row: &&&Row| **metric != metric::MAE_BOUND || !self.is_level(row);
            for row in rows.iter().filter(is_drawn) {
                let Some(point) = Point::scored(row, metric, x(row)) else { continue };
                let name = [name(row).as_str(), suffix].join(" ").trim().to_owned();
                let cell = row.published_cell();
                // Accuracy was published at whatever fraction was best, and apart from that by fraction.
                let fraction = cell.degree_fraction.filter(|_| self.sweeps_fraction || **metric != metric::ACCURACY);
                let wanted = PublishedCell { degree_fraction: fraction, ..cell };
                let published = self.published.and_then(|published| published.score(&wanted, metric.name));
                let is_comparable = self.protocols.is_comparable(&row.cell, metric);
                // What another estimator finds is no reproduction, so that no published value belongs beside it.
                let published = published.filter(|_| is_comparable || row.cell.alternative.is_empty());
                let factor = metric.unit.factor();
                let published = published.map(|(mean, deviation)| (factor * mean, factor * deviation));
                let point = Point { published, is_comparable, ..point };
                match lines.iter_mut().find(|line| line.name == name) {
                    Some(line) => line.points.push(point),
                    None => {
                        lines.push(Line {
                            name,
                            points: vec![point],
                            standing: self.standing(row),
                            is_level: self.is_level(row),
                        });
                    }
                }
            }
        }
        lines.iter_mut().for_each(|line| line.points.sort_by(|a, b| a.x.total_cmp(&b.x)));
        lines.sort_by(|a, b| (a.is_level, &a.name).cmp(&(b.is_level, &b.name)));
        lines
    }

    /// Whether a row stands for all budgets.
    pub(super) fn is_level(&self, row: &Row) -> bool {
        let is_unpaid = match self.protected {
            Protected::Links => draws_no_noise_on_links(&row.cell),
            protected => protected.budget(&row.cell).is_none(),
        };
        is_unpaid || has_no_budget(row)
    }

    /// A floor or a ceiling that has budgets of its own is drawn as a method.
    pub(super) fn standing(&self, row: &Row) -> Standing {
        let protected = if row.cell.mechanism == CENTRAL { Protected::Model } else { self.protected };
        match protected.standing(&row.cell) {
            Standing::Ceiling if !self.is_level(row) => Standing::Private,
            standing => standing,
        }
    }
}

/// Whether a row stands for all budgets of links.
pub(super) fn is_level(row: &Row) -> bool {
    has_no_budget(row) || draws_no_noise_on_links(&row.cell)
}

/// Whether a row is about something that has no budget, whatever is protected.
fn has_no_budget(row: &Row) -> bool {
    matches!(row.cell.mechanism.as_str(), "non-private" | "no-links") || central::is_level(&row.cell)
}

/// The figure as it is drawn: without levels that a logarithmic axis has no place for, and with lines that are the same
/// drawn once, under all of their names.
pub(super) fn drawn_once(figure: &Figure) -> Figure {
    let is_log = figure.y.is_log;
    let has_place = |line: &&Line| !(is_log && line.is_level && line.points.iter().all(|point| point.mean <= 0.0));
    let mut kept: Vec<Line> = Vec::new();
    for line in figure.lines.iter().filter(has_place) {
        match kept.iter_mut().find(|known| are_the_same(known, line)) {
            // The name of what follows from the graph alone comes last, and says it best.
            Some(known) if known.points[0].metric != line.points[0].metric => known.name.clone_from(&line.name),
            Some(known) => known.name = format!("{} = {}", known.name, line.name),
            None => kept.push(line.clone()),
        }
    }
    Figure { lines: kept, ..figure.clone() }
}

/// Whether anything of a figure has a place on its axes. Levels alone give a logarithmic axis no scale.
pub(super) fn can_be_drawn(figure: &Figure) -> bool {
    drawn_once(figure).lines.iter().any(|line| !line.is_level || !figure.y.is_log)
}

fn are_the_same(a: &Line, b: &Line) -> bool {
    let values =
        |line: &Line| line.points.iter().map(|point| [point.x, point.mean].map(f64::to_bits)).collect::<Vec<_>>();
    match (a.is_level, b.is_level) {
        // A level is its value alone; sums in another order differ in rounding. Two that were measured are the same where their
        // intervals are.
        (true, true) => {
            let [a_point, b_point] = [a, b].map(|line| &line.points[0]);
            let is_near = |a: f64, b: f64| (a - b).abs() <= 1e-12 * a_point.mean.abs();
            a.standing == b.standing
                && is_near(a_point.mean, b_point.mean)
                && (a_point.metric != b_point.metric || is_near(a_point.half_width, b_point.half_width))
        }
        (false, false) => values(a) == values(b),
        _ => false,
    }
}
