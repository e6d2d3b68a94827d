//! `LinkTeller` (Wu, Long, Zhang, Li 2022): the influence of one node's features on what the network says about another.

use veilgraph_audit::{LinkTeller, LinkTellerParams};

use super::{Attack, On, always, attack_links, fields_of, refuse_averaged_features, refuse_learned_links};
use crate::config::ConfigError;
use crate::function::function;
use crate::plan::{Branch, Plan};

pub(super) const ATTACK: Attack = Attack {
    name: "linkteller",
    on: On::Networks,
    is_about_links: always,
    fields: fields_of::<LinkTellerParams>,
    run,
    functions: &[function::<LinkTeller>()],
};

fn run(plan: &mut Plan, networks: &[Branch], beliefs: &[f64]) -> Result<(), ConfigError> {
    refuse_learned_links(plan, networks)?;
    refuse_averaged_features(plan, networks, ATTACK.name)?;
    attack_links::<LinkTeller>(plan, networks, |params| params.pool, beliefs)
}
