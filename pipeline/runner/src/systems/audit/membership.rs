//! Membership inference: was a network trained on the label of a node?

use veilgraph_audit::Membership;
use veilgraph_contract::NoParams;
use veilgraph_evaluate::EvaluateMembership;

use super::attributes::{protects_attributes, refused};
use super::{Attack, On, TABLE, never};
use crate::config::ConfigError;
use crate::function::function;
use crate::plan::{Branch, Plan, Run};

pub(super) const ATTACK: Attack = Attack {
    name: "membership",
    on: On::Networks,
    is_about_links: never,
    fields: Vec::new,
    run,
    functions: &[function::<Membership>(), function::<EvaluateMembership>()],
};

fn run(plan: &mut Plan, networks: &[Branch], _: &[f64]) -> Result<(), ConfigError> {
    if !networks.iter().any(protects_attributes) {
        return Err(refused(plan, ATTACK.name));
    }
    let run = Run { table: TABLE, ..Run::default() };
    let asked: Result<Vec<Branch>, ConfigError> =
        networks.iter().map(|network| plan.run::<Membership>(&[network], &NoParams {}, run)).collect();
    plan.score::<EvaluateMembership>(&asked?)
}
