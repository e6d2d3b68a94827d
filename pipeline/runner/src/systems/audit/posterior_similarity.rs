//! Link stealing by likeness (He et al. 2021): nodes that a network classifies alike are taken for linked.

use veilgraph_audit::{PosteriorSimilarity, PosteriorSimilarityParams};

use super::{Attack, On, always, attack_links, fields_of};
use crate::config::ConfigError;
use crate::function::function;
use crate::plan::{Branch, Plan};

pub(super) const ATTACK: Attack = Attack {
    name: "posterior-similarity",
    on: On::Networks,
    is_about_links: always,
    fields: fields_of::<PosteriorSimilarityParams>,
    run,
    functions: &[function::<PosteriorSimilarity>()],
};

pub(super) fn run(plan: &mut Plan, networks: &[Branch], beliefs: &[f64]) -> Result<(), ConfigError> {
    attack_links::<PosteriorSimilarity>(plan, networks, |params| params.pool, beliefs)
}
