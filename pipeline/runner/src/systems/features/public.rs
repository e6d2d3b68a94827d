//! Features that everybody knows.

use veilgraph_contract::Private;
use veilgraph_graph::Features;

use super::{Mechanism, TABLE, propagated};
use crate::config::{ConfigError, Holding};
use crate::plan::{Branch, Plan};

pub(super) const MECHANISM: Mechanism = Mechanism { name: "public", fields: Vec::new, features, functions: &[] };

fn features(plan: &mut Plan, data: &Branch) -> Result<Vec<Branch>, ConfigError> {
    let are_private = data.has::<Private<Features>>();
    if are_private && plan.config.privacy.features != Holding::Withheld {
        let problem = "features are private in another part of this config, so that no server holds them here either; \
                       write mechanism = \"non-private\" for the reference that knows them";
        return Err(plan.config.error(TABLE, problem));
    }
    if !data.has::<Features>() {
        return Ok(vec![data.clone()]);
    }
    propagated(plan, data)
}
