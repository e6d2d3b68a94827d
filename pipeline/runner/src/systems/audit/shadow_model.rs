//! Link stealing with a shadow model (He et al. 2021): a classifier learns on another graph how answers about linked nodes
//! look.

use veilgraph_audit::{ShadowModel, ShadowParams};

use super::{Attack, On, always, attack_links, fields_of};
use crate::config::ConfigError;
use crate::function::function;
use crate::plan::{Branch, Plan};

pub(super) const ATTACK: Attack = Attack {
    name: "shadow-model",
    on: On::Networks,
    is_about_links: always,
    fields: fields_of::<ShadowParams>,
    run,
    functions: &[function::<ShadowModel>()],
};

fn run(plan: &mut Plan, networks: &[Branch], beliefs: &[f64]) -> Result<(), ConfigError> {
    attack_links::<ShadowModel>(plan, networks, |params| params.pool, beliefs)
}
