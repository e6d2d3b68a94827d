//! Figures about models of a curator: accuracy by what the model costs, and by what its source states for the same noise.

use veilgraph_contract::Relation;
use veilgraph_evaluate::metric;
use veilgraph_evaluate::{Cell, RelationCost};
use veilgraph_runner::systems::CENTRAL;

use super::figure::{Axis, Figure};
use super::figures::{Drawn, Part};
use crate::summary::Row;

/// Whether a row is about a model without noise, which stands for all budgets.
pub(super) fn is_level(cell: &Cell) -> bool {
    cell.mechanism == CENTRAL && cell.costs.iter().all(|cost| cost.epsilon.is_infinite())
}

/// What a model costs under a relation. What protects a node with all its links protects its own data as well.
fn cost_under(cell: &Cell, relation: Relation) -> Option<&RelationCost> {
    let under = |wanted: Relation| cell.costs.iter().find(|cost| cost.relation == wanted);
    under(relation).or_else(|| if relation == Relation::OwnData { under(Relation::Node) } else { None })
}

/// For each relation under which models were trained: accuracy by cost, and by stated cost where that is another. Models
/// without noise stand in every figure.
pub(super) fn figures(part: &Part) -> Vec<Figure> {
    let mut figures = Vec::new();
    for relation in [Relation::OwnData, Relation::Node, Relation::Edge] {
        let of = |row: &Row| cost_under(&row.cell, relation).cloned();
        let belongs = |row: &&Row| of(row).is_some() || is_level(&row.cell);
        let rows: Vec<&Row> = part.central.iter().copied().filter(belongs).collect();
        // Levels alone need no axis, and what protects whole nodes stands in the figure of own data already.
        let is_drawn =
            |row: &&Row| row.cell.costs.iter().any(|cost| cost.relation == relation && cost.epsilon.is_finite());
        if !rows.iter().any(is_drawn) {
            continue;
        }
        let mut draw = |name: String, title: String, label: String, x: &dyn Fn(&RelationCost) -> f64| {
            let drawn = [Drawn { metric: &metric::ACCURACY, suffix: "" }];
            let x_of = |row: &Row| of(row).map_or(f64::INFINITY, |cost| x(&cost));
            let lines = part.lines(&rows, &drawn, &x_of, &|row| line_name(&row.cell));
            let y = Axis { label: metric::ACCURACY.heading.to_owned(), is_log: false };
            let mut figure = [Figure { name, title, x: Axis { label, is_log: true }, y, x_above: None, lines }];
            part.add_floor(&mut figure, &rows, &metric::MAJORITY_ACCURACY, "majority class");
            figures.extend(figure);
        };
        let words = relation.words();
        let title = format!("Accuracy of test nodes by what a {words} costs");
        draw(format!("central-{relation}"), title, format!("nats per {words}"), &|cost| cost.epsilon);
        if rows.iter().filter_map(|row| cost_under(&row.cell, relation)).any(|cost| cost.claimed_epsilon.is_some()) {
            let title = format!("Accuracy of test nodes by what the papers state for a {words}");
            let claimed = |cost: &RelationCost| cost.claimed_epsilon.unwrap_or(cost.epsilon);
            draw(format!("central-{relation}-claimed"), title, format!("nats per {words}, as stated"), &claimed);
        }
    }
    figures
}

/// The learner, with the choices that tell it from others but for its budget.
fn line_name(cell: &Cell) -> String {
    let told = cell.told_apart_by(|choice| !matches!(choice.field.as_str(), "train.epsilon" | "train.task"));
    // A model without noise is a level, and no point of the line of those with noise.
    let noise = if is_level(cell) { "without noise" } else { "" };
    [cell.model.as_str(), told.as_str(), noise]
        .into_iter()
        .filter(|part| !part.is_empty())
        .collect::<Vec<_>>()
        .join(", ")
}
