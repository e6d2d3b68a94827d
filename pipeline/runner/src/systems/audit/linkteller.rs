//! `LinkTeller` (Wu, Long, Zhang, Li 2022): the influence of one node's features on what the network says about another.

use veilgraph_audit::{LinkTeller, LinkTellerParams};

use super::{Attack, On, TABLE, attacked, cells, fields_of, judged};
use crate::config::ConfigError;
use crate::plan::{Branch, Plan};

pub(super) const ATTACK: Attack =
    Attack { name: "linkteller", on: On::Networks, fields: fields_of::<LinkTellerParams>, run };

fn run(plan: &mut Plan, networks: &[Branch], beliefs: &[f64]) -> Result<(), ConfigError> {
    if networks.iter().any(|network| network.variant == "learned") {
        let problem = "linkteller needs the weights of links, and solitude learns them with the model, which does not hold \
                       them; leave solitude or linkteller out";
        return Err(plan.config.error(&format!("{TABLE}.attacks"), problem));
    }
    let cells = cells::<LinkTellerParams>(plan, LinkTellerParams::check)?;
    let scores = attacked::<LinkTeller>(plan, networks, &cells, |params| params.pool)?;
    judged(plan, &scores, beliefs)
}
