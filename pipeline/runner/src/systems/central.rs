//! A trusted curator trains on links, features and labels, and releases a model: one line for each learner.

use toml::Value;
use veilgraph_contract::{Artifact, Private};
use veilgraph_evaluate::EvaluateReleasedModel;
use veilgraph_graph::{Features, Labels};
use veilgraph_train_central::{DpMlp, Dpar, Gap, Learner, Params, ProGap, Sage, TrainCentral, guarantee};

use super::audit::{self, Attacked};
use super::choice::Choice;
use crate::config::sweep::fields_of;
use crate::config::{ConfigError, MetricGroup};
use crate::function::{Function, function};
use crate::plan::{Branch, Plan, Run};

/// The mechanism of a cell whose model a curator trained on links, features and labels.
pub const CENTRAL: &str = "central";

const TABLE: &str = "train";

/// A value of `[train] task`.
struct Central {
    name: &'static str,
    learn: fn(&mut Plan, &Branch) -> Result<Vec<Branch>, ConfigError>,
    function: Function,
}

const fn central<L: Learner>() -> Central {
    Central { name: L::NAME, learn: learn_with::<L>, function: function::<TrainCentral<L>>() }
}

const LEARNERS: &[Central] =
    &[central::<DpMlp>(), central::<Gap>(), central::<ProGap>(), central::<Sage>(), central::<Dpar>()];

/// Tables of what a curator does not need, because it holds the data.
const UNREAD: [&str; 7] = [
    "privatize.links",
    "privatize.features",
    "privatize.labels",
    "similarity",
    "estimate",
    "estimate.features",
    "construct",
];

/// Stage functions of the learners.
pub(super) fn functions() -> impl Iterator<Item = &'static Function> {
    LEARNERS.iter().map(|learner| &learner.function)
}

/// Parameters of all learners.
pub(super) fn fields() -> Vec<String> {
    fields_of::<Params>()
}

fn is_central(name: &Value) -> bool {
    LEARNERS.iter().any(|learner| name.as_str() == Some(learner.name))
}

/// Whether any part of the config names a learner of a curator. Features and labels are then private for all parts.
pub(super) fn is_asked_for_anywhere(plan: &Plan) -> bool {
    plan.config.values_anywhere(TABLE, "task").iter().any(is_central)
}

/// Whether the part that is planned names learners of a curator.
///
/// # Errors
/// When it names others as well, or the config is a deployment.
pub(super) fn is_asked_for(plan: &Plan) -> Result<bool, ConfigError> {
    let tasks = plan.config.values(TABLE, "task");
    let field = format!("{TABLE}.task");
    if !tasks.iter().any(is_central) {
        return Ok(false);
    }
    if !tasks.iter().all(is_central) {
        let problem = "learners of a curator and of a server read different data; give each kind a [[compare]] table";
        return Err(plan.config.error(&field, problem));
    }
    if plan.config.is_deployment() {
        let problem = "models of a curator are simulations: noise on gradients is drawn in floating point, and no learner was \
                       released in earnest yet; use seeded randomness, or a mechanism of [privatize]";
        return Err(plan.config.error(&field, problem));
    }
    Ok(true)
}

/// Trains every learner that the config names, and scores it.
pub(super) fn learn(plan: &mut Plan, data: &Branch) -> Result<(), ConfigError> {
    UNREAD.iter().for_each(|table| plan.pass_over(table));
    let has = |name, zone| data.has_named(name, zone);
    if !has(Private::<Features>::NAME, Private::<Features>::ZONE)
        || !has(Private::<Labels>::NAME, Private::<Labels>::ZONE)
    {
        let problem = "a curator trains on features and labels, and this dataset lacks one of them";
        return Err(plan.config.error(&format!("{TABLE}.task"), problem));
    }
    if plan.config.values(TABLE, "accounting") == [Value::from("both")] {
        let both = Value::from(vec!["sound", "paper"]);
        plan.config = plan.config.with_field(TABLE, "accounting", both);
    }
    let choice =
        Choice { table: TABLE, field: "task", default: "dp-mlp", known: LEARNERS, name: |learner| learner.name };
    let models = choice.each(plan, data, |plan, learner, data| (learner.learn)(plan, &data))?;
    audit::audit(plan, Attacked { models: &models, ..Attacked::default() })
}

/// The models of a learner, under every cell of its parameters.
fn learn_with<L: Learner>(plan: &mut Plan, data: &Branch) -> Result<Vec<Branch>, ConfigError> {
    let (n_nodes, n_links) = (data.n_nodes, data.n_links);
    let adjust = |params: &mut Params| {
        *params = L::complete(params.clone());
        params.complete_delta(n_nodes, n_links);
        guarantee::<L>(params).map(|_| ()).map_err(|error| error.to_string())
    };
    let mut models = Vec::new();
    for cell in plan.cells::<Params>(TABLE, &[], adjust)? {
        let mut named = data.with(&cell.choices);
        CENTRAL.clone_into(&mut named.mechanism);
        L::NAME.clone_into(&mut named.model);
        let run = Run { table: TABLE, ..Run::default() };
        let mut trained = Vec::new();
        for planted in audit::planted_for_model(plan, &named)? {
            for branch in plan.every_trial(&planted) {
                trained.push(plan.run::<TrainCentral<L>>(&[&branch], &cell.params, run)?);
            }
        }
        if plan.wants(MetricGroup::Accuracy) {
            plan.score_together::<EvaluateReleasedModel>(&trained)?;
        }
        models.extend(trained);
    }
    Ok(models)
}
