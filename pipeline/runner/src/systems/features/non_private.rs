//! The features themselves: a reference that protected features are compared with.

use veilgraph_contract::NoParams;
use veilgraph_privatize::features::NonPrivateFeatures;

use super::{Mechanism, TABLE, rectified};
use crate::config::ConfigError;
use crate::function::function;
use crate::plan::{Branch, Plan, Run};

pub(super) const MECHANISM: Mechanism =
    Mechanism { name: "non-private", fields: Vec::new, features, functions: &[function::<NonPrivateFeatures>()] };

fn features(plan: &mut Plan, data: &Branch) -> Result<Vec<Branch>, ConfigError> {
    let run = Run { table: TABLE, ..Run::default() };
    let mut sent = Vec::new();
    for trial in plan.every_trial(data) {
        sent.push(plan.run::<NonPrivateFeatures>(&[&trial], &NoParams {}, run)?);
    }
    rectified(plan, &sent)
}
