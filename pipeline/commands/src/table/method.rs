//! What tells the methods of a table apart.

use std::collections::BTreeSet;

use veilgraph_contract::Relation;
use veilgraph_evaluate::Cell;

use super::axis::ColumnAxis;
use crate::protected::{Protected, Standing};
use crate::summary::Row;

/// Something that tells methods apart.
pub(super) struct MethodHeading {
    pub name: String,
    of: HeadingKind,
}

enum HeadingKind {
    Alternative,
    Mechanism,
    Epsilon,
    Fraction,
    Features,
    Label,
    Choice(String),
    Variant,
    Model,
}

impl MethodHeading {
    /// What programs call it: as `scores.csv` does, and so that no other column of the table is called so.
    pub(super) fn column(&self) -> String {
        match &self.of {
            HeadingKind::Choice(field) => field.clone(),
            HeadingKind::Fraction => "degree_fraction".to_owned(),
            HeadingKind::Variant => "variant".to_owned(),
            HeadingKind::Epsilon => "epsilon_of_links".to_owned(),
            _ => self.name.clone(),
        }
    }

    pub(super) fn value(&self, cell: &Cell) -> String {
        let cost = |relation: Relation| {
            let cost = cell.costs.iter().find(|cost| cost.relation == relation);
            cost.map_or(String::new(), |cost| cost.epsilon.to_string())
        };
        match &self.of {
            HeadingKind::Alternative => cell.alternative.clone(),
            HeadingKind::Mechanism => cell.mechanism.clone(),
            HeadingKind::Epsilon => cell.epsilon.to_string(),
            HeadingKind::Fraction if Protected::Links.standing(cell) == Standing::Private => {
                cell.degree_fraction.to_string()
            }
            HeadingKind::Fraction => String::new(),
            HeadingKind::Features => cost(Relation::NodeFeatures),
            HeadingKind::Label => cost(Relation::Label),
            HeadingKind::Choice(field) => cell.choice(field).unwrap_or_default().to_owned(),
            HeadingKind::Variant => cell.variant.clone(),
            HeadingKind::Model => cell.model.clone(),
        }
    }
}

/// The headings under which the rows differ; at least one.
pub(super) fn method_headings(rows: &[&Row], axis: &ColumnAxis) -> Vec<MethodHeading> {
    let heading = |name: &str, of: HeadingKind| MethodHeading { name: name.to_owned(), of };
    let mut all = vec![heading("alternative", HeadingKind::Alternative), heading("mechanism", HeadingKind::Mechanism)];
    let mut fields: Vec<(String, String)> = Vec::new();
    for choice in rows.iter().flat_map(|row| &row.cell.choices) {
        if choice.needs_column() && !axis.is(&choice.field) && fields.iter().all(|known| known.0 != choice.field) {
            fields.push((choice.field.clone(), choice.name.clone()));
        }
    }
    // A cost that follows from a swept field of its own need not stand beside it.
    let sweeps =
        |prefix: &str| fields.iter().any(|(field, _)| field.starts_with(prefix)) || axis.words().starts_with(prefix);
    if !sweeps("privatize.features") {
        all.push(heading("features", HeadingKind::Features));
    }
    if !sweeps("privatize.labels") {
        all.push(heading("label", HeadingKind::Label));
    }
    let is_private = |row: &&&Row| Protected::Links.standing(&row.cell) == Standing::Private;
    let budgets: BTreeSet<u64> = rows.iter().filter(is_private).map(|row| row.cell.epsilon.to_bits()).collect();
    if budgets.len() > 1 && !axis.is("privatize.links.epsilon") {
        all.push(heading("epsilon of links", HeadingKind::Epsilon));
    }
    if sweeps_fraction(rows) {
        all.push(heading("fraction", HeadingKind::Fraction));
    }
    all.extend(fields.into_iter().map(|(field, name)| MethodHeading { name, of: HeadingKind::Choice(field) }));
    let columns = [("graph", HeadingKind::Variant, "construct.variant"), ("model", HeadingKind::Model, "train.model")];
    all.extend(columns.into_iter().filter(|(.., field)| !axis.is(field)).map(|(name, of, _)| heading(name, of)));
    let differs = |heading: &MethodHeading| {
        let first = heading.value(&rows[0].cell);
        rows.iter().any(|row| heading.value(&row.cell) != first)
    };
    let (telling, same): (Vec<_>, Vec<_>) = all.into_iter().partition(differs);
    if telling.is_empty() {
        same.into_iter().filter(|heading| !heading.value(&rows[0].cell).is_empty()).take(1).collect()
    } else {
        without_equal_names(telling)
    }
}

/// The same headings, where a swept field stands in full if its short name is that of another one.
fn without_equal_names(headings: Vec<MethodHeading>) -> Vec<MethodHeading> {
    let names: Vec<String> = headings.iter().map(|heading| heading.name.clone()).collect();
    let is_alone = |name: &String| names.iter().filter(|other| *other == name).count() == 1;
    let told_apart = |heading: MethodHeading| match &heading.of {
        HeadingKind::Choice(field) if !is_alone(&heading.name) => MethodHeading { name: field.clone(), of: heading.of },
        _ => heading,
    };
    headings.into_iter().map(told_apart).collect()
}

/// Whether the share of degrees tells rows apart that nothing else does.
fn sweeps_fraction(rows: &[&Row]) -> bool {
    let rest = |cell: &Cell| {
        (cell.estimate(), cell.mechanism.clone(), cell.variant.clone(), cell.model.clone(), cell.epsilon.to_bits())
    };
    rows.iter().enumerate().any(|(place, row)| {
        rows[..place]
            .iter()
            .any(|other| rest(&other.cell) == rest(&row.cell) && other.cell.degree_fraction != row.cell.degree_fraction)
    })
}
