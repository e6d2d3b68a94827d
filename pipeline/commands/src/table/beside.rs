//! Which rows of a table may be compared with each other.

use veilgraph_evaluate::Cell;
use veilgraph_evaluate::metric::Metric;

use super::axis::ColumnAxis;
use crate::comparison::{Rival, are_about_the_same_data};
use crate::protected::{Protected, Standing};
use crate::summary::Row;

/// The rows of a table, from which those are chosen with which one of them is compared.
pub(super) struct Beside<'t, 'r> {
    pub protected: Protected,
    pub rows: &'t [&'r Row],
    pub metric: &'t Metric,
    pub axis: &'t ColumnAxis,
}

impl<'r> Beside<'_, 'r> {
    /// The row whose alternative, mechanism or model is called `name`, in the same column; without a budget of its own where there is
    /// none. Of several those count that differ from `row` in the fewest other things, and of these the best.
    pub(super) fn named(&self, row: &Row, name: &str) -> Option<Rival<'r>> {
        let is_called = |cell: &Cell| [&cell.alternative, &cell.mechanism, &cell.model].iter().any(|own| *own == name);
        let named: Vec<&Row> = self
            .comparable(row)
            .filter(|other| is_called(&other.cell) && self.protects_the_rest_alike(other, row))
            .collect();
        let nearest = |rows: Vec<&'r Row>| {
            let fewest = rows.iter().map(|other| n_other_differences(other, row, name)).min()?;
            Rival::best(rows.into_iter().filter(|other| n_other_differences(other, row, name) == fewest), self.metric)
        };
        let here = named.iter().copied().filter(|other| self.is_in_the_column_of(other, row)).collect();
        let is_level = |other: &&Row| self.protected.standing(&other.cell) != Standing::Private;
        nearest(here).or_else(|| nearest(named.iter().copied().filter(is_level).collect()))
    }

    /// The best row of the row's column among those that are private at the same cost, where the row is one of them.
    pub(super) fn best(&self, row: &Row) -> Option<Rival<'r>> {
        let is_private = |cell: &Cell| self.protected.standing(cell) == Standing::Private;
        if !is_private(&row.cell) {
            return None;
        }
        let rivals = self.comparable(row).filter(|other| {
            is_private(&other.cell) && self.is_in_the_column_of(other, row) && self.protects_the_rest_alike(other, row)
        });
        Rival::best(rivals, self.metric)
    }

    /// The rows about the same data. A score of an attack is compared with scores of the same attack on the same nodes: others say
    /// something else, and the attack that finds least would be the best method.
    fn comparable(&self, row: &Row) -> impl Iterator<Item = &'r Row> {
        self.rows.iter().copied().filter(move |other| {
            are_about_the_same_data(&other.cell, &row.cell) && attack_of(&other.cell).eq(attack_of(&row.cell))
        })
    }

    /// Whether both cost the same of everything but what the budget protects.
    fn protects_the_rest_alike(&self, a: &Row, b: &Row) -> bool {
        self.protected == Protected::Model || self.protected.may_stand_beside(&a.cell, &b.cell, Standing::Ceiling)
    }

    /// Whether both stand in one column and spend the same, also where the columns are something else than the budget.
    fn is_in_the_column_of(&self, a: &Row, b: &Row) -> bool {
        let budget = |row: &Row| self.protected.budget(&row.cell);
        let spend_the_same = self.axis.is(self.protected.field()) || budget(a) == budget(b);
        self.axis.value(&a.cell) == self.axis.value(&b.cell) && spend_the_same
    }
}

/// What was chosen for the attack whose score a cell holds.
fn attack_of(cell: &Cell) -> impl Iterator<Item = (&str, &str)> {
    let choices = cell.choices.iter().filter(|choice| choice.stage() == "audit");
    choices.map(|choice| (choice.field.as_str(), choice.value.as_str()))
}

