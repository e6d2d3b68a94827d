//! Mechanisms whose noisy lists are the graph: RR, SymRR, DPRR and Solitude.

use veilgraph_construct::{BitsParams, ConstructFromBits, Keep};
use veilgraph_contract::Stage;
use veilgraph_privatize::links::{Dprr, DprrParams, Rr, SymRr};
use veilgraph_privatize::{Local, LocalMechanism};

use super::{TABLE, given};
use crate::config::ConfigError;
use crate::plan::{Branch, Plan, Run};

/// Every reported link, from the node that reported it.
pub(super) fn rr(plan: &mut Plan, data: &Branch) -> Result<Vec<Branch>, ConfigError> {
    graphs::<Rr>(plan, data, BitsParams { keep: Keep::Directed, learned: false })
}

/// Every reported link, in both directions.
pub(super) fn symrr(plan: &mut Plan, data: &Branch) -> Result<Vec<Branch>, ConfigError> {
    graphs::<SymRr>(plan, data, BitsParams { keep: Keep::Mirrored, learned: false })
}

/// As many of the reported links of a node as its noisy degree says.
pub(super) fn dprr(plan: &mut Plan, data: &Branch) -> Result<Vec<Branch>, ConfigError> {
    let mut graphs = Vec::new();
    for cell in plan.cells::<DprrParams>(TABLE, &[], |_| Ok(()))? {
        let mut data = data.clone();
        data.degree_fraction = cell.params.degree_fraction.share(cell.params.epsilon);
        let reports = plan.sweep_cells::<Local<Dprr>>(&[data], TABLE, &[cell])?;
        graphs.extend(built(plan, &reports, BitsParams { keep: Keep::Thinned, learned: false })?);
    }
    Ok(graphs)
}

/// Solitude (Lin, Li, Wang 2022): the reports of RR, which serve both; a network learns weights of the links.
pub(super) fn solitude(plan: &mut Plan, data: &Branch) -> Result<Vec<Branch>, ConfigError> {
    graphs::<Rr>(plan, data, BitsParams { keep: Keep::Directed, learned: true })
}

/// The graphs that take the reports of the mechanism `M` as `params` say.
pub(super) fn graphs<M: LocalMechanism>(
    plan: &mut Plan,
    data: &Branch,
    params: BitsParams,
) -> Result<Vec<Branch>, ConfigError>
where
    Local<M>: Stage,
{
    let reports = plan.sweep::<Local<M>>(std::slice::from_ref(data), TABLE)?;
    built(plan, &reports, params)
}

fn built(plan: &mut Plan, reports: &[Branch], params: BitsParams) -> Result<Vec<Branch>, ConfigError> {
    let mut graphs = Vec::new();
    for report in reports {
        let mut report = report.clone();
        if params.keep != Keep::Thinned {
            report.mark_absent::<veilgraph_privacy::NoisyDegrees>();
        }
        graphs.push(plan.run::<ConstructFromBits>(&[&report], &params, Run::default())?);
    }
    given(plan, graphs, if params.learned { "learned" } else { "given" })
}
