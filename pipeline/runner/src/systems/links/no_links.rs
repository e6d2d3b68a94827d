//! No links at all: a reference that shows what networks make of features alone.

use veilgraph_construct::ConstructWithoutLinks;
use veilgraph_contract::NoParams;

use super::{Mechanism, TABLE, given};
use crate::config::ConfigError;
use crate::plan::{Branch, Plan, Run};

pub(super) const MECHANISM: Mechanism = Mechanism { name: "no-links", fields: Vec::new, graphs, functions: &[] };

fn graphs(plan: &mut Plan, data: &Branch) -> Result<Vec<Branch>, ConfigError> {
    let run = Run { table: TABLE, ..Run::default() };
    let mut graphs = Vec::new();
    for trial in plan.every_trial(data) {
        graphs.push(plan.run::<ConstructWithoutLinks>(&[&trial], &NoParams {}, run)?);
    }
    given(plan, graphs, "given")
}