/// The number of choices in which two rows differ, but for those whose value is `name` in the other row. What only one of them
/// chooses is no difference.
fn n_other_differences(other: &Row, row: &Row, name: &str) -> usize {
    let (theirs, own) = (&other.cell, &row.cell);
    let differ = |theirs: &str, own: &str| theirs != name && theirs != own;
    let columns =
        [(&theirs.alternative, &own.alternative), (&theirs.variant, &own.variant), (&theirs.model, &own.model)];
    let in_columns = columns.into_iter().filter(|(theirs, own)| differ(theirs, own)).count();
    // Variant and model are counted above, whether they are swept or not.
    let others =
        theirs.choices.iter().filter(|choice| !["construct.variant", "train.model"].contains(&choice.field.as_str()));
    let in_choices = others.filter(|choice| own.choice(&choice.field).is_some_and(|own| differ(&choice.value, own)));
    in_columns + in_choices.count()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use veilgraph_evaluate::Choice;
    use veilgraph_evaluate::metric::{self, ACCURACY, Metric};

    use super::*;

    /// A row at 2 nats with this score in one trial.
    fn row(mechanism: &str, model: &str, choices: &[(&str, &str)], metric: &Metric, score: f64) -> Row {
        let choice = |&(field, value): &(&str, &str)| Choice {
            field: field.to_owned(),
            name: field.to_owned(),
            value: value.to_owned(),
        };
        let cell = Cell {
            mechanism: mechanism.to_owned(),
            model: model.to_owned(),
            epsilon: 2.0,
            choices: choices.iter().map(choice).collect(),
            ..Cell::default()
        };
        let scores = BTreeMap::from([(metric.name.to_owned(), BTreeMap::from([(0, score)]))]);
        Row { cell, setting: String::new(), scores, missing: BTreeMap::new() }
    }

    fn beside<'t, 'r>(rows: &'t [&'r Row], metric: &'t Metric, axis: &'t ColumnAxis) -> Beside<'t, 'r> {
        Beside { protected: Protected::Links, rows, metric, axis }
    }

    /// An attack that finds little says nothing for the mechanism that it attacked.
    #[test]
    fn scores_of_attacks_are_compared_with_those_of_the_same_attack() {
        let metric = metric::named("attack_auc").expect("a metric");
        let of = |mechanism: &str, attack: &str, pool: &str, score| {
            row(mechanism, "gcn", &[("audit.attack", attack), ("audit.pool", pool)], metric, score)
        };
        let rows = [
            of("rr", "reports", "all", 0.9),
            of("blink", "reports", "all", 0.8),
            of("rr", "linkteller", "all", 0.6),
            of("blink", "linkteller", "all", 0.55),
            of("blink", "linkteller", "high", 0.5),
        ];
        let rows: Vec<&Row> = rows.iter().collect();
        let axis = ColumnAxis::Nothing;
        let beside = beside(&rows, metric, &axis);
        let place = |rival: Option<Rival>| {
            rival.and_then(|rival| rows.iter().position(|&other| std::ptr::eq(rival.row, other)))
        };
        let best: Vec<Option<usize>> = rows.iter().map(|row| place(beside.best(row))).collect();
        assert_eq!(best, [1, 1, 3, 3, 4].map(Some));
        let of_how_many: Vec<Option<usize>> = rows.iter().map(|row| Some(beside.best(row)?.best_of)).collect();
        assert_eq!(of_how_many, [2, 2, 2, 2, 1].map(Some));
        let named: Vec<Option<usize>> = rows.iter().map(|row| place(beside.named(row, "rr"))).collect();
        assert_eq!(named, [Some(0), Some(0), Some(2), Some(2), None]);
    }

    /// Also where the name is that of a model, or of one of several mechanisms, whose names are choices themselves.
    #[test]
    fn a_named_row_differs_in_nothing_else_where_there_is_such_a_row() {
        let of = |mechanism: &str, model: &str, variant: &str, score| {
            let choices =
                [("privatize.links.mechanism", mechanism), ("construct.variant", variant), ("train.model", model)];
            let mut row = row(mechanism, model, &choices, &ACCURACY, score);
            row.cell.variant = variant.to_owned();
            row
        };
        let rows = [
            of("blink", "gcn", "hard", 0.5),
            of("blink", "gat", "hard", 0.6),
            of("blink", "gat", "hybrid", 0.9),
            of("rr", "gat", "hard", 0.8),
            of("rr", "gcn", "hard", 0.4),
        ];
        let rows: Vec<&Row> = rows.iter().collect();
        let axis = ColumnAxis::Nothing;
        let beside = beside(&rows, &ACCURACY, &axis);
        let score = |row: usize, name: &str| {
            let rival = beside.named(rows[row], name).expect("a row of this name");
            (rival.row.values("accuracy")[0], rival.best_of)
        };
        assert_eq!([score(0, "gat"), score(0, "rr")], [(0.6, 1), (0.4, 1)]);
        // Neither network of this name reads a hybrid graph; one of them has the mechanism in common.
        assert_eq!(score(2, "gcn"), (0.5, 1));
    }
}
