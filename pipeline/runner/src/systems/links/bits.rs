//! Graphs of reported bits: the noisy lists themselves, as a mechanism wants them taken.

use veilgraph_construct::{BitsParams, ConstructFromBits, Keep};
use veilgraph_privacy::NoisyDegrees;
use veilgraph_privatize::{Local, LocalMechanism};

use super::{TABLE, given};
use crate::config::ConfigError;
use crate::plan::{Branch, Plan, Run};

/// Every reported link, from the node that reported it.
pub(super) const DIRECTED: BitsParams = BitsParams { keep: Keep::Directed, learned: false };
/// Every reported link, in both directions.
pub(super) const MIRRORED: BitsParams = BitsParams { keep: Keep::Mirrored, learned: false };

/// The graphs that take the reports of the mechanism `M` as `params` say.
pub(super) fn graphs<M: LocalMechanism>(
    plan: &mut Plan,
    data: &Branch,
    params: BitsParams,
) -> Result<Vec<Branch>, ConfigError> {
    let reports = plan.sweep::<Local<M>>(std::slice::from_ref(data), TABLE)?;
    built(plan, &reports, params)
}

/// The graphs that take these reports as `params` say.
pub(super) fn built(plan: &mut Plan, reports: &[Branch], params: BitsParams) -> Result<Vec<Branch>, ConfigError> {
    let mut graphs = Vec::new();
    for report in reports {
        let mut report = report.clone();
        if params.keep != Keep::Thinned {
            report.mark_absent::<NoisyDegrees>();
        }
        graphs.push(plan.run::<ConstructFromBits>(&[&report], &params, Run::default())?);
    }
    given(plan, graphs, if params.learned { "learned" } else { "given" })
}
