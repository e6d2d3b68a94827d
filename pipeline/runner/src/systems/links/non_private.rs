//! The true links: a reference that a protected graph is compared with.

use veilgraph_contract::NoParams;
use veilgraph_privatize::Local;
use veilgraph_privatize::links::non_private::NonPrivate;

use super::{Evidence, Mechanism, TABLE, bits};
use crate::config::ConfigError;
use crate::function::function;
use crate::plan::{Branch, Plan, Run};

pub(super) const MECHANISM: Mechanism = Mechanism {
    name: "non-private",
    fields: Vec::new,
    evidence: Evidence::Open,
    graphs,
    functions: &[function::<Local<NonPrivate>>()],
};

fn graphs(plan: &mut Plan, data: &Branch) -> Result<Vec<Branch>, ConfigError> {
    let run = Run { table: TABLE, ..Run::default() };
    let mut reports = Vec::new();
    for trial in plan.every_trial(data) {
        reports.push(plan.run::<Local<NonPrivate>>(&[&trial], &NoParams {}, run)?);
    }
    bits::built(plan, &reports, bits::MIRRORED)
}
