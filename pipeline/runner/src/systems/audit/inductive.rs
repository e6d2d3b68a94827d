//! Link stealing from a network that is applied to neighbourhoods of the attacker's choice (Wu et al. 2024).

use veilgraph_audit::{Inductive, InductiveParams};

use super::{Attack, On, always, attacked, cells, fields_of, judged};
use crate::config::ConfigError;
use crate::plan::{Branch, Plan};

pub(super) const ATTACK: Attack =
    Attack { name: "inductive", on: On::Networks, is_about_links: always, fields: fields_of::<InductiveParams>, run };

fn run(plan: &mut Plan, networks: &[Branch], beliefs: &[f64]) -> Result<(), ConfigError> {
    let cells = cells::<InductiveParams>(plan, |_| Ok(()))?;
    let scores = attacked::<Inductive>(plan, networks, &cells, |params| params.pool)?;
    judged(plan, &scores, beliefs)
}
