//! What the columns of a table are.

use std::collections::BTreeSet;

use veilgraph_evaluate::Cell;
use veilgraph_evaluate::metric::Metric;
use veilgraph_runner::config::ConfigError;

use crate::protected::{Protected, Standing};
use crate::summary::Row;

/// What the columns of a table are.
pub(super) enum ColumnAxis {
    /// The budget of links, in nats per list bit.
    LinkBudget,
    /// The same in nats per undirected link, which mechanisms that report a pair once and twice have in common.
    EdgeBudget,
    /// A swept field.
    Field(String),
    /// One column: nothing is swept that is a budget.
    Nothing,
}

/// Fields that are budgets, in the order in which they become columns.
const BUDGET_FIELDS: [&str; 3] = ["privatize.features.epsilon", "privatize.labels.epsilon", "train.epsilon"];

impl ColumnAxis {
    pub(super) fn of(rows: &[&Row], wanted: Option<&str>) -> Result<Self, ConfigError> {
        let swept: BTreeSet<&str> =
            rows.iter().flat_map(|row| &row.cell.choices).map(|choice| choice.field.as_str()).collect();
        if let Some(wanted) = wanted {
            return match wanted {
                "epsilon" | "privatize.links.epsilon" => Ok(Self::LinkBudget),
                "per-link" => Ok(Self::EdgeBudget),
                field if swept.contains(field) => Ok(Self::Field(field.to_owned())),
                field => {
                    let known: Vec<&str> = ["epsilon", "per-link"].into_iter().chain(swept).collect();
                    Err(ConfigError(format!("--columns {field}: nothing sweeps it; choose among {}", known.join(", "))))
                }
            };
        }
        let is_private = |row: &&&Row| Protected::Links.standing(&row.cell) == Standing::Private;
        let private: BTreeSet<&str> = rows.iter().filter(is_private).map(|row| row.cell.mechanism.as_str()).collect();
        // A budget without bound is a ceiling, and a column of its own beside the budgets of the same mechanism.
        let is_swept = |row: &&&Row| private.contains(row.cell.mechanism.as_str());
        let budgets: BTreeSet<u64> = rows.iter().filter(is_swept).map(|row| row.cell.epsilon.to_bits()).collect();
        if budgets.len() > 1 && !rows.iter().any(|row| row.cell.choice("train.epsilon").is_some()) {
            return Ok(Self::LinkBudget);
        }
        let field = BUDGET_FIELDS.into_iter().find(|field| swept.contains(field));
        Ok(field.map_or(Self::Nothing, |field| Self::Field(field.to_owned())))
    }

    pub(super) fn words(&self) -> String {
        match self {
            Self::LinkBudget => "epsilon, nats per list bit".to_owned(),
            Self::EdgeBudget => "epsilon, nats per undirected link".to_owned(),
            Self::Field(field) => field.clone(),
            Self::Nothing => String::new(),
        }
    }

    /// Where a cell stands; empty where the field is none of its own.
    pub(super) fn value(&self, cell: &Cell) -> String {
        let nats = |nats: f64| if nats.is_infinite() { "∞".to_owned() } else { nats.to_string() };
        match self {
            Self::LinkBudget => nats(cell.epsilon),
            Self::EdgeBudget => nats(cell.epsilon_edge),
            Self::Field(field) => cell.choice(field).unwrap_or_default().replace("inf", "∞"),
            Self::Nothing => String::new(),
        }
    }

    /// The headings of columns with these values: a column that is no value of a field is called by the score.
    pub(super) fn headings(&self, values: Vec<String>, metric: &Metric) -> Vec<String> {
        match self {
            Self::LinkBudget | Self::EdgeBudget | Self::Field(_) => values,
            Self::Nothing => vec![metric.heading.to_owned()],
        }
    }

    pub(super) fn is(&self, field: &str) -> bool {
        match self {
            Self::LinkBudget | Self::EdgeBudget => field == "privatize.links.epsilon",
            Self::Field(own) => own == field,
            Self::Nothing => false,
        }
    }
}
