//! How labels are protected.

use veilgraph_contract::Private;
use veilgraph_graph::Labels;
use veilgraph_privatize::labels::LocalLabels;

use super::choice::Choice;
use crate::config::ConfigError;
use crate::function::{Function, function};
use crate::plan::{Branch, Plan};

/// A value of `[privatize.labels] mechanism`.
type Mechanism = (&'static str, fn(&mut Plan, &Branch) -> Result<Vec<Branch>, ConfigError>);

const MECHANISMS: &[Mechanism] = &[("public", public), ("randomized-response", randomized_response)];

/// Table of the mechanisms' parameters.
pub(super) const TABLE: &str = "privatize.labels";

/// Stage functions of the mechanisms.
pub(super) const FUNCTIONS: &[Function] = &[function::<LocalLabels>()];

/// The labels of every mechanism that the config names.
pub(super) fn labels(plan: &mut Plan, data: &Branch) -> Result<Vec<Branch>, ConfigError> {
    let choice = Choice {
        table: TABLE,
        field: "mechanism",
        default: "public",
        known: MECHANISMS,
        name: |mechanism| mechanism.0,
    };
    choice.each(plan, data, |plan, (_, released), data| released(plan, &data))
}

/// The server holds the labels of training and validation nodes.
fn public(plan: &mut Plan, data: &Branch) -> Result<Vec<Branch>, ConfigError> {
    if data.has::<Private<Labels>>() {
        let problem = "labels are private in another part of this config, so that no server holds them here either; \
                       write mechanism = \"randomized-response\" with epsilon = inf for the reference that knows them";
        return Err(plan.config.error(TABLE, problem));
    }
    Ok(vec![data.clone()])
}

fn randomized_response(plan: &mut Plan, data: &Branch) -> Result<Vec<Branch>, ConfigError> {
    plan.sweep::<LocalLabels>(std::slice::from_ref(data), TABLE)
}
