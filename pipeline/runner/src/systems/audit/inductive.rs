//! Link stealing from a network that is applied to neighbourhoods of the attacker's choice (Wu et al. 2024).

use veilgraph_audit::{Inductive, InductiveParams};

use super::{Attack, On, always, attack_links, fields_of, refuse_averaged_features};
use crate::config::ConfigError;
use crate::function::function;
use crate::plan::{Branch, Plan};

pub(super) const ATTACK: Attack = Attack {
    name: "inductive",
    on: On::Networks,
    is_about_links: always,
    fields: fields_of::<InductiveParams>,
    run,
    functions: &[function::<Inductive>()],
};

fn run(plan: &mut Plan, networks: &[Branch], beliefs: &[f64]) -> Result<(), ConfigError> {
    refuse_averaged_features(plan, networks, ATTACK.name)?;
    attack_links::<Inductive>(plan, networks, |params| params.pool, beliefs)
}
