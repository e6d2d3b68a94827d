//! What a protected graph is compared with: the true links, and no links at all.
//!
//! References read no parameter. The tables of other mechanisms are passed over, so that a reference can be laid over any
//! config.

use veilgraph_construct::{BitsParams, ConstructFromBits, ConstructWithoutLinks, Keep};
use veilgraph_contract::NoParams;
use veilgraph_privatize::Local;
use veilgraph_privatize::links::NonPrivate;

use super::{TABLE, given};
use crate::config::ConfigError;
use crate::plan::{Branch, Plan, Run};

/// The true links.
pub(super) fn non_private(plan: &mut Plan, data: &Branch) -> Result<Vec<Branch>, ConfigError> {
    pass_over_the_rest(plan);
    let mut graphs = Vec::new();
    for trial in plan.every_trial(data) {
        let run = Run { table: TABLE, ..Run::default() };
        let mut report = plan.run::<Local<NonPrivate>>(&[&trial], &NoParams {}, run)?;
        report.mark_absent::<veilgraph_privacy::NoisyDegrees>();
        let params = BitsParams { keep: Keep::Mirrored, learned: false };
        graphs.push(plan.run::<ConstructFromBits>(&[&report], &params, Run::default())?);
    }
    given(plan, graphs, "given")
}

/// No links: what networks make of features alone.
pub(super) fn no_links(plan: &mut Plan, data: &Branch) -> Result<Vec<Branch>, ConfigError> {
    pass_over_the_rest(plan);
    let mut graphs = Vec::new();
    for trial in plan.every_trial(data) {
        let run = Run { table: TABLE, ..Run::default() };
        graphs.push(plan.run::<ConstructWithoutLinks>(&[&trial], &NoParams {}, run)?);
    }
    given(plan, graphs, "given")
}

fn pass_over_the_rest(plan: &mut Plan) {
    [TABLE, "similarity", "estimate", "construct"].into_iter().for_each(|table| plan.pass_over(table));
}
