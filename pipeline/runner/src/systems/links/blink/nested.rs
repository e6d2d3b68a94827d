//! Reports at a budget as those at the next larger one of the sweep with further noise.

use toml::Value;
use veilgraph_privatize::links::blink::Params;
use veilgraph_privatize::links::{LargerBudget, Nested};

use super::TABLE;
use crate::config::ConfigError;
use crate::config::sweep::{SweptCell, SweptField};
use crate::plan::Plan;

/// The field of `[privatize.links]` that asks for it.
const FIELD: &str = "nested";

/// Gives every nested cell the larger budgets of its sweep, and refuses what nested reports cannot be.
pub(super) fn fill(plan: &mut Plan, cells: &mut [SweptCell<Params>]) -> Result<(), ConfigError> {
    plan.read_field(TABLE, FIELD);
    let is_wanted = |cell: &SweptCell<Params>| cell.params.nested != Nested::default();
    let refused = |problem: &str| Err(plan.config.error(&format!("{TABLE}.{FIELD}"), problem));
    // The larger budgets are worked out here; a config says true or false.
    if plan.config.values(TABLE, FIELD).iter().any(|value| !matches!(value, Value::Boolean(_))) {
        return refused("nested is true or false");
    }
    if plan.config.is_deployment() && cells.iter().any(is_wanted) {
        return refused(
            "nested reports are an experiment, in which one seed draws the noise at all budgets again; a deployment \
             (randomness = \"os\") draws once; remove it",
        );
    }
    if cells.iter().any(|cell| is_wanted(cell) && cell.params.missing_share + cell.params.lying_share > 0.0) {
        return refused(
            "nested reports are those of nodes that all report as they should; remove missing_share and lying_share",
        );
    }
    let budgets: Vec<(Vec<SweptField>, LargerBudget)> = cells
        .iter()
        .map(|cell| {
            let budget = cell.params.budget();
            (beside_the_budget(cell), LargerBudget { links: budget.links, degree: budget.degree })
        })
        .collect();
    for cell in cells.iter_mut().filter(|cell| is_wanted(cell)) {
        let (own, rest) = (cell.params.budget(), beside_the_budget(cell));
        let is_larger = |budget: &LargerBudget| {
            budget.links.is_finite() && (budget.links > own.links || budget.degree > own.degree)
        };
        let mut larger: Vec<LargerBudget> =
            budgets.iter().filter(|(other, budget)| *other == rest && is_larger(budget)).map(|row| row.1).collect();
        // The order of a sweep changes no report.
        larger.sort_by(|a, b| b.links.total_cmp(&a.links).then(b.degree.total_cmp(&a.degree)));
        larger.dedup();
        cell.params.nested = if larger.is_empty() { Nested::default() } else { Nested::Below(larger) };
    }
    Ok(())
}

/// The choices of a cell beside its budget: budgets are nested where all of these are the same.
fn beside_the_budget(cell: &SweptCell<Params>) -> Vec<SweptField> {
    let epsilon = format!("{TABLE}.epsilon");
    cell.choices.iter().filter(|choice| choice.field != epsilon).cloned().collect()
}
