//! The methods that a page compares, each at every budget with what validates best there.

use std::collections::BTreeSet;

use veilgraph_evaluate::Cell;
use veilgraph_evaluate::metric::{self, Metric};

use super::Asked;
use crate::comparison::{Compared, Rival, best, compare};
use crate::protected::{Protected, Standing};
use crate::summary::Row;

/// A method over its budgets.
pub(super) struct Method<'a> {
    pub name: String,
    /// From the smallest on.
    pub budgets: Vec<AtBudget<'a>>,
    /// Whether graph, network and settings were chosen without a look at test nodes.
    pub is_chosen_by_validation: bool,
}

/// The best of a method at one budget.
pub(super) struct AtBudget<'a> {
    pub budget: f64,
    pub row: &'a Row,
    pub compared: Option<Compared>,
}

impl Method<'_> {
    /// Mean accuracy over its budgets.
    pub(super) fn mean_accuracy(&self) -> f64 {
        let means = self.budgets.iter().filter_map(|at| at.row.summary(metric::ACCURACY.name));
        means.map(|summary| summary.mean).sum::<f64>() / self.budgets.len() as f64
    }
}

/// Every method with a budget, in the order of the rows.
pub(super) fn methods<'a>(asked: &Asked<'a>) -> Vec<Method<'a>> {
    let protected = asked.protected;
    let is_asked = |row: &&&Row| {
        protected.standing(&row.cell) == Standing::Private
            && protected.budget(&row.cell).is_some()
            && row.cell.choice("audit.attack").is_none()
            && row.scores.contains_key(metric::ACCURACY.name)
    };
    let rows: Vec<&Row> = asked.rows.iter().filter(is_asked).copied().collect();
    // An alternative with several mechanisms is as many methods.
    let spans = |row: &Row| {
        let other =
            |other: &&Row| other.cell.alternative == row.cell.alternative && other.cell.mechanism != row.cell.mechanism;
        !row.cell.alternative.is_empty() && rows.iter().any(other)
    };
    let name = |row: &Row| {
        let name = name(protected, &row.cell);
        if spans(row) { format!("{name}, {}", row.cell.mechanism) } else { name }
    };
    let mut names: Vec<String> = Vec::new();
    for row in &rows {
        let name = name(row);
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let mut chosen: Vec<(usize, &Row)> = Vec::new();
    let mut by_validation = vec![true; names.len()];
    for (method, own) in names.iter().enumerate() {
        let mine: Vec<&Row> = rows.iter().copied().filter(|row| name(row) == *own).collect();
        let budget = |row: &Row| protected.budget(&row.cell).map(f64::to_bits);
        let budgets: BTreeSet<Option<u64>> = mine.iter().map(|row| budget(row)).collect();
        for at in budgets {
            let here: Vec<&Row> = mine.iter().copied().filter(|row| budget(row) == at).collect();
            let has_loss = here.iter().all(|row| row.scores.contains_key(metric::VALIDATION_LOSS.name));
            by_validation[method] &= has_loss || here.len() == 1;
            let metric: &Metric = if has_loss { &metric::VALIDATION_LOSS } else { &metric::ACCURACY };
            chosen.extend(best(here.into_iter(), metric).map(|row| (method, row)));
        }
    }
    let pairs: Vec<(&Row, Option<Rival>)> =
        chosen.iter().map(|(_, row)| (*row, asked.rival(row, Standing::Floor))).collect();
    let compared = compare(&pairs, &metric::ACCURACY);
    let named = names.into_iter().zip(by_validation);
    let mut methods: Vec<Method> = named
        .map(|(name, is_chosen_by_validation)| Method { name, budgets: Vec::new(), is_chosen_by_validation })
        .collect();
    for ((method, row), compared) in chosen.into_iter().zip(compared) {
        let budget = protected.budget(&row.cell).unwrap_or(f64::NAN);
        methods[method].budgets.push(AtBudget { budget, row, compared });
    }
    methods.iter_mut().for_each(|method| method.budgets.sort_by(|a, b| a.budget.total_cmp(&b.budget)));
    methods
}

/// The alternative, else the mechanism or learner, with everything else that was swept about protection: what protects less
/// is another method, and no better setting of the same.
fn name(protected: Protected, cell: &Cell) -> String {
    let method = match protected {
        Protected::Model => [cell.alternative.as_str(), cell.model.as_str()].join(" "),
        _ if cell.alternative.is_empty() => cell.mechanism.clone(),
        _ => cell.alternative.clone(),
    };
    let mut parts = vec![method.trim().to_owned()];
    for choice in &cell.choices {
        // What stands in a column of its own is in the name already, or is the budget itself.
        if choice.stage() == "privatize" && !choice.has_column() && choice.field != protected.field() {
            parts.push(format!("{} {}", choice.name, choice.value));
        }
    }
    parts.join(", ")
}
